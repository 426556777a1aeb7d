// SPDX-License-Identifier: MIT
//
// What is said first of several findings, and why a file is slow.
#include <gtest/gtest.h>

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
    EXPECT_EQ(registers_in(kSaid, "sum_up"), 99);
    EXPECT_EQ(registers_in(kSaid, "up"), std::nullopt);
}

TEST(Registers, AreGivenOutByWarp) {
    EXPECT_TRUE(block_fits(256, 255));
    EXPECT_TRUE(block_fits(1024, 64));
    EXPECT_FALSE(block_fits(1024, 65));
    EXPECT_FALSE(block_fits(513, 128)) << "17 warps";
}

TEST(FirstDouble, NamesTheVariable) {
    EXPECT_EQ(first_double_of("    return kTwo * x;"), "halve.cpp:4 computes in doubles: kTwo is one");
}

}  // namespace
