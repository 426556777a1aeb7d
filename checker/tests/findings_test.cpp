// SPDX-License-Identifier: MIT
//
// What is said first of several findings, and why a file is slow.
#include <gtest/gtest.h>

#include <cstdlib>

#include "checker/base/files.h"
#include "checker/judge/describe.h"
#include "checker/program/doubles.h"
#include "checker/program/registers.h"

using namespace checker;

namespace {

std::vector<std::string> kinds(const std::vector<Finding>& findings) {
    std::vector<std::string> kinds;
    for (const Finding& finding : findings) { kinds.push_back(finding.kind); }
    return kinds;
}

TEST(Findings, OfAModelSayTheFirstWrongTensorBeforeWhatReadsIt) {
    std::vector<Finding> findings{{"uninitialised", "reads memory"}, {"untouched", "first"}, {"mismatch", "some"}};
    put_consequences_last(findings, true);
    EXPECT_EQ(kinds(findings), (std::vector<std::string>{"untouched", "mismatch", "uninitialised"}));
}

TEST(Findings, OfAnOpSayFirstThatItReadsUnwrittenMemory) {
    std::vector<Finding> findings{{"uninitialised", "reads memory"}, {"mismatch", "some"}};
    put_consequences_last(findings, false);
    EXPECT_EQ(kinds(findings), (std::vector<std::string>{"uninitialised", "mismatch"}));
}

std::string first_double_of(const std::string& body) {
    const std::filesystem::path file = "build/findings_test/halve.cpp";
    write_file(file, "#include <cmath>\nconstexpr double kTwo = 2;\nfloat f(float x) {\n" + body + "\n}\n");
    return first_double(file);
}

TEST(FirstDouble, IsNoneOfFloatsAlone) {
    EXPECT_EQ(first_double_of("    return 0.5f * x + 1e-5f * std::tanh(x);  // not 0.5"), "");
}

TEST(FirstDouble, NamesTheConstant) {
    EXPECT_EQ(first_double_of("    return 0.5 * x;"), "halve.cpp:4 computes in doubles: 0.5 is one, 0.5f is a float");
    EXPECT_EQ(first_double_of("    return x +\n        1e-5 *\n        x;"),
              "halve.cpp:5 computes in doubles: 1e-5 is one, 1e-5f is a float");
}

TEST(FirstDouble, NamesOnlyWhatIsADouble) {
    EXPECT_EQ(first_double_of("    return 0.5f * x * (1.0f + std::tanh(0.79f * (x + 0.044715 * x * x * x)));"),
              "halve.cpp:4 computes in doubles: 0.044715 is one, 0.044715f is a float");
}

TEST(FirstDouble, NamesTheFunction) {
    EXPECT_EQ(first_double_of("    return std::pow(x, 3);"),
              "halve.cpp:4 computes in doubles: std::pow of an int computes in it, std::pow(…, 3.0f) in float");
    EXPECT_EQ(first_double_of("    return 0.5f * x * (1.0f + tanh(x));"),
              "halve.cpp:4 computes in doubles: tanh takes and returns one, std::tanh takes floats");
}

TEST(DoublesOfAKernel, AreMeantWhereAVariableIsDeclaredSo) {
    const std::string source = "double sum = 0;\nsum += x;\ny = 0.5 * x;  // a double\ny = 0.5f * x;\n";
    EXPECT_TRUE(means_double(source, 1));
    EXPECT_TRUE(means_double(source, 2));
    EXPECT_FALSE(means_double(source, 3));
    EXPECT_EQ(reason_for_double(source, 3, false), ": 0.5 is one, 0.5f is a float");
    EXPECT_EQ(reason_for_double(source, 4, false), "");
    EXPECT_EQ(reason_for_double("y = tanh(x);", 1, false), "") << "CUDA's takes a float";
}

constexpr const char* kSaid =
    "ptxas info    : Compiling entry function '_ZN12_GLOBAL__N_13sumILi4EEEvPf' for 'sm_90'\n"
    "ptxas info    : Used 40 registers, used 1 barriers\n"
    "ptxas info    : Compiling entry function '_ZN12_GLOBAL__N_13sumILi8EEEvPf' for 'sm_90'\n"
    "ptxas info    : Used 80 registers\n"
    "ptxas info    : Compiling entry function '_ZN12_GLOBAL__N_16sum_upEPf' for 'sm_90'\n"
    "ptxas info    : Used 99 registers\n";

TEST(Registers, AreTheMostOfATemplatesInstances) {
    EXPECT_EQ(registers_in(kSaid, "sum<4>"), 80);
    EXPECT_EQ(registers_in(kSaid, "sum [int kRows = 8]"), 80);
    EXPECT_EQ(registers_in(kSaid, "sum_up"), 99);
    EXPECT_EQ(registers_in(kSaid, "up"), std::nullopt);
}

TEST(Registers, AreGivenOutByWarp) {
    EXPECT_TRUE(block_fits(256, 255));
    EXPECT_TRUE(block_fits(1024, 64));
    EXPECT_FALSE(block_fits(1024, 65));
    EXPECT_FALSE(block_fits(513, 128)) << "17 warps";
}

TEST(LocalMemory, IsTheMostOfAKernels) {
    const std::string said =
        "ptxas info    : Compiling entry function '_ZN41_GLOBAL__N__3afaae0f_9_matmul_cu_c883ad073sumILi4EEEvPf' for "
        "'sm_90'\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Compiling entry function '_ZN41_GLOBAL__N__3afaae0f_9_matmul_cu_c883ad076productEPf' for "
        "'sm_90'\n"
        "    288 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n";
    EXPECT_EQ(most_local_memory_in(said).bytes, 288);
    EXPECT_EQ(most_local_memory_in(said.substr(0, said.find("    288"))).bytes, 0);
    EXPECT_EQ(most_local_memory_in(
                  "Compiling entry function '_ZN12_GLOBAL__N_17productILi4EEEvPf' for\n  8 bytes stack frame")
                  .kernel,
              "product");
}

// Kernels that add 64 sums: nvcc keeps them in registers where it unrolls the loop.
std::optional<CounterResult> local_memory_if(const std::string& unroll) {
    const std::filesystem::path folder = "build/findings_test";
    const auto kernel = [&](const std::string& name, const std::string& pragma) {
        write_file(folder / name,
                   "namespace {\n__global__ void add(float* out, const float* inp, int n) {\n"
                   "    float sums[64] = {};\n"
                   "    for (int k = 0; k < n; k++) {\n" +
                       pragma +
                       "\n"
                       "        for (int i = 0; i < 64; i++) { sums[i] += inp[64 * k + i]; }\n    }\n" +
                       pragma +
                       "\n"
                       "    for (int i = 0; i < 64; i++) { out[i] = sums[i]; }\n}\n}\n"
                       "void start(float* out, const float* inp) { add<<<1, 1>>>(out, inp, 9); }\n");
        return folder / name;
    };
    std::string note;
    const std::optional<CounterResult> counted =
        find_local_memory(kernel("own.cu", unroll), kernel("solution.cu", "#pragma unroll"), note);
    EXPECT_EQ(note, "");
    return counted;
}

TEST(LocalMemory, IsSaidWhereALoopIsNotUnrolled) {
    if (run_command("command -v nvcc >/dev/null 2>&1").status != 0) {
        GTEST_SKIP() << "nvcc is not there";
    }
    const std::optional<CounterResult> counted = local_memory_if("#pragma unroll 1");
    ASSERT_TRUE(counted.has_value());
    EXPECT_EQ(text_of(*counted), "keeps 256 bytes of each thread in local memory");
    EXPECT_TRUE(counted->most.starts_with("add, by nvcc for sm_90")) << counted->most;
    EXPECT_FALSE(local_memory_if("#pragma unroll").has_value());
}

// The path on which nothing is found, for as long as it lives.
class NoPrograms {
  public:
    NoPrograms() : path_(std::getenv("PATH")) { setenv("PATH", "/nowhere", 1); }
    ~NoPrograms() { setenv("PATH", path_.c_str(), 1); }
    NoPrograms(const NoPrograms&) = delete;
    NoPrograms& operator=(const NoPrograms&) = delete;

  private:
    std::string path_;
};

TEST(WithoutNvcc, ANoteSaysThatNobodyHasLooked) {
    const std::filesystem::path file = "build/findings_test/unasked.cu";
    const std::string array = "__global__ void add(float* out) {\n    float sums[64];\n}\n";
    write_file(file, array);
    const NoPrograms none;
    std::string note;
    EXPECT_FALSE(find_local_memory(file, file, note).has_value());
    EXPECT_EQ(note, "nvcc is not here, so nobody has looked whether an array of a thread lies in local memory");
    EXPECT_FALSE(find_too_many_registers(file, "add", 512, note).has_value());
    EXPECT_EQ(note,
              "a thread of add may take 128 registers, as its blocks have 512 threads; nvcc is not here, so nobody has "
              "looked how many it takes");
    note.clear();
    write_file(file, "__global__ void add(float* out) {\n    float sum = 0;\n}\n");
    EXPECT_FALSE(find_local_memory(file, file, note).has_value());
    EXPECT_EQ(note, "") << "no thread has an array";
}

TEST(FirstDouble, NamesTheVariable) {
    EXPECT_EQ(first_double_of("    return kTwo * x;"), "halve.cpp:4 computes in doubles: kTwo is one");
}

}  // namespace
