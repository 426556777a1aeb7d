// SPDX-License-Identifier: MIT
//
// simtcc as its user meets it: options, several files, and one clear line for what is wrong.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "checker/simt/driver/arithmetic.h"
#include "checker/simt/driver/options.h"
#include "checker/tests/output.h"

namespace {

namespace fs = std::filesystem;
using checker::Finished;

class Driver : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = fs::current_path() / "build/tests/simt/driver" /
                  testing::UnitTest::GetInstance()->current_test_info()->name();
        fs::remove_all(folder_);
        fs::create_directories(folder_);
    }
    void TearDown() override {
        if (!HasFailure()) {
            fs::remove_all(folder_);
        }
    }

    void file(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }

    // In the test's folder; both streams.
    Finished shell(const std::string& command) const {
        // The compiler's messages have other quotation marks in the locale C.
        return ::shell(fmt::format("export LC_ALL=C.UTF-8; cd '{}' && ({})", folder_.string(), command));
    }
    Finished simtcc(const std::string& arguments) const {
        return shell((fs::current_path() / "build/simtcc").string() + ' ' + arguments);
    }

    testing::AssertionResult compiles(const std::string& arguments) const {
        const Finished result = simtcc(arguments);
        return result.status == 0 ? testing::AssertionSuccess() : testing::AssertionFailure() << result.output;
    }

    fs::path folder_;
};

simt::Options parsed(std::vector<std::string> arguments) {
    return simt::parse_options(arguments);
}

TEST(Options, NvccsEverydayOptionsAreTaken) {
    const simt::Options options = parsed({"-O3",
                                          "-std=c++17",
                                          "-arch=sm_80",
                                          "-gencode",
                                          "arch=compute_90,code=sm_90",
                                          "-I",
                                          "inc",
                                          "-Iother",
                                          "-DN=3",
                                          "-g",
                                          "-lineinfo",
                                          "--expt-relaxed-constexpr",
                                          "-Xcompiler",
                                          "-Wall,-Wextra",
                                          "-Xptxas=-v",
                                          "-L.",
                                          "-lm",
                                          "a.cu",
                                          "b.cpp",
                                          "c.o",
                                          "-o",
                                          "x"});
    EXPECT_EQ(options.sources, (std::vector<std::string>{"a.cu", "b.cpp"}));
    EXPECT_EQ(options.objects, (std::vector<std::string>{"c.o"}));
    EXPECT_EQ(options.preprocess, (std::vector<std::string>{"-Iinc", "-Iother", "-DN=3"}));
    EXPECT_EQ(options.compile, (std::vector<std::string>{"-Wall", "-Wextra"}));
    EXPECT_EQ(options.link, (std::vector<std::string>{"-L.", "-lm"}));
    EXPECT_EQ(options.output, "x");
}

TEST(Options, ADebuggerIsCompiledForOnDemandOnly) {
    EXPECT_TRUE(parsed({"--for-debugger", "a.cu"}).for_debugger);
    EXPECT_FALSE(parsed({"-g", "-G", "a.cu"}).for_debugger) << "the checks would be gone";
}

TEST(Options, TheDefaultStreamIsTheThreadsOwnOnDemand) {
    EXPECT_EQ(parsed({"--default-stream", "per-thread", "a.cu"}).preprocess,
              (std::vector<std::string>{"-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1"}));
    EXPECT_TRUE(parsed({"-default-stream=legacy", "a.cu"}).preprocess.empty());
    EXPECT_THROW(parsed({"--default-stream=none", "a.cu"}), simt::UsageError);
}

TEST(Options, CompilingForALaterDeviceLinkIsCompilingToAnObject) {
    for (const char* option : {"-c", "-dc", "--device-c"}) {
        EXPECT_TRUE(parsed({option, "a.cu"}).compile_only) << option;
    }
    const simt::Options options = parsed({"-dc", "-rdc", "true", "--threads", "0", "-rdc=true", "a.cu", "-o", "a.o"});
    EXPECT_TRUE(options.compile_only);
    EXPECT_EQ(options.sources, (std::vector<std::string>{"a.cu"}));
    EXPECT_TRUE(options.objects.empty());
}

TEST(Options, TheDevicesOwnLibrariesAreLinkedAlready) {
    const simt::Options options =
        parsed({"-lcudart", "-l", "cuda", "-lcudart_static", "-lcudadevrt", "-lm", "-lnvidia-ml", "a.cu"});
    EXPECT_EQ(options.link, (std::vector<std::string>{"-lm"}));
}

TEST(Options, FilesShareDeviceVariablesOnDemand) {
    EXPECT_TRUE(parsed({"-rdc=true", "a.cu"}).relocatable);
    EXPECT_TRUE(parsed({"--relocatable-device-code", "true", "a.cu"}).relocatable);
    EXPECT_TRUE(parsed({"-dc", "a.cu"}).relocatable);
    EXPECT_FALSE(parsed({"-c", "a.cu"}).relocatable);
    EXPECT_FALSE(parsed({"-rdc=false", "a.cu"}).relocatable);
}

TEST(Options, TakesThoseThatMeanNothingWithOneDashOrTwo) {
    const simt::Options options =
        parsed({"-Wno-deprecated-gpu-targets", "--Wno-deprecated-gpu-targets", "-Xnvlink", "-v",
                "--ptxas-options=-v,-O3", "-Werror", "all-warnings", "-res-usage", "--keep", "-keep-dir", "tmp", "-m",
                "64", "-fmad=false", "-s", "-dlto", "-Xcudafe", "--display_error_number", "a.cu"});
    EXPECT_EQ(options.sources, (std::vector<std::string>{"a.cu"}));
    EXPECT_TRUE(options.compile.empty());
    EXPECT_TRUE(options.link.empty());
}

TEST(Options, ForwardsUnknownOnesOnDemand) {
    EXPECT_EQ(parsed({"-forward-unknown-to-host-compiler", "-march=native", "a.cu"}).compile,
              (std::vector<std::string>{"-march=native"}));
    EXPECT_EQ(parsed({"--forward-unknown-to-host-linker", "--as-needed", "a.cu"}).link,
              (std::vector<std::string>{"--as-needed"}));
}

TEST(Options, SplitsHostCompilersAtBlanksAndCommas) {
    EXPECT_EQ(parsed({"-Xcompiler", "-Wall -O3,\"-fopenmp\"", "a.cu"}).compile,
              (std::vector<std::string>{"-Wall", "-O3", "-fopenmp"}));
}

TEST(Options, LinksNothingOfToolkitLibraries) {
    const simt::Options options = parsed({"-lcurand", "cuda/lib64/libcudart.so", "-lcublas_static", "libm.so", "a.o"});
    EXPECT_TRUE(options.link.empty());
    EXPECT_EQ(options.objects, (std::vector<std::string>{"libm.so", "a.o"}));
}

TEST(Options, NameWhatNvccMakesAndTheDeviceDoesNotHave) {
    for (const char* option : {"-ptx", "--ptx", "-cubin", "-fatbin"}) {
        try {
            parsed({option, "a.cu"});
            FAIL() << option;
        } catch (const simt::UsageError& error) {
            EXPECT_EQ(error.what(), option + std::string(": the CPU device has programs, objects and libraries only"));
        }
    }
}

TEST(Options, AnUnknownOneIsNamed) {
    try {
        parsed({"--frobnicate", "a.cu"});
        FAIL() << "no error";
    } catch (const simt::UsageError& error) {
        EXPECT_STREQ(error.what(), "unknown option --frobnicate (simtcc --help lists those that it takes)");
    }
    EXPECT_THROW(parsed({}), simt::UsageError);
    EXPECT_THROW(parsed({"a.txt"}), simt::UsageError);
    EXPECT_THROW(parsed({"-o"}), simt::UsageError);
    EXPECT_THROW(parsed({"--arithmetic", "--unchecked", "a.cu"}), simt::UsageError);
    EXPECT_THROW(parsed({"--for-debugger", "--arithmetic", "a.cu"}), simt::UsageError);
    EXPECT_THROW(parsed({"-std=c++03", "a.cu"}), simt::UsageError);
}

TEST_F(Driver, AConstantIndexThatKillsTheCompilerIsNamed) {
    file("x.cu",
         "__global__ void k(int* out) {\n"
         "    __shared__ int cells[32];\n"
         "    cells[threadIdx.x] = 1;\n"
         "    __syncthreads();\n"
         "    int* p = cells;\n"
         "    out[threadIdx.x] = p[~0u];\n"
         "}\n"
         "int main() { k<<<1, 32>>>(nullptr); }\n");
    const Finished result = simtcc("x.cu -o x");
    EXPECT_EQ(result.status, 1);
    const std::size_t at =
        result.output.find("simtcc: x.cu:6:22: out_of_bounds: array subscript 4294967295 is outside");
    ASSERT_NE(at, std::string::npos) << result.output;
    EXPECT_NE(result.output.find("cells", at), std::string::npos) << result.output;
}

TEST_F(Driver, FilesThatShareAHeaderWithKernelsAndLaunchesMakeOneProgram) {
    file("fill.cuh",
         "#pragma once\n#include <cuda_runtime.h>\ntemplate <int N> __global__ void fill(float* x) { x[threadIdx.x] = "
         "N; }\n"
         "template <int N> void launch_fill(float* x) { fill<N><<<1, 32>>>(x); }\nvoid four(float* x);\nfloat "
         "host_twice(float x);\n");
    file("main.cu",
         "#include \"fill.cuh\"\n#include <cstdio>\nint main() {\n float* x; cudaMalloc(&x, 128); launch_fill<3>(x); "
         "four(x);\n"
         " float y; cudaMemcpy(&y, x, 4, cudaMemcpyDeviceToHost); cudaFree(x); std::printf(\"%g\\n\", host_twice(y)); "
         "}\n");
    file("four.cu", "#include \"fill.cuh\"\nvoid four(float* x) { launch_fill<4>(x); }\n");
    file("host.cpp", "float host_twice(float x) { return 2 * x; }\n");
    ASSERT_TRUE(compiles("-I. main.cu four.cu host.cpp -o program"));
    const Finished run = shell("./program");
    EXPECT_EQ(run.status, 0);
    EXPECT_EQ(run.output, "8\n");
}

TEST_F(Driver, FilesHaveDeviceVariablesAndFunctionsOfTheirOwnUnlessTheyAreToShareThem) {
    const auto text = [](const char* declaration, const char* definition, const char* name, int value) {
        return fmt::format(
            "{}__device__ int kept[2] = {{{}}};\n{}__device__ int value(int x) {{ return x + {}; }}\n"
            "static __global__ void k(int* x) {{ *x = value(kept[0]); }}\n"
            "int {}() {{\n int *x, y; cudaMalloc(&x, 4); k<<<1, 1>>>(x); cudaMemcpy(&y, x, 4, "
            "cudaMemcpyDeviceToHost);\n cudaFree(x); return y;\n}}\n",
            declaration, value, definition, value, name);
    };
    file("a.cu", text("", "", "first", 10));
    file("b.cu", text("", "", "second", 20) + "int first();\nint main() { return first() + second(); }\n");
    ASSERT_TRUE(compiles("a.cu b.cu -Xcompiler -Wall,-Wextra,-Werror -o apart"));
    EXPECT_EQ(shell("./apart").status, 60);
    EXPECT_NE(simtcc("-rdc=true a.cu b.cu -o together").output.find("multiple definition of `kept'"),
              std::string::npos);
    file("c.cu",
         "extern __device__ int kept[2];\n__device__ int value(int x);\n__global__ void k(int* x) { *x = "
         "value(kept[0]); }\n"
         "int first();\nint main() {\n int *x, y; cudaMalloc(&x, 4); k<<<1, 1>>>(x); cudaMemcpy(&y, x, 4, "
         "cudaMemcpyDeviceToHost);\n cudaFree(x); return y + first();\n}\n");
    ASSERT_TRUE(compiles("-rdc=true a.cu c.cu -o shared"));
    EXPECT_EQ(shell("./shared").status, 40);
}

TEST_F(Driver, ADeviceFunctionMayBeDeclaredExternAndDefinedInOneFile) {
    for (const char* name : {"a", "b"}) {
        file(fmt::format("{}.cu", name),
             "extern __device__ int twice(int x);\n__device__ extern __attribute__((unused)) int later(int x);\n"
             "extern \"C\" __device__ int NAME(int x);\n"
             "static __global__ void k(int* x) { *x = twice(4) + later(1) + NAME(1); }\n"
             "__device__ int twice(int x) { return 2 * x; }\n__device__ int later(int x) { return x + 1; }\n"
             "extern \"C\" __device__ int NAME(int x) { return x; }\n"
             "#ifdef MAIN\nint main() {\n int *x, y; cudaMalloc(&x, 4); k<<<1, 1>>>(x);\n cudaMemcpy(&y, x, 4, "
             "cudaMemcpyDeviceToHost); cudaFree(x); return y; }\n#else\nvoid f(int* x) { k<<<1, 1>>>(x); }\n#endif\n");
    }
    const auto compile = [&](const char* options) {
        const Finished made =
            shell(fmt::format("set -e\nfor f in a b; do {}/build/simtcc {} -c -DNAME=same_$f $([ $f = a "
                              "] && echo -DMAIN) -Xcompiler -Wall,-Wextra,-Werror $f.cu; done",
                              fs::current_path().string(), options));
        EXPECT_EQ(made.output, "") << options;
        return simtcc("*.o -o x");
    };
    ASSERT_EQ(compile("").output, "");
    EXPECT_EQ(shell("./x").status, 11);
    EXPECT_NE(compile("-rdc=true").output.find("multiple definition of `twice(int)'"), std::string::npos);
    EXPECT_EQ(simtcc("a.o -o x").output, "");
    EXPECT_EQ(shell("./x").status, 11);
}

TEST_F(Driver, WhatNvccReadsBeforeEveryFileIsThere) {
    file("a.cu",
         "__global__ void k(unsigned* x) { *x = umax(2u, umin(3u, 4u)); }\n"
         "int main() {\n unsigned *x, y; cudaMalloc(&x, 4); k << <1, 1>> >(x);\n cudaMemcpy(&y, x, 4, "
         "cudaMemcpyDeviceToHost); cudaFree(x);\n return INT_MAX == 2147483647 && clock() >= 0 && CLOCKS_PER_SEC > 0 "
         "? static_cast<int>(y) : 0;\n}\n");
    ASSERT_TRUE(compiles("a.cu -o a"));
    EXPECT_EQ(shell("./a").status, 3);
}

// NVIDIA's helper headers ask for these names of the toolkit's headers.
TEST_F(Driver, TheHeadersSayThatTheyWereRead) {
    for (const char* ending : {"cu", "cpp"}) {
        file(
            fmt::format("a.{}", ending),
            "#include <cuda_runtime.h>\n#if !defined(__DRIVER_TYPES_H__) || !defined(__CUDA_RUNTIME_H__) || "
            "!defined(__VECTOR_TYPES_H__)\n#error not read\n#endif\n"
            "int main() { cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); cudaSetDeviceFlags(cudaDeviceBlockingSync);"
            " return p.pageableMemoryAccess + cudaComputeModeProhibited; }\n");
        ASSERT_TRUE(compiles(fmt::format("a.{} -o a", ending)));
        EXPECT_EQ(shell("./a").status, 2);
    }
}

// Rodinia has these names, most of cuda-samples' programs helper_cuda.h.
TEST_F(Driver, ProgramsForCuda12Compile) {
    file("a.cu",
         "#include <cublas_v2.h>\n#ifndef CUBLAS_API_H_\n#error no cuBLAS for helper_cuda.h\n#endif\n"
         "__global__ void k(int* p) { *p = 4; }\n"
         "int main() {\n int *p, h; cudaMalloc(&p, 4); k<<<1, 1>>>(p); cudaThreadSynchronize();\n"
         " cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost); cudaFree(p);\n"
         " cudaDeviceProp d; cudaGetDeviceProperties(&d, 0);\n"
         " return cudaThreadExit() + h + d.clockRate / 1000000 + d.deviceOverlap + d.computeMode +"
         " d.kernelExecTimeoutEnabled; }\n");
    const Finished compile = simtcc("a.cu -o a");
    ASSERT_EQ(compile.status, 0) << compile.output;
    EXPECT_NE(compile.output.find("CUDA 13 has cudaDeviceSynchronize instead"), std::string::npos) << compile.output;
    EXPECT_NE(compile.output.find("CUDA 13 has cudaDeviceReset instead"), std::string::npos) << compile.output;
    const Finished run = shell("./a");
    EXPECT_EQ(run.status, 6) << run.output;
    // If a program gives the names a meaning of its own, that stays.
    EXPECT_EQ(simtcc("-DcudaThreadSynchronize=cudaDeviceSynchronize -DcudaThreadExit=cudaDeviceReset a.cu -o b").status,
              0);
    EXPECT_EQ(shell("./b").status, 6);
}

TEST_F(Driver, AKernelByItsVoidPointerIsLaunchedWithoutSharedMemoryAndStream) {
    file("a.cu",
         "__global__ void k(int* p) { *p += 2; }\n"
         "int main() {\n int *p, h; cudaMalloc(&p, 4); cudaMemset(p, 0, 4); void* arguments[] = {&p};\n"
         " cudaLaunchKernel((void*)k, dim3(1), dim3(1), arguments);\n"
         " cudaLaunchCooperativeKernel((void*)k, dim3(1), dim3(1), arguments);\n"
         " cudaLaunchCooperativeKernel((void*)k, dim3(1), dim3(1), arguments, 64);\n"
         " cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost); cudaFree(p); return h; }\n");
    ASSERT_TRUE(compiles("a.cu -o a"));
    EXPECT_EQ(shell("./a").status, 6);
}

// All increments of 64 floats by each form of a kernel; ends with 0 if each thread of each kernel has run.
std::string incremented_by(const std::string& kernels, const std::string& launches, int times) {
    return fmt::format(
        "{}\nint main() {{\n    float* a;\n    cudaMallocManaged(&a, 256);\n    for (int i = 0; i < 64; i++) {{ a[i] = "
        "i; }}\n"
        "    {}\n    cudaDeviceSynchronize();\n    int wrong = 0;\n"
        "    for (int i = 0; i < 64; i++) {{ wrong += a[i] != i + {}; }}\n    cudaFree(a);\n    return wrong;\n}}\n",
        kernels, launches, times);
}

TEST_F(Driver, AKernelIsOneInEachFormThatNvccTakes) {
    const std::string body =
        "(float* a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] += 1; }\n";
    file("a.cu", incremented_by(
                     "#define GLOBAL __global__\n#define KERNEL(name) __global__ void name\n"
                     "#define EXPORT extern \"C\" __global__ void\n"
                     "GLOBAL void k1" +
                         body + "KERNEL(k2)" + body + "EXPORT k3" + body +
                         "__global__ auto k4(float* a, int n) -> void { int i = blockIdx.x * blockDim.x + "
                         "threadIdx.x; if (i < n) a[i] += 1; }\n"
                         "__global__ void (k5)" +
                         body + "__global__ void __launch_bounds__(32) __maxnreg__(32) k6" + body +
                         "template <class T> [[maybe_unused]] __global__ static void k7(T* a, int n) noexcept { int i "
                         "= blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] += 1; }\n"
                         "void __global__ k8" +
                         body,
                     "k1<<<2, 32>>>(a, 64); k2<<<2, 32>>>(a, 64); k3<<<2, 32>>>(a, 64); k4<<<2, 32>>>(a, 64);\n"
                     "    k5<<<2, 32>>>(a, 64); if (a) (k6)<<<2, 32>>>(a, 64);\n"
                     "    k7<float><<<2, 32>>>(a, 64); k8<<<2, 32>>>(a, 64);",
                     8));
    const Finished ran = [&] {
        const Finished compile = simtcc("-Xcompiler -Wall,-Werror a.cu -o a");
        return compile.status == 0 ? shell("./a") : compile;
    }();
    EXPECT_EQ(ran.status, 0) << ran.output;
    EXPECT_EQ(ran.output, "");
}

TEST_F(Driver, MacrosMayWriteKernelsLaunchesAndSharedArrays) {
    file("a.cu", incremented_by(
                     "#define CUDA_KERNEL(...) <<<__VA_ARGS__>>>\n"
                     "#define MAKE(name) \\\n    __global__ void name##_kernel(float* a) { a[threadIdx.x] += 1; } \\\n"
                     "    void name(float* a) { name##_kernel<<<1, 64>>>(a); }\n"
                     "#define DYNAMIC(T, name) extern __shared__ unsigned char name##_raw[]; T* name = "
                     "reinterpret_cast<T*>(name##_raw)\n"
                     "#define RUN(k, ...) (k)<<<1, 64, 256>>>(__VA_ARGS__)\nMAKE(add)\n"
                     "#define MANAGED __managed__\nMANAGED __device__ float one;\n"
                     "__global__ void k(float* a) { DYNAMIC(float, s); s[threadIdx.x] = one; a[threadIdx.x] += "
                     "s[threadIdx.x]; }\n",
                     "one = 1;\n    add(a);\n    k CUDA_KERNEL(1, 64, 256)(a);\n    if (a) RUN(k, a);", 3));
    ASSERT_TRUE(compiles("-Xcompiler -Wall,-Werror a.cu -o a"));
    const Finished ran = shell("./a");
    EXPECT_EQ(ran.status, 0) << ran.output;
    EXPECT_EQ(ran.output, "");
}

TEST_F(Driver, ALaunchOfWhatIsNoKernelIsNamed) {
    file("a.cu",
         "void host(int*) {}\n__global__ void kernel(int*) {}\nint main(int count, char**) {\n"
         "    void (*f)(int*) = count > 1 ? kernel : host;\n    f<<<1, 1>>>(nullptr);\n}\n");
    ASSERT_EQ(simtcc("a.cu -o a").status, 0);
    const Finished ran = shell("./a");
    EXPECT_EQ(ran.status, 1);
    EXPECT_EQ(ran.output,
              "simt: a.cu:5: a launch <<<…>>> of a function that is no kernel: it has run once, on the host\n");
    EXPECT_EQ(shell("./a kernel").output, "");
}

TEST_F(Driver, WhatTheCompilerSaysIsOfTheTextAsItIsWritten) {
    file("a.cu",
         "#define GLOBAL __global__\n#define TWICE(x) ((x) + (x))\n"
         "GLOBAL void k(int* a, int n) {\n    int twice = TWICE(n);\n    a[0] = n + nobody;\n}\n");
    const Finished error = simtcc("-c a.cu");
    EXPECT_EQ(error.status, 1);
    EXPECT_NE(error.output.find("a.cu:5:16: error: ‘nobody’ was not declared"), std::string::npos) << error.output;
    EXPECT_NE(error.output.find("    a[0] = n + nobody;\n"), std::string::npos) << error.output;

    file("a.cu",
         "#define TWICE(x) ((x) + (x))\n__global__ void k(int* a, int n) {\n    int twice = TWICE(n);\n    a[0] = "
         "n;\n}\n");
    EXPECT_EQ(simtcc("-c a.cu").output, "");
    const Finished warning = simtcc("-Xcompiler -Wall -c a.cu");
    EXPECT_EQ(warning.status, 0);
    EXPECT_NE(warning.output.find("a.cu:3:9: warning: unused variable ‘twice’"), std::string::npos) << warning.output;
    EXPECT_NE(warning.output.find("    int twice = TWICE(n);\n"), std::string::npos) << warning.output;
    EXPECT_EQ(simtcc("-Xcompiler -Wall,-Werror -c a.cu").status, 1);
}

TEST_F(Driver, AFileThatIsIncludedByAnOptionMayHoldKernels) {
    file("k.h",
         "#include <cassert>\n__global__ void k(int* x) { assert(x != nullptr); __shared__ int y; y = *x; *x = y + 2; "
         "}\n");
    file("a.cu",
         "int main() {\n    int* x;\n    cudaMallocManaged(&x, 4);\n    *x = 3;\n    k<<<1, 1>>>(x);\n"
         "    cudaDeviceSynchronize();\n    const int got = *x;\n    cudaFree(x);\n    return got;\n}\n");
    // NDEBUG: precompiled headers were read without it.
    for (const char* options : {"-include k.h", "-DNDEBUG -include k.h", "-Xcompiler -O3 -include k.h"}) {
        ASSERT_TRUE(compiles(fmt::format("{} -Xcompiler -Wall,-Wextra,-Werror a.cu -o a", options)));
        const Finished ran = shell("./a");
        EXPECT_EQ(ran.status, 5) << options << ran.output;
        EXPECT_EQ(ran.output, "") << options;
    }
}

TEST_F(Driver, AFunctionOfTheHostInAKernelIsRefusedInNvccsWords) {
    file("a.cu", R"(float square(float x) { return x * x; }
constexpr float cube(float x) { return x * x * x; }
constexpr int three(int a) { return a * 3; }
const int kN = 7;
struct H { float m() { return 1; } static float st() { return 2; } H() {} };
template <class T> T tsq(T x) { return x * x; }
__host__ __device__ float both(float x) { return square(x); }
namespace ns { float f(float x) { return x; } }
float proto(float);
__device__ float over(double x) { return x; }
float over(float x) { return x; }
template <class T> __global__ void k(T* a) {
    a[0] = square(a[0]);
    a[1] = cube(a[1]);
    int local[three(4)] = {};
    constexpr int c = three(3);
    a[c] = local[0] + kN;
    H h;
    a[5] = h.m();
    a[6] = H::st();
    a[7] = tsq(a[2]);
    a[10] = ns::f(a[3]) + over(2.0);
    a[11] = proto(1);
    auto l = [](float x) { return square(x); };
    a[12] = l(2);
    a[13] = both(1);
}
int main() {
    square(cube(1));
    k<<<1, 1>>>(static_cast<float*>(nullptr));
}
)");
    const std::string in_a_kernel = " from a __global__ function(\"k\") is not allowed\n";
    const std::string of_the_host = "error: calling a __host__ function(\"";
    const Finished finished = simtcc("-c a.cu -o a.o");
    EXPECT_EQ(finished.status, 1);
    const std::string expected =
        "a.cu:7: warning: calling a __host__ function(\"square(float)\") from a __host__ __device__ function(\"both\") "
        "is not allowed\n"
        "a.cu:13: " +
        of_the_host + "square(float)\")" + in_a_kernel +
        "a.cu:14: error: calling a constexpr __host__ function(\"cube\") from a __global__ function(\"k\") is not "
        "allowed. The experimental flag '--expt-relaxed-constexpr' can be used to allow this.\n"
        "a.cu:18: " +
        of_the_host + "H::H()\")" + in_a_kernel + "a.cu:19: " + of_the_host + "H::m()\")" + in_a_kernel +
        "a.cu:20: " + of_the_host + "H::st()\")" + in_a_kernel + "a.cu:21: " + of_the_host + "tsq(T)\")" + in_a_kernel +
        "a.cu:22: " + of_the_host + "ns::f(float)\")" + in_a_kernel + "a.cu:23: " + of_the_host + "proto(float)\")" +
        in_a_kernel + "a.cu:24: " + of_the_host + "square(float)\")" + in_a_kernel;
    EXPECT_EQ(finished.output, expected);
    EXPECT_EQ(simtcc("--expt-relaxed-constexpr -c a.cu -o a.o").output.find("cube"), std::string::npos);
}

TEST_F(Driver, WhatNvccTakesOfTheHostInAKernelIsTaken) {
    file("a.cu", R"(#include <algorithm>
#include <limits>
constexpr int kCounts[] = {1, 2};
constexpr float kHalf = 0.5F;
constexpr int least(int a, int b) { return std::min(a, b); }
int reduce(int n) { return n; }
struct Pair {
    int first = 0;
    __host__ __device__ int get() const { return first; }
    int on_the_host() const { return reduce(first); }
    __device__ Pair operator+(const Pair& other) const { return {first + other.first}; }
};
struct Other { int get() const { return 1; } };
__device__ int shared_name(int reduce) { return reduce; }
__global__ void k(int* a, const float* kTable) {
    constexpr int first = kCounts[0] + least(1, 2);
    __shared__ int tile[sizeof(kCounts) / sizeof(int)];
    tile[0] = first + kHalf;
    static_assert(std::numeric_limits<int>::max() > 0);
    const Pair sum = Pair{} + Pair{2};
    const auto reduce = [](int x) { return x; };
    a[0] = sum.get() + max(tile[0], 1) + shared_name(2) + reduce(3) + kTable[0];
}
inline __device__ int that_nobody_calls() { return reduce(1); }
template <class T>
__device__ T that_nobody_uses() { return reduce(1); }
extern "C" int printf(const char*, ...);
__global__ void prints() { printf("x"); }
int kTable() { return reduce(Other().get()) + Pair().on_the_host() + std::max(1, least(1, 2)); }
int main() {
    void (*f)(int*, const float*) = k;
    f<<<1, 1>>>(nullptr, nullptr);
}
)");
    const Finished finished = simtcc("-Xcompiler -Wall -c a.cu -o a.o");
    EXPECT_EQ(finished.status, 0);
    EXPECT_EQ(finished.output, "");
}

TEST_F(Driver, WhatNvccRefusesForSureIsRefusedAtItsLine) {
    const std::string array = "identifier \"table\" is undefined in device code";
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"constexpr float table[] = {1, 2};\n__global__ void k(float* o, int n) {\n*o = table[n]; }", array},
        {"static const float table[2] = {1, 2};\n__device__ float f(int n) {\nreturn 2 * table[n]; }", array},
        {"#include <algorithm>\n__global__ void k(float* o) {\n*o = std::max(o[0], o[1]); }",
         "calling a constexpr __host__ function(\"max\") from a __global__ function(\"k\") is not allowed. The "
         "experimental flag '--expt-relaxed-constexpr' can be used to allow this."},
        {"#include <limits>\n__device__ float f() {\nreturn std::numeric_limits<float>::infinity(); }",
         "calling a constexpr __host__ function(\"infinity\") from a __device__ function(\"f\") is not allowed. The "
         "experimental flag '--expt-relaxed-constexpr' can be used to allow this."},
        {"void host(int*) {}\nvoid f() {\nhost<<<1, 1>>>(nullptr); }", "a host function call cannot be configured"},
        {"__device__ void device(int*) {}\nvoid f() {\ndevice<<<1, 1>>>(nullptr); }",
         "a __device__ function call cannot be configured"},
        {"int f();\n\n__global__ int k = 0;", "__global__ without a kernel's name and (parameters) behind it"},
        {"__device__ int f() {\nextern __shared__ int s[]; return s[0]; }\n__device__ double g() { extern __shared__ "
         "double s[]; return s[0]; }",
         "conflicting declaration ‘double s []’"},
    };
    for (const auto& [text, message] : cases) {
        file("a.cu", text + "\n");
        const Finished finished = simtcc("-c a.cu -o a.o");
        EXPECT_EQ(finished.status, 1) << text;
        EXPECT_EQ(finished.output.find("simt_"), std::string::npos) << finished.output;
        const std::size_t said = finished.output.find(message);
        ASSERT_NE(said, std::string::npos) << finished.output;
        EXPECT_NE(finished.output.rfind("a.cu:3:", said), std::string::npos) << finished.output;
    }
    file("a.cu",
         "template <class T> __global__ void k(T* o) { extern __shared__ T s[]; *o = s[0]; }\n"
         "int main() { k<<<1, 1, 4>>>((float*)nullptr); k<<<1, 1, 8>>>((double*)nullptr); }\n");
    EXPECT_NE(simtcc("-c a.cu -o a.o").output.find("conflicting declaration ‘double s []’"), std::string::npos);
}

// Makefiles and build tools ask nvcc for these besides programs.
TEST_F(Driver, StandsInForNvcc) {
    file("k.h", "#define ONE 1\n");
    file("a.cu", "#include \"k.h\"\n__global__ void k(int* x) { *x = ONE; }\nvoid f(int* x) { k<<<1, 1>>>(x); }\n");
    file("main.cu",
         "void f(int*);\nint main() { int *x, y; cudaMalloc(&x, 4); f(x); cudaMemcpy(&y, x, 4, "
         "cudaMemcpyDeviceToHost); cudaFree(x); return y; }\n");
    EXPECT_NE(simtcc("--version").output.find("Cuda compilation tools, release 13.0, V13.0"), std::string::npos);
    EXPECT_EQ(simtcc("-lib a.cu -o liba.a").output, "");
    EXPECT_EQ(simtcc("-dc main.cu").output, "");
    EXPECT_EQ(simtcc("-dlink main.o liba.a -o link.o").output, "");
    file("options", "main.o link.o\n-L\".\" -la");
    for (const char* options : {"--options-file options", "@options"}) {
        EXPECT_EQ(simtcc(fmt::format("{} -o x", options)).output, "");
    }
    EXPECT_EQ(shell("./x").status, 1);
    EXPECT_NE(simtcc("-E a.cu").output.find("{ *x = 1; }"), std::string::npos);
    const std::string rule = simtcc("-MM -MT here/a.o a.cu").output;
    EXPECT_TRUE(rule.starts_with("here/a.o: ") && rule.find(" k.h") != std::string::npos) << rule;
    fs::create_directories(folder_ / "out");
    EXPECT_EQ(simtcc("-odir out -MMD -c a.cu").output, "");
    EXPECT_EQ(shell("test -f out/a.o && grep -l k.h out/*").output, "out/a.d\n");
}

TEST_F(Driver, AnotherLinkerGetsTheRuntimeFromTheToolkitsFolder) {
    file("a.cu",
         "__global__ void k(int* x) { x[threadIdx.x] = 1; }\n"
         "extern \"C\" void f() { int* x; cudaMalloc(&x, 4); k<<<1, 2>>>(x); cudaFree(x); }\n");
    file("b.cpp",
         "#include <cuda_runtime.h>\nextern \"C\" void f();\nint main() { f(); return cudaGetLastError(); }\n");
    const std::string toolkit = (fs::current_path() / "build/cuda").string();
    const Finished made =
        shell(fmt::format("{0}/bin/nvcc -c a.cu -o a.o && g++ -std=gnu++17 -I{0}/include -c b.cpp -o b.o && "
                          "gcc a.o b.o -L{0}/lib64 -lcudart -lcuda -lcudart_static -lcublas -o x",
                          toolkit));
    ASSERT_EQ(made.output, "");
    EXPECT_NE(shell("./x").output.find("out_of_bounds global: writes 4 bytes"), std::string::npos);
}

TEST_F(Driver, CMakeTakesItForNvcc) {
    if (shell("cmake --version").status != 0) {
        GTEST_SKIP() << "no cmake";
    }
    file("CMakeLists.txt",
         "cmake_minimum_required(VERSION 3.18)\nproject(x LANGUAGES CXX CUDA)\nfind_package(CUDAToolkit REQUIRED)\n"
         "add_library(k STATIC k.cu)\nset_target_properties(k PROPERTIES CUDA_SEPARABLE_COMPILATION ON)\n"
         "add_executable(x main.cpp)\ntarget_link_libraries(x k CUDA::cudart CUDA::cublas)\n"
         "target_compile_options(k PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>)\n");
    file("k.cu",
         "__global__ void k(int* x) { *x = 5; }\nint five() { int *x, y; cudaMalloc(&x, 4); k<<<1, 1>>>(x); "
         "cudaMemcpy(&y, "
         "x, 4, cudaMemcpyDeviceToHost); cudaFree(x); return y; }\n");
    file("main.cpp",
         "#include <cuda_runtime.h>\nint five();\nint main() { int n = 0; cudaGetDeviceCount(&n); return five() + "
         "n; "
         "}\n");
    const Finished made =
        shell(fmt::format("cmake -S . -B build -DCMAKE_CUDA_COMPILER={}/build/simtcc && cmake --build build",
                          fs::current_path().string()));
    ASSERT_EQ(made.status, 0) << made.output;
    EXPECT_EQ(shell("build/x").status, 6);
}

// nvcc compiles a file twice, and __CUDA_ARCH__ tells the two apart (CUDA C++ Programming Guide, "__CUDA_ARCH__").
TEST_F(Driver, EachSideHasItsOwnBodyOfAFunctionThatAsksForTheArchitecture) {
    file("a.cu", R"(#include <cstdio>
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
__device__ double atomicAdd(double* a, double b);
#endif
#ifdef __CUDA_ARCH__
#define SIDE 1
#else
#define SIDE 2
#endif
__host__ __device__ int where() { return SIDE; }
struct S {
    __host__ __device__ S() {
#ifdef __CUDA_ARCH__
        value = threadIdx.x + 7;
#endif
    }
    __host__ __device__ bool operator==(const S&) const { return SIDE == 1; }
    __host__ __device__ int operator()() const {
#ifdef __CUDA_ARCH__
        return blockIdx.x + 20;
#else
        return 30;
#endif
    }
    int value = 0;
};
template <class T>
__host__ __device__ constexpr T twice(T x) {
#if defined(__CUDA_ARCH__)
    return x;
#else
    return 2 * x;
#endif
}
void of_the_host(int* out) {
#ifdef __CUDA_ARCH__
    *out = 1;
#else
    *out = 5;
#endif
}
__global__ void k(int* o) {
    o[0] = where();
    o[1] = S().value;
    o[2] = twice(o[0]) + SIDE * 10 + S()() + (S() == S());
}
int main() {
    int *o, h;
    cudaMallocManaged(&o, 12);
    k<<<1, 1>>>(o);
    cudaDeviceSynchronize();
    of_the_host(&h);
    static_assert(twice(3) == 6);
    std::printf("%d %d %d, %d %d %d %d, line %d\n", o[0], o[1], o[2], where(), S().value, twice(o[0]), h + S()() + (S() == S()), __LINE__);
    cudaFree(o);
}
)");
    const Finished compile = simtcc("-Xcompiler -Wall,-Wextra,-Werror a.cu -o a");
    ASSERT_EQ(compile.status, 0) << compile.output;
    EXPECT_EQ(compile.output, "");
    EXPECT_EQ(shell("./a").output, "1 7 32, 2 0 2 35, line 54\n");

    file("b.cu", "#ifdef __CUDA_ARCH__\nusing Real = float;\n#else\nusing Real = double;\n#endif\nint main() {}\n");
    const Finished other = simtcc("b.cu -o b");
    EXPECT_EQ(other.status, 0);
    EXPECT_EQ(other.output.find("b.cu:2: warning: what stands here depends on __CUDA_ARCH__"), 0U) << other.output;
}

TEST_F(Driver, AFunctionOfTheHostIsNoKernelForTheRuntimeEither) {
    file("a.cu", R"(#include <cstdio>
void host(int*) { std::puts("ran"); }
template <class T> __global__ void kernel(T* x) { *x = 3; }
int main() {
    int* x;
    cudaMallocManaged(&x, 4);
    void* all[] = {&x};
    cudaFuncAttributes attributes;
    std::printf("%s %s\n", cudaGetErrorName(cudaLaunchKernel((void*)host, dim3(1), dim3(1), all, 0, 0)),
                cudaGetErrorName(cudaFuncGetAttributes(&attributes, (void*)host)));
    cudaGetLastError();
    std::printf("%s\n", cudaGetErrorName(cudaLaunchKernel((void*)kernel<int>, dim3(1), dim3(1), all, 0, 0)));
    cudaDeviceSynchronize();
    std::printf("%d\n", *x);
    cudaFree(x);
}
)");
    ASSERT_TRUE(compiles("a.cu -o a"));
    EXPECT_EQ(shell("./a").output, "cudaErrorInvalidDeviceFunction cudaErrorInvalidDeviceFunction\ncudaSuccess\n3\n");
}

TEST_F(Driver, AFileThatIsRefusedLeavesNoObjectAndNothingIsSaidOfTheNextFile) {
    file("a.cu", "float square(float x) { return x * x; }\n__global__ void k(float* o) { *o = square(*o); }\n");
    file("b.cu",
         "float square(float x) { return x * x; }\n"
         "__host__ __device__ float both(float x) { return square(x); }\n");
    file("c.cu", "int main() {}\n");
    EXPECT_EQ(simtcc("-c a.cu -o a.o").status, 1);
    EXPECT_FALSE(fs::exists(folder_ / "a.o"));
    const Finished two = simtcc("b.cu c.cu -o c");
    EXPECT_EQ(two.status, 0);
    EXPECT_EQ(two.output,
              "b.cu:2: warning: calling a __host__ function(\"square(float)\") from a __host__ __device__ "
              "function(\"both\") is not allowed\n");
}

TEST_F(Driver, TheUsersHeadersComeBeforeTheDevicesAndAToolkitsAfterThem) {
    fs::create_directories(folder_ / "mine");
    fs::create_directories(folder_ / "toolkit");
    file("mine/mma.h", "constexpr int mine = 7;\n");
    file("toolkit/cuda_runtime_api.h", "#error the toolkit's\n");
    file("toolkit/cuda_fp16.h", "#error the toolkit's\n");
    file("a.cu",
         "#include <cuda_fp16.h>\n#include <cuda_runtime_api.h>\n#include <mma.h>\nint main() { return mine + "
         "sizeof(__half); }\n");
    ASSERT_TRUE(compiles("-Itoolkit -Imine a.cu -o a"));
    EXPECT_EQ(shell("./a").status, 9);
}

TEST_F(Driver, Cpp17StaysCpp17) {
    file("a.cu",
         "#include <cmath>\n#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n"
         "#include <cooperative_groups/scan.h>\n#include <cuda/pipeline>\n#include <cuda_bf16.h>\n#include "
         "<cuda_fp16.h>\n"
         "inline __device__ __host__ float lerp(float a, float b, float t) { return a + t * (b - a); }\n"
         "__device__ int of_block(int i) { __shared__ int all[32]; all[i] = i; __syncthreads(); return all[31 - "
         "i]; }\n"
         "__global__ void k(float* x) { x[threadIdx.x] = lerp(1.0f, 3.0f, 0.5f) + of_block(threadIdx.x); }\n"
         "int main() {\n float *x, y; cudaMalloc(&x, 128); k<<<1, 32>>>(x);\n cudaMemcpy(&y, x, 4, "
         "cudaMemcpyDeviceToHost); cudaFree(x);\n return static_cast<int>(y) + (__cplusplus == 201703L ? 0 : "
         "100);\n}\n");
    for (const char* standard : {"c++17", "c++14"}) {
        ASSERT_TRUE(compiles(fmt::format("-std={} -Xcompiler -Wall,-Wextra,-Werror a.cu -o a", standard)));
        EXPECT_EQ(shell("./a").status, 33);
    }
}

// Without -std it is the standard of nvcc with g++: NVIDIA's helper_math.h has a lerp of its own, which C++20's is in the
// way of.
TEST_F(Driver, TheStandardIsNvccsUnlessOneIsGiven) {
    file("a.cu",
         "#include <cmath>\n#ifdef __STRICT_ANSI__\n#error nvcc takes the dialect of GNU\n#endif\n"
         "inline __host__ __device__ float lerp(float a, float b, float t) { return a + t * (b - a); }\n"
         "__global__ void k(float* o) { o[0] = lerp(0.f, 10.f, 0.5f); }\nint host();\n"
         "int main() {\n float *x, y; cudaMalloc(&x, 4); k<<<1, 1>>>(x);\n cudaMemcpy(&y, x, 4, "
         "cudaMemcpyDeviceToHost); cudaFree(x);\n return static_cast<int>(y) + (__cplusplus == 201703L) + host();\n"
         "}\n");
    file("b.cpp", "int host() { return __cplusplus == 201703L; }\n");
    ASSERT_TRUE(compiles("-Xcompiler -Wall,-Wextra,-Werror a.cu b.cpp -o a"));
    EXPECT_EQ(shell("./a").status, 7);
}

// HeCBench's randomAccess was stopped as an endless loop.
TEST_F(Driver, ALoopOfAtomicsWhoseOutcomeNobodyUsesIsWork) {
    file("a.cu",
         "__global__ void k(unsigned* p, int turns) { for (int i = 0; i < turns; i++) { atomicMax(&p[i & 7], 5U); } }\n"
         "int main(int, char** v) { unsigned* p; cudaMalloc(&p, 32); cudaMemset(p, 0, 32); k<<<1, 128>>>(p, "
         "atoi(v[1]));\n return cudaDeviceSynchronize() + cudaFree(p); }\n");
    ASSERT_EQ(simtcc("a.cu -o a").status, 0);
    const Finished whole = shell("./a 300000");
    EXPECT_EQ(whole.status, 0) << whole.output;
    const Finished part = shell("SIMT_TIME_LIMIT=0.5 ./a 100000000");
    EXPECT_NE(part.output.find("simt: time_limit: still running after 0.5 s at a.cu:1, "), std::string::npos)
        << part.output;
    EXPECT_NE(part.output.find(" accesses so far"), std::string::npos) << part.output;
}

TEST_F(Driver, ALoopThatLooksAtEverNewWordsIsWork) {
    file("a.cu",
         "__global__ void k(unsigned* p, int turns) {\n unsigned h = threadIdx.x, s = 0;\n"
         " for (int i = 0; i < turns; i++) { h = h * 1664525U + 1013904223U; s += atomicCAS(&p[h >> 22], 77U, 1U); }\n"
         " atomicAdd(p, s);\n}\n"
         "int main() { unsigned* p; cudaMalloc(&p, 4096); cudaMemset(p, 0, 4096); k<<<1, 128>>>(p, 300000);\n"
         " return cudaDeviceSynchronize() + cudaFree(p); }\n");
    ASSERT_EQ(simtcc("a.cu -o a").status, 0);
    const Finished run = shell("./a");
    EXPECT_EQ(run.status, 0) << run.output;
}

TEST_F(Driver, ThreadsThatReadTheSameWordsWithoutEndAreNamedAsAnEndlessLoop) {
    file("a.cu",
         "__global__ void k(int* p, int how) {\n while (how == 0 && atomicAdd(p, 0) == 0) {\n }\n"
         " while (how == 1 && atomicExch(p + 1, 1) == 1) {\n }\n"
         " if (how == 2) {\n  for (;;) {\n  }\n }\n"
         " while (how == 3 && threadIdx.x < 32) { __syncthreads(); }\n}\n"
         "int main(int, char** v) { int* p; cudaMalloc(&p, 8); cudaMemset(p, 0, 4); cudaMemset(p + 1, 1, 4);\n"
         " k<<<2, 32>>>(p, atoi(v[1])); cudaDeviceSynchronize(); cudaFree(p); }\n");
    ASSERT_EQ(simtcc("a.cu -o a").status, 0);
    for (const auto& [how, said] : {std::pair("0", "threads look at memory over and over, and nothing"),
                                    std::pair("1", "threads look at memory over and over, and nothing"),
                                    std::pair("2", "spin: an endless loop: nothing in it can end it\n  at a.cu:"),
                                    std::pair("3", "time_limit: still running after 2 s at a.cu:10, 0 accesses")}) {
        const Finished run = shell(std::string("SIMT_TIME_LIMIT=2 ./a ") + how);
        EXPECT_NE(run.output.find(said), std::string::npos) << run.output;
    }
}

TEST_F(Driver, AKernelsParametersAreCopiedOnceAndAsBits) {
    file("a.cu",
         "#include <cstdio>\n#include <type_traits>\n"
         "struct Owner {\n int* p;\n Owner() { cudaMalloc(&p, 256); cudaMemset(p, 0, 256); }\n"
         " __host__ __device__ Owner(const Owner& o) : p(o.p) { printf(\"copied\\n\"); }\n"
         " __host__ __device__ ~Owner() { printf(\"gone\\n\"); }\n};\n"
         "struct Moved { int* p; Moved(int* q) : p(q) {} Moved(const Moved&) = delete; Moved(Moved&&) = default; };\n"
         "struct Odd { int* p; Odd(int* q) : p(q) {} __host__ __device__ Odd(Odd& o) : p(o.p) {} };\n"
         "struct Large { int v[1000]; };\n"
         "template <class... T> __global__ void k(Owner b, Moved m, Odd o, const Large large, T... rest) {\n"
         " static_assert(std::is_same_v<decltype(large), const Large>);\n"
         " auto f = [=](int i) { return large.v[i] + (0 + ... + rest); };\n"
         " if (threadIdx.x == 0) { *b.p += f(3) + int(m.p - o.p); }\n b.p = nullptr; }\n"
         "__global__ void change(Large own, int* out) { own.v[threadIdx.x % 8] += 1; out[threadIdx.x] = "
         "own.v[threadIdx.x % 8]; }\n"
         "__global__ void add(int& n) { n += 1; }\n"
         "int main() {\n Owner b; Odd odd(b.p); Large large{}; large.v[3] = 4;\n"
         " k<<<1, 4>>>(b, Moved(b.p), odd, large, 1, 2L); printf(\"launched\\n\");\n"
         " add<<<1, 1>>>(*b.p); int h[64]; cudaMemcpy(h, b.p, 4, cudaMemcpyDeviceToHost); printf(\"%d\\n\", *h);\n"
         " change<<<1, 64>>>(large, b.p); cudaMemcpy(h, b.p, 256, cudaMemcpyDeviceToHost);\n"
         " printf(\"%d %d\\n\", h[3], h[59]); cudaFree(b.p); }\n");
    ASSERT_TRUE(compiles("-std=c++17 -Xcompiler -Wall,-Wextra,-Werror a.cu -o a"));
    EXPECT_EQ(shell("./a").output, "copied\ngone\nlaunched\n8\n5 5\ngone\n");
}

TEST_F(Driver, TooLargeParametersAndConstantsAreRefused) {
    file("a.cu",
         "template <int N> struct Bytes { char v[N]; };\n"
         "template <int N> __global__ void k(Bytes<N> b, int n) { b.v[0] = n; }\n"
         "int main() {\n k<<<1, 1>>>(Bytes<SIZE>{}, 1);\n return cudaDeviceSynchronize(); }\n");
    EXPECT_EQ(simtcc("-DSIZE=32760 a.cu -o a").status, 0);
    EXPECT_EQ(shell("./a").status, 0);
    const Finished refused = simtcc("-DSIZE=32761 a.cu -o a");
    EXPECT_NE(refused.status, 0);
    EXPECT_NE(refused.output.find("formal parameter space overflowed: a kernel's parameters may have 32764 bytes"),
              std::string::npos)
        << refused.output;
    file("b.cu",
         "__constant__ float table[16384];\n#ifdef MORE\n__constant__ int more;\n#endif\n"
         "__global__ void k(float* o) {\n *o = table[1];\n#ifdef MORE\n *o += more;\n#endif\n}\n"
         "int main() { float* o; cudaMalloc(&o, 4); k<<<1, 1>>>(o); return cudaGetLastError() + cudaFree(o); }\n");
    EXPECT_EQ(simtcc("b.cu -o b").status, 0);
    EXPECT_EQ(shell("./b").status, 0);
    EXPECT_EQ(simtcc("-DMORE b.cu -o b").status, 0);
    EXPECT_NE(shell("./b").output.find("bad_launch: k: 65540 bytes of __constant__ memory in one file"),
              std::string::npos);
}

TEST_F(Driver, AnIndexBeyondASharedArrayThatIsNamedDoesNotEndTheLaunch) {
    file(
        "a.cu",
        "#include <cstdio>\nstruct Pair { float a, b; };\n"
        "__global__ void by_name(int* o) {\n __shared__ int s[8];\n if (threadIdx.x < 8) { s[threadIdx.x] = 1; }\n"
        " __syncthreads();\n int v = __shfl_sync(~0U, s[threadIdx.x], threadIdx.x & 7);\n\n if "
        "(threadIdx.x < 8) { o[threadIdx.x] = "
        "v; }\n}\n"
        "__global__ void by_member(int* o) {\n __shared__ Pair s[8];\n if (threadIdx.x < 8) { s[threadIdx.x] = Pair{1, "
        "1}; }\n __syncthreads();\n Pair v = s[threadIdx.x];\n v.b = __shfl_xor_sync(~0U, v.b, 1);\n if (threadIdx.x < "
        "8) { o[threadIdx.x] = v.b; }\n}\n"
        "__global__ void by_row(int* o) {\n __shared__ int s[4][8];\n s[threadIdx.x / 8][threadIdx.x % 8] = 1;\n"
        " __syncthreads();\n o[threadIdx.x % 8] = s[1][threadIdx.x % 12];\n}\n"
        "__global__ void local(int* o, int n) {\n __shared__ int s[8];\n int own[8];\n"
        " for (int i = 0; i < n; i++) { own[i] = i; }\n s[threadIdx.x % 8] = own[threadIdx.x % 8];\n o[threadIdx.x % "
        "8] = s[threadIdx.x % 8];\n}\n"
        "int main() {\n int *o, h[8];\n cudaMalloc(&o, 32);\n cudaMemset(o, 0, 32);\n"
        " for (int i = 0; i < 4; i++) {\n"
        "  i == 0 ? by_name<<<1, 32>>>(o) : i == 1 ? by_member<<<1, 32>>>(o) : i == 2 ? by_row<<<1, 32>>>(o) : "
        "local<<<1, 32>>>(o, 12);\n"
        "  int error = cudaDeviceSynchronize(); cudaMemcpy(h, o, 32, cudaMemcpyDeviceToHost); printf(\"%d %d\\n\", "
        "error, h[3]);\n }\n cudaFree(o);\n}\n");
    ASSERT_EQ(simtcc("-std=c++17 a.cu -o a").status, 0);
    const Finished run = shell("SIMT_CHECK=noraces ./a");
    EXPECT_EQ(run.output.find("0 1\n0 1\n0 1\n700 1\n"), 0U) << run.output;
    for (const char* line :
         {"at a.cu:7 in by_name", "at a.cu:15 in by_member", "at a.cu:23 in by_row", "at a.cu:28 in local"}) {
        EXPECT_NE(run.output.find(line), std::string::npos) << line << '\n' << run.output;
    }
    EXPECT_NE(run.output.find("simt: 4 findings"), std::string::npos) << run.output;
}

TEST_F(Driver, ARaceAfterBarriersThatDoNotMatchNamesNoLoop) {
    file("a.cu",
         "__global__ void k(int* o) {\n __shared__ int s[64];\n s[threadIdx.x] = 1;\n"
         " if (threadIdx.x < 32) {\n  __syncthreads();\n }\n s[threadIdx.x] = 2;\n __syncthreads();\n"
         " o[threadIdx.x] = s[63 - threadIdx.x];\n}\n"
         "int main() { int* o; cudaMalloc(&o, 256); k<<<1, 64>>>(o); cudaDeviceSynchronize(); cudaFree(o); }\n");
    ASSERT_EQ(simtcc("a.cu -o a").status, 0);
    for (int seed = 1; seed <= 4; seed++) {
        const Finished run = shell(fmt::format("SIMT_SEED={} ./a", seed));
        EXPECT_NE(run.output.find("simt: race shared"), std::string::npos) << run.output;
        EXPECT_EQ(run.output.find("turn of the loop"), std::string::npos) << run.output;
    }
}

TEST_F(Driver, AnOwnerThatIsPassedByValueIsFreedByTheHost) {
    file("a.cu",
         "struct Buf {\n int* p; Buf() { cudaMalloc(&p, 256); cudaMemset(p, 0, 256); }\n ~Buf() { cudaFree(p); }\n};\n"
         "__global__ void inc(Buf b) { b.p[threadIdx.x] += 1; }\n"
         "int main() {\n Buf b;\n inc<<<1, 64>>>(b);\n inc<<<1, 64>>>(b);\n cudaDeviceSynchronize();\n}\n");
    ASSERT_EQ(simtcc("a.cu -o a").status, 0);
    const Finished run = shell("./a");
    EXPECT_NE(run.output.find("use_after_free global: "), std::string::npos) << run.output;
    EXPECT_NE(run.output.find("which was freed at a.cu:3 (called at a.cu:8)"), std::string::npos) << run.output;
    EXPECT_EQ(run.output.find("invalid_free"), std::string::npos) << run.output;
}

// g++ -O2 compared the two by name, and crashed.
TEST_F(Driver, HostCodeThatAllocatesAndFreesInOneFunctionCompiles) {
    for (const char* ending : {"cpp", "cu"}) {
        file(fmt::format("a.{}", ending),
             "#include <cuda_runtime.h>\n#include <cstdlib>\nint main(int count, char**) {\n int* a = new "
             "int[count + "
             "1];\n"
             " int* b = new int(7);\n int* c = static_cast<int*>(malloc(8));\n a[count] = *b;\n c[0] = a[count];\n"
             " const int got = c[0];\n free(c);\n delete b;\n delete[] a;\n return got;\n}\n");
        ASSERT_TRUE(compiles(fmt::format("-O2 a.{} -o a", ending)));
        EXPECT_EQ(shell("./a").status, 7);
    }
}

TEST_F(Driver, ACFileIsCompiledAsC) {
    file("twice.c", "int twice(int class) { return 2 * class; }\n");
    file("a.cu", "extern \"C\" int twice(int x);\nint main() { return twice(21); }\n");
    ASSERT_TRUE(compiles("a.cu twice.c -o a"));
    EXPECT_EQ(shell("./a").status, 42);
    file("headers.c", "#include <cuda_runtime.h>\n");
    EXPECT_NE(
        simtcc("-c headers.c").output.find("the CPU device's headers are C++: give this file the ending .cu or .cpp"),
        std::string::npos);
}

TEST_F(Driver, ObjectsThatUseOpenMPAreLinkedWithIt) {
    file("a.cpp",
         "#include <omp.h>\nint main() { int n = 0;\n#pragma omp parallel num_threads(2)\n{\n#pragma omp "
         "atomic\nn++;\n}\nreturn n; }\n");
    ASSERT_EQ(simtcc("-Xcompiler -fopenmp -c a.cpp -o a.o").output, "");
    ASSERT_TRUE(compiles("-Xcompiler -fopenmp a.o -o a"));
    EXPECT_EQ(shell("./a").status, 2);
}

TEST_F(Driver, OpenMPInAFileWithKernelsRunsAndTheLinesStay) {
    file("a.cu",
         "#include <cstdio>\n__global__ void k(int* x) {\n    x[1] = 1;\n}\nint main() {\n    long sum = 0;\n"
         "#pragma omp parallel for reduction(+ : sum) num_threads(3)\n    for (int i = 0; i < 100; i++) { sum += "
         "i; }\n"
         "    int threads = 0;\n#pragma omp parallel num_threads(2)\n#pragma omp atomic\n    threads++;\n"
         "    int* x = nullptr;\n    cudaMalloc(&x, 4);\n    k<<<1, 1>>>(x);\n    cudaFree(x);\n"
         "    std::printf(\"%ld %d %d\\n\", sum, threads, __LINE__);\n}\n");
    ASSERT_TRUE(compiles("-Xcompiler -fopenmp,-Wall,-Werror a.cu -o a"));
    const Finished ran = shell("./a");
    EXPECT_EQ(ran.output.find("4950 2 17\n"), 0U) << ran.output;
    EXPECT_NE(ran.output.find("a buffer of 4 bytes from a.cu:14"), std::string::npos) << ran.output;
    EXPECT_NE(ran.output.find("at a.cu:3 in k"), std::string::npos) << ran.output;
}

TEST_F(Driver, OpenMPTakesAWarningOfExpandedMacrosAloneForNone) {
    file("a.cu",
         "#define SAME(x) ((x) == (x))\n__global__ void k() {}\nint main() {\n    int threads = 0;\n"
         "#pragma omp parallel num_threads(2)\n#pragma omp atomic\n    threads++;\n    k<<<1, 1>>>();\n"
         "    return SAME(threads) ? threads : 9;\n}\n");  // g++ warns of x == x unless a macro wrote it
    EXPECT_EQ(simtcc("-Xcompiler -fopenmp,-Wall,-Werror a.cu -o a").output, "");
    EXPECT_EQ(shell("./a").status, 2);
}

TEST_F(Driver, ErrorsNameTheUsersFileAndLine) {
    file("a.cu",
         "#include <string>\n__global__ void k(float* x, int n) { x[0] = n; }\nint main() {\n    float* x = "
         "nullptr;\n"
         "    k<<<1, 1>>>(x, std::string());\n    k<<<1, 1>>>(x);\n}\n");
    const Finished compile = simtcc("a.cu -o a");
    EXPECT_EQ(compile.status, 1);
    EXPECT_NE(compile.output.find("a.cu:5:"), std::string::npos) << compile.output;
    EXPECT_NE(compile.output.find("a.cu:6:"), std::string::npos) << compile.output;
    EXPECT_FALSE(fs::exists(folder_ / "a"));
}

TEST_F(Driver, WhatTheDeviceLacksDoesNotCompile) {
    file("a.cu", "int main() { cudaGraphAddMemFreeNode(nullptr, nullptr, nullptr, 0, nullptr); }\n");
    const Finished compile = simtcc("a.cu -o a");
    EXPECT_EQ(compile.status, 1);
    EXPECT_NE(compile.output.find("cudaGraphAddMemFreeNode is not on the CPU device"), std::string::npos)
        << compile.output;
    file("b.cu", "__global__ void k() { asm volatile(\"bar.sync 0;\"); }\nint main() {}\n");
    EXPECT_EQ(simtcc("b.cu -o b").output, "b.cu:1: error: inline PTX is not on the CPU device\n");
}

TEST_F(Driver, EachFunctionThatTheDeviceLacksIsNamed) {
    const std::vector<std::string> functions = {"cudaMalloc3D",
                                                "cudaMemcpy3DAsync",
                                                "cudaMemcpy3D",
                                                "cudaMemRangeGetAttribute",
                                                "cudaStreamBeginCaptureToGraph",
                                                "cudaStreamUpdateCaptureDependencies",
                                                "cudaGraphAddMemcpyNodeToSymbol",
                                                "cudaGraphRetainUserObject",
                                                "cudaDeviceGraphMemTrim",
                                                "cudaMemcpyBatchAsync",
                                                "cudaFreeArray",
                                                "cudaHostGetFlags",
                                                "cudaMallocArray",
                                                "cudaDeviceSetSharedMemConfig",
                                                "cudaStreamGetId",
                                                "__isShared",
                                                "__vavgs2"};
    std::string program = "int main() {\n";
    for (const std::string& function : functions) { program += function + "();\n"; }
    file("a.cu", program + "}\n");
    const Finished compile = simtcc("a.cu -o a");
    EXPECT_EQ(compile.status, 1);
    for (std::size_t i = 0; i < functions.size(); i++) {
        EXPECT_NE(compile.output.find(functions[i] + " is not on the CPU device"), std::string::npos) << functions[i];
        EXPECT_NE(compile.output.find(fmt::format("a.cu:{}:", i + 2)), std::string::npos) << functions[i];
    }
}

// Prints the step at which `body` first makes an error, or "done".
std::string program_that_repeats(const std::string& body) {
    return "#include <cuda_runtime.h>\n#include <cstdio>\n"
           "__global__ void set(int* x) { *x = 1; }\n"
           "int main() {\n    const std::size_t gib = std::size_t{1} << 30;\n    void* p = nullptr;\n"
           "    for (int step = 0; step < 1000; step++) {\n" +
           body +
           "        if (const cudaError_t e = cudaGetLastError(); e != cudaSuccess) {\n"
           "            std::printf(\"%d: %s\\n\", step, cudaGetErrorString(e));\n            return 1;\n        "
           "}\n"
           "    }\n    std::puts(\"done\");\n}\n";
}

TEST_F(Driver, MemoryThatIsFreedCanBeAllocatedAgain) {
    for (const std::string& body :
         {std::string("cudaMalloc(&p, 8 * gib); set<<<1, 1>>>((int*)p); cudaFree(p);\n"),
          std::string("cudaMallocAsync(&p, 8 * gib, nullptr); set<<<1, 1>>>((int*)p); cudaFreeAsync(p, nullptr);\n"),
          std::string("cudaMalloc(&p, 8 * gib); set<<<1, 1>>>((int*)p); cudaDeviceReset();\n")}) {
        file("a.cu", program_that_repeats(body));
        ASSERT_EQ(simtcc("a.cu -o a").output, "");
        for (const char* environment : {"", "SIMT_CHECK=off "}) {
            const Finished ran = shell(std::string(environment) + "./a");
            EXPECT_EQ(ran.output, "done\n") << environment << body;
            EXPECT_EQ(ran.status, 0) << environment << body;
        }
    }
}

TEST_F(Driver, MemoryThatIsAllocatedAgainIsUninitialisedAndFindsUseAfterFree) {
    // 8 GiB take 24 GiB of 3 TiB of addresses: long before the last step they lie where earlier ones lay.
    file("a.cu",
         "#include <cuda_runtime.h>\n__global__ void set(int* x) { *x = 1; }\n"
         "__global__ void read(int* x, int* y) {\n    *y = *x;\n}\n"
         "int main() {\n    int *x = nullptr, *y = nullptr, *old = nullptr;\n    cudaMalloc(&y, 4);\n"
         "    for (int step = 0; step < 300; step++) {\n        old = x;\n"
         "        cudaMalloc(&x, std::size_t{8} << 30);\n        if (step < 299) {\n            set<<<1, 1>>>(x);\n"
         "            cudaFree(x);\n        }\n    }\n    read<<<1, 1>>>(x, y);\n    cudaDeviceSynchronize();\n"
         "    set<<<1, 1>>>(old);\n    cudaFree(x);\n    cudaFree(y);\n    cudaDeviceSynchronize();\n}\n");
    ASSERT_EQ(simtcc("a.cu -o a").output, "");
    const Finished ran = shell("./a");
    EXPECT_NE(ran.output.find("uninitialised global: reads 4 bytes that nobody has written: byte 0 of a buffer of "
                              "8589934592 bytes from a.cu:11\n  at a.cu:4 in read"),
              std::string::npos)
        << ran.output;
    EXPECT_NE(ran.output.find("use_after_free global: writes 4 bytes at byte 0 of a buffer of 8589934592 bytes from "
                              "a.cu:11, which was freed at a.cu:14\n  at a.cu:2 in set"),
              std::string::npos)
        << ran.output;
}

TEST_F(Driver, AnAllocationForWhichThereIsNoRoomSaysWhy) {
    file("a.cu",
         "#include <cuda_runtime.h>\nint main() {\n    void *p = nullptr, *q = nullptr;\n"
         "    cudaMalloc(&p, std::size_t{60} << 30);\n    const bool fits = cudaMalloc(&q, std::size_t{8} << 30) == "
         "cudaSuccess;\n    cudaFree(p);\n    return fits;\n}\n");
    ASSERT_EQ(simtcc("a.cu -o a").output, "");
    const Finished ran = shell("./a");
    EXPECT_EQ(ran.status, 0);
    EXPECT_EQ(ran.output,
              "simt: note: a.cu:5: cudaMalloc has no room for 8589934592 bytes: 64424509440 of the device's "
              "68719476736 are in "
              "use\n");
}

TEST_F(Driver, MarksForAProfilerMayHaveAttributes) {
    file("a.cu",
         "#include <cstring>\n#include <nvtx3/nvtx3.hpp>\nstruct mine { static constexpr const char* name = \"mine\"; "
         "};\n"
         "void f() { NVTX3_FUNC_RANGE(); }\n"
         "int main() {\n nvtxEventAttributes_t e;\n memset(&e, 0, sizeof e);\n e.version = NVTX_VERSION;\n"
         " e.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;\n e.messageType = NVTX_MESSAGE_TYPE_ASCII;\n e.message.ascii = "
         "\"x\";\n"
         " const int first = nvtxRangePushEx(&e);\n"
         " nvtx3::scoped_range_in<mine> range{\"y\", nvtx3::rgb{1, 2, 3}, nvtx3::payload{7}};\n f();\n"
         " return 10 * first + nvtxRangePushA(\"z\");\n}\n");
    const Finished compile = simtcc("-Xcompiler -Wall,-Wextra,-Werror a.cu -o a");
    ASSERT_EQ(compile.output, "");
    EXPECT_EQ(shell("./a").status, 2);
}

// It may be included by a header of the program's, under a condition, and without any use.
TEST_F(Driver, NamesWhatAnAbsentHeaderOfTheToolkitHas) {
    fs::create_directories(folder_ / "inc");
    file("inc/all.h",
         "#include <cub/block/block_load.cuh>\n#include \"thrust/iterator/reverse_iterator.h\"\n#include <cufft.h>\n"
         "#include <cufftXt.h>\n#include <cusparse.h>\n#include <cusolverDn.h>\n#include <nvrtc.h>\n#include <nppi.h>\n"
         "#include <nvjpeg.h>\n  #  include <cuda_gl_interop.h>\n#include <cublas.h>\n#include <curand_uniform.h>\n"
         "#include <host_defines.h>\n#include <crt/device_functions.h>\n#include <nvToolsExt.h>\n"
         "#include <cuda/std/climits>\n#include <cuda/std/functional>\n#include <cuda/std/atomic>\n");
    for (const auto& [use, what] : std::vector<std::pair<std::string, std::string>>{
             {"cuda::std::plus<int>()(1, CHAR_BIT)", ""},
             {"sizeof(cub::BlockLoad<int, 32, 1>)", "cub is not on the CPU device: it has no CUB"},
             {"sizeof(thrust::reverse_iterator<int*>)", "thrust is not on the CPU device: it has no Thrust"},
             {"sizeof(cufftHandle)", "cufftHandle is not on the CPU device: it has no cuFFT"},
             {"sizeof(cusparseHandle_t)", "cusparseHandle_t is not on the CPU device: it has no cuSPARSE"},
             {"sizeof(NppiSize)", "NppiSize is not on the CPU device: it has no NPP"},
             {"nppsAddC_8u_I()", "nppsAddC_8u_I is not on the CPU device: it has no NPP"},
             {"cublasInit()", "cublasInit is not on the CPU device: it has no cuBLAS without handles"}}) {
        for (const char* name : {"a.cu", "b.cpp"}) {
            file(name, "#include <all.h>\nint main() {\n    return " + use + ";\n}\n");
            const Finished compile = simtcc(fmt::format("-Iinc {} -o x", name));
            EXPECT_EQ(compile.output, what.empty() ? "" : fmt::format("{}:3: error: {}\n", name, what)) << use;
        }
        if (what.empty()) {
            EXPECT_EQ(shell("./x").status, 9);
        }
    }
    for (const auto& [header, what] : std::vector<std::pair<std::string, std::string>>{
             {"cuda/latch", "cuda/latch is not on the CPU device: it has no such part of libcu++"},
             {"cuda/std/span", "cuda/std/span needs -std=c++20 on the CPU device"},
             {"cuda_fp4.h", "cuda_fp4.h is not on the CPU device: it has no numbers of 4 bits"}}) {
        file("a.cu", "#include <" + header + ">\nint main() {}\n");
        const std::string said = simtcc("a.cu -o x").output;
        EXPECT_NE(said.find("error \"" + what + '"'), std::string::npos) << said;
        EXPECT_EQ(said.find("No such file"), std::string::npos) << said;
    }
    file("a.cu", "#include <cuda/std/span>\nint main() { int x[3]; return cuda::std::span<int>(x).size(); }\n");
    EXPECT_EQ(simtcc("-std=c++20 a.cu -o x").output, "");
    EXPECT_EQ(shell("./x").status, 3);
}

TEST_F(Driver, MarksForAProfilerCompileAndNest) {
    file("a.cu",
         "#include <nvtx3/nvToolsExt.h>\n#include <nvtx3/nvToolsExtCudaRt.h>\n#include <nvtx3/nvToolsExtMem.h>\nint "
         "main() {\n const int first = nvtxRangePushA(\"a\");\n const int second = "
         "nvtxRangePush(\"b\");\n nvtxMarkA(\"c\");\n return 100 * first + 10 * second + nvtxRangePop();\n}\n");
    ASSERT_TRUE(compiles("a.cu -o a"));
    EXPECT_EQ(shell("./a").status, 11);
}

TEST_F(Driver, AProgramLinksCublasWithItsFlagsAndWithoutAndOthersDoNotLoadOpenblas) {
    file("a.cu",
         "#include <cublas_v2.h>\n#include <cstdio>\nint main() {\n cublasHandle_t handle = nullptr;\n int version "
         "= "
         "0;\n"
         " if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return 1;\n cublasGetVersion(handle, &version);\n"
         " std::printf(\"version %d\\n\", version);\n return cublasDestroy(handle);\n}\n");
    for (const char* flags : {"", "-lcublas", "-lcublas -lcublasLt"}) {
        ASSERT_TRUE(compiles(fmt::format("a.cu -o a {}", flags)));
        const Finished ran = shell("./a");
        EXPECT_EQ(ran.status, 0) << ran.output;
        EXPECT_EQ(ran.output, "version 130100\n");
    }
    EXPECT_NE(shell("ldd ./a").output.find("openblas"), std::string::npos);
    file("b.cu", "int main() {}\n");
    ASSERT_EQ(simtcc("b.cu -o b").status, 0);
    EXPECT_EQ(shell("ldd ./b").output.find("openblas"), std::string::npos);
}

TEST_F(Driver, WhatKernelsWithoutHooksWriteIsNotUnwrittenToCublas) {
    const fs::path kernels = fs::current_path() / "checker/simt/tests/kernels";
    for (const char* option : {"--unchecked", "--for-debugger"}) {
        ASSERT_TRUE(compiles(fmt::format("{} {}/correct/cublas_product.cu -o a", option, kernels.string())));
        const Finished ran = shell("./a");
        EXPECT_EQ(ran.status, 0) << option;
        EXPECT_EQ(ran.output, "") << option;
    }
}

TEST_F(Driver, NamesOfTheUsersThatBeginLikeCublasAreItsOwn) {
    file("a.cu",
         "#include <cublas_v2.h>\nstruct cublasOwner { int value = 3; };\nint main() { return cublasOwner().value "
         "- 3; "
         "}\n");
    ASSERT_TRUE(compiles("a.cu -o a"));
    EXPECT_EQ(shell("./a").status, 0);
}

TEST_F(Driver, RoundedNansAreNotNotedAsTruncated) {
    file("a.cu",
         "#include <checker/ptx.h>\n"
         "__global__ void kernel() {\n"
         "    ptx::Accumulators d{};\n"
         "    const std::uint32_t nan = ptx::to_tf32(__int_as_float(0x7fc00000));\n"
         "    ptx::mma_m16n8k8(d, {{nan, nan, nan, nan}}, {{nan, nan}});\n"
         "}\n"
         "int main() { kernel<<<1, 32>>>(); return cudaDeviceSynchronize() == cudaSuccess ? 0 : 3; }\n");
    ASSERT_TRUE(compiles("-std=c++20 -I" + fs::current_path().string() + " a.cu -o a"));
    EXPECT_EQ(shell("./a").output, "");
}

TEST_F(Driver, NotesAProductCapturedWithoutAWorkspace) {
    file("a.cu",
         "#include <cublas_v2.h>\n"
         "int main() {\n"
         "    float *x, one = 1; void* memory;\n"
         "    cudaMalloc(&x, 64); cudaMalloc(&memory, 1024); cudaMemset(x, 0, 64);\n"
         "    cublasHandle_t handle; cublasCreate(&handle);\n"
         "    cudaStream_t stream; cudaStreamCreate(&stream); cublasSetStream(handle, stream);\n"
         "    cudaDeviceSynchronize();\n"
         "    cudaGraph_t graph; cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);\n"
         "    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, x, 1, x + 1, 1, &one, x + 2, 1);\n"
         "    cublasSetWorkspace(handle, memory, 1024);\n"
         "    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, x, 1, x + 1, 1, &one, x + 2, 1);\n"
         "    cublasSetStream(handle, stream);\n"
         "    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, x, 1, x + 1, 1, &one, x + 2, 1);\n"
         "    cudaStreamEndCapture(stream, &graph); cudaGraphDestroy(graph);\n"
         "    cublasDestroy(handle); cudaStreamDestroy(stream); cudaFree(x); cudaFree(memory);\n"
         "}\n");
    ASSERT_TRUE(compiles("a.cu -lcublas -o a"));
    constexpr std::string_view kSays =
        "cublasSgemm is captured without a workspace: cuBLAS may take one by nodes of the graph, at each launch; "
        "cublasSetWorkspace after cublasSetStream gives it one\n";
    EXPECT_EQ(shell("./a").output, fmt::format("simt: note: a.cu:9: {0}simt: note: a.cu:13: {0}", kSays));
}

TEST_F(Driver, Tf32IsNotedWhereNobodyRoundsAndRefusedWhereTheCardHasNone) {
    file("a.cu",
         "#include <checker/ptx.h>\n"
         "__global__ void kernel() {\n"
         "    ptx::Accumulators d{};\n"
         "    const std::uint32_t raw = __float_as_uint(1.0f / 3);\n"
         "    for (int i = 0; i < 2; i++) { ptx::mma_m16n8k8(d, {{raw, raw, raw, raw}}, {{raw, raw}}); }\n"
         "}\n"
         "int main() { kernel<<<1, 32>>>(); return cudaDeviceSynchronize() == cudaSuccess ? 0 : 3; }\n");
    ASSERT_TRUE(compiles("-std=c++20 -I" + fs::current_path().string() + " a.cu -o a"));
    const checker::Finished noted = shell("./a");
    EXPECT_EQ(noted.status, 0);
    EXPECT_EQ(
        noted.output,
        "simt: note: a.cu:5: mma.sync.m16n8k8 (tf32) gets floats that nobody has rounded to TF32: what TF32 has no "
        "bits for is truncated, not rounded (cvt.rna.tf32.f32 rounds)\n");
    const checker::Finished refused = shell("SIMT_TENSOR_CORES=sm_75 ./a");
    EXPECT_EQ(refused.status, 1);
    EXPECT_TRUE(refused.output.starts_with(
        "simt: trap: sm_75, which SIMT_TENSOR_CORES names, has no mma.sync.m16n8k8 (tf32)\n  at a.cu:5 in kernel"))
        << refused.output;
}

TEST_F(Driver, RowsOfLdmatrixThatNobodyHasAlignedAreNoted) {
    file("a.cu",
         "#include <checker/ptx.h>\n"
         "__global__ void kernel() {\n"
         "    __shared__ std::uint32_t rows[8][4];\n"
         "    rows[threadIdx.x / 4][threadIdx.x % 4] = 0;\n"
         "    __syncwarp();\n"
         "    std::uint32_t one[1];\n"
         "    ptx::ldmatrix(one, rows[threadIdx.x % 8]);\n"
         "}\n"
         "int main() { kernel<<<1, 32>>>(); return cudaDeviceSynchronize() == cudaSuccess ? 0 : 3; }\n");
    ASSERT_TRUE(compiles("-std=c++20 -I" + fs::current_path().string() + " a.cu -o a"));
    const checker::Finished noted = shell("./a");
    EXPECT_EQ(noted.status, 0);
    EXPECT_TRUE(noted.output.starts_with("simt: note: a.cu:7: reads 16 bytes at rows[")) << noted.output;
    EXPECT_NE(noted.output.find("only __align__(16) in the declaration promises it"), std::string::npos)
        << noted.output;
}

TEST_F(Driver, AHeaderThatTheDeviceLacksIsRefusedWhereItIsUsed) {
    const std::vector<std::array<const char*, 3>> headers = {
        {"cuda.h", "CUtensorMap m;", "CUtensorMap is not on the CPU device: it has no tensor maps (TMA)"},
        {"cuda.h", "auto e = cuTensorMapEncodeTiled;",
         "cuTensorMapEncodeTiled is not on the CPU device: it has no tensor maps (TMA)"},
        {"cuda.h", "auto s = CU_TENSOR_MAP_SWIZZLE_128B;",
         "CU_TENSOR_MAP_SWIZZLE_128B is not on the CPU device: it has no tensor maps (TMA)"},
        {"cuda.h", "CUcontext c;", "CUcontext is not on the CPU device: it has no driver API"},
        {"cuda.h", "CUmemAllocationProp p;", "CUmemAllocationProp is not on the CPU device: it has no driver API"},
        {"cuda.h", "void f() { cuMemAlloc_v2(nullptr, 4); }",
         "cuMemAlloc_v2 is not on the CPU device: it has no driver API"},
        {"cublas_v2.h", "float dot() { return cublasSdot(nullptr, 0); }",
         "cublasSdot is not on the CPU device: it has no such function of cuBLAS (LIBRARIES.md)"},
        {"cublasLt.h", "auto log = cublasLtLoggerSetLevel;",
         "cublasLtLoggerSetLevel is not on the CPU device: it has no log of cuBLASLt"},
        {"cublasLt.h", "auto tile = CUBLASLT_MATMUL_TILE_128x128;",
         "CUBLASLT_MATMUL_TILE_128x128 is not on the CPU device: it has no choice of cuBLASLt's algorithms by "
         "hand"},
        {"curand.h", "curandGenerator_t g;", "curandGenerator_t is not on the CPU device: it has no cuRAND"},
        {"cudnn.h", "cudnnHandle_t h;", "cudnnHandle_t is not on the CPU device: it has no cuDNN"},
        {"nccl.h", "ncclComm_t c;", "ncclComm_t is not on the CPU device: it has no NCCL"},
        {"cub/cub.cuh", "using Sum = cub::BlockReduce<int, 32>;", "cub is not on the CPU device: it has no CUB"},
        {"thrust/sort.h", "void f(int* x) { thrust::sort(x, x + 3); }",
         "thrust is not on the CPU device: it has no Thrust"}};
    for (const char* ending : {"cu", "cpp"}) {
        for (const auto& [header, use, refusal] : headers) {
            file(fmt::format("a.{}", ending),
                 fmt::format("#include <{}>\n#define CHECK(x) cublasCheck(x)\nint thrust = 0, cub = 0;\nint main() {{ "
                             "return thrust + cub; }}\n",
                             header));
            const Finished included = simtcc(fmt::format("a.{} -o a", ending));
            EXPECT_EQ(included.status, 0) << header << '\n' << included.output;
            file(fmt::format("a.{}", ending), fmt::format("#include <{}>\n\n{}\nint main() {{}}\n", header, use));
            const Finished used = simtcc(fmt::format("a.{} -o a", ending));
            EXPECT_EQ(used.status, 1);
            EXPECT_EQ(used.output, fmt::format("a.{}:3: error: {}\n", ending, refusal));
        }
    }
}

TEST_F(Driver, APartOfCudaThatTheDeviceLacksIsRefusedInOneLine) {
    const std::vector<std::array<const char*, 2>> uses = {
        {"__global__ void k(cudaTextureObject_t t) {}",
         "cudaTextureObject_t is not on the CPU device: it has no textures"},
        {"__device__ float f(int t) { return tex2D<float>(t, 0, 0); }",
         "tex2D is not on the CPU device: it has no textures"},
        {"cudaArray_t array;", "cudaArray_t is not on the CPU device: it has no textures"},
        {"cudaSurfaceObject_t s;", "cudaSurfaceObject_t is not on the CPU device: it has no surfaces"},
        {"cudaIpcMemHandle_t handle;",
         "cudaIpcMemHandle_t is not on the CPU device: it has no memory of other processes (IPC)"},
        {"auto f = &cudaGraphAddChildGraphNode;",
         "cudaGraphAddChildGraphNode is not on the CPU device: it has no child graphs"},
        {"cudaGraphConditionalHandle h;",
         "cudaGraphConditionalHandle is not on the CPU device: it has no conditional nodes of graphs"},
        {"cudaMemAllocNodeParams p;",
         "cudaMemAllocNodeParams is not on the CPU device: it has no memory nodes of graphs"},
        {"auto f = &cudaGraphAddMemFreeNode;",
         "cudaGraphAddMemFreeNode is not on the CPU device: it has no memory nodes of graphs"},
        {"auto f = &cudaGraphAddEventRecordNode;",
         "cudaGraphAddEventRecordNode is not on the CPU device: it has no event nodes of graphs"},
        {"cudaExternalSemaphore_t s;",
         "cudaExternalSemaphore_t is not on the CPU device: it has no external semaphores"},
        {"cudaUserObject_t o;", "cudaUserObject_t is not on the CPU device: it has no user objects of graphs"},
        {"auto s = cudaStreamGraphTailLaunch;",
         "cudaStreamGraphTailLaunch is not on the CPU device: it has no launches of graphs from kernels"},
        {"auto s = cuGreenCtxCreate;", "cuGreenCtxCreate is not on the CPU device: it has no green contexts"},
        {"cudaMipmappedArray_t m;", "cudaMipmappedArray_t is not on the CPU device: it has no textures"},
        {"cudaExternalMemory_t m;", "cudaExternalMemory_t is not on the CPU device: it has no external memory"},
        {"cudaGraphicsResource* r;", "cudaGraphicsResource is not on the CPU device: it has no graphics"},
        {"cudaLibrary_t l;", "cudaLibrary_t is not on the CPU device: it has no kernels that are loaded at run time"},
        {"cudaMemcpyAttributes a;", "cudaMemcpyAttributes is not on the CPU device: it has no copies in batches"},
        {"cudaMemFabricHandle_t h;",
         "cudaMemFabricHandle_t is not on the CPU device: it has no memory of other processes (IPC)"},
        {"cudaUUID_t u;", "cudaUUID_t is not on the CPU device: it has no such type of the runtime"},
        {"__device__ void f() { asm(\"membar.gl;\"); }", "inline PTX is not on the CPU device"}};
    for (const auto& [use, refusal] : uses) {
        file("a.cu",
             fmt::format("#include <cuda_runtime.h>\nint tex2D, *tex1Dfetch = &tex2D;\n{}\nint main() {{}}\n", use));
        EXPECT_EQ(simtcc("a.cu -o a").output, fmt::format("a.cu:3: error: {}\n", refusal));
    }
}

TEST_F(Driver, PartsOfCooperativeGroupsThatCudaOrTheDeviceLacksDoNotCompile) {
    const std::vector<std::array<const char*, 2>> uses = {
        {"cg::tiled_partition<12>(block).sync();", "a tile has 1, 2, 4, 8, 16, 32, 64, 128, 256, 512 or 1024 threads"},
        {"cg::tiled_partition<32>(tile);", "a tile is smaller than the tile that it is a part of"},
        {"cg::tiled_partition<4>(cg::coalesced_threads());", "of another group tiled_partition(group, N) makes parts"},
        {"cg::reduce(block, 1, cg::plus<int>());", "cg::reduce takes a tile or a coalesced group"},
        {"cg::reduce(tile, 1.0f, cg::plus<int>());", "the operator's result has another type than the values"},
        {"cg::reduce(large, Two(), [](Two a, Two) { return a; });", "exchanges values of at most 8 bytes"},
        {"cg::reduce(tile, Five(), [](Five a, Five) { return a; });", "exchanges values of at most 32 bytes"},
        {"cg::inclusive_scan(cg::this_grid(), 1, cg::plus<int>());", "cg::inclusive_scan takes a tile or a coalesced"},
        {"cg::exclusive_scan(tile, 'a', [](int a, int b) { return a + b; });", "which CUDA refuses"},
        {"large.shfl_down(1, 1);", "a tile of more than 32 threads has no such function, under CUDA either"},
        {"large.ballot(1);", "a tile of more than 32 threads has no such function, under CUDA either"},
        {"cg::labeled_partition(large, 1);", "it takes a tile of at most 32 threads or a coalesced group"},
        {"cg::binary_partition(block, true);", "it takes a tile of at most 32 threads or a coalesced group"},
        {"cg::labeled_partition(tile, 1.0f);", "a label is an integer or a pointer"},
        {"cg::invoke_one_broadcast(block, [] { return 1; });", "it takes a tile or a coalesced group, under CUDA too"},
        {"cg::invoke_one_broadcast(tile, [] {});", "invoke_one_broadcast is of a function with a result"},
        {"cg::this_cluster();", "clusters are not on the CPU device"},
        {"cg::this_grid().barrier_arrive();", "barrier_arrive is not on the CPU device"}};
    std::string program =
        "#include <cooperative_groups/reduce.h>\n#include <cooperative_groups/scan.h>\n"
        "namespace cg = cooperative_groups;\nstruct Two { double a[2]; };\nstruct Five { double a[5]; };\n"
        "__global__ void k() {\nconst auto block = cg::this_thread_block();\n"
        "const auto tile = cg::tiled_partition<32>(block);\nconst auto large = cg::tiled_partition<64>(block);\n";
    const auto first = std::count(program.begin(), program.end(), '\n') + 1;
    for (const auto& [use, refusal] : uses) { program += fmt::format("{}\n", use); }
    file("a.cu", program + "}\nint main() {}\n");
    const Finished compile = simtcc("a.cu -o a");
    EXPECT_EQ(compile.status, 1);
    for (std::size_t i = 0; i < uses.size(); i++) {
        const auto [use, refusal] = uses[i];
        EXPECT_NE(compile.output.find(refusal), std::string::npos) << use << '\n' << compile.output;
        EXPECT_NE(compile.output.find(fmt::format("a.cu:{}:", first + static_cast<long>(i))), std::string::npos) << use;
    }
}

TEST_F(Driver, PartsOfAsynchronousCopiesThatTheDeviceLacksDoNotCompile) {
    const auto in_kernel = [&](const std::string& line) {
        file("a.cu", fmt::format("#include <cooperative_groups/memcpy_async.h>\n#include <cuda/pipeline>\n#include "
                                 "<cuda_pipeline.h>\nnamespace cg = cooperative_groups;\n__global__ void k(int* x) "
                                 "{{\n{}\n}}\nint main() {{}}\n",
                                 line));
        const Finished compile = simtcc("a.cu -o a");
        EXPECT_EQ(compile.status, 1) << line;
        EXPECT_NE(compile.output.find("a.cu:6"), std::string::npos) << compile.output;
        return compile.output;
    };
    EXPECT_NE(in_kernel("__shared__ cuda::barrier<cuda::thread_scope_block> b; "
                        "cuda::device::barrier_native_handle(b);")
                  .find("barrier_native_handle is not on the CPU device"),
              std::string::npos);
    EXPECT_NE(in_kernel("__pipeline_arrive_on(nullptr);").find("__pipeline_arrive_on is not on the CPU device"),
              std::string::npos);
    EXPECT_NE(in_kernel("cg::memcpy_async(cg::this_grid(), x, x, 4);")
                  .find("cg::memcpy_async takes a block, a tile or a coalesced group"),
              std::string::npos);
}

TEST_F(Driver, AtomicsConvertTheirValueAsCudaDoesAndTakeOnlyItsTypes) {
    const auto in_kernel = [&](const std::string& line) {
        file("a.cu",
             fmt::format("#include <cuda_fp16.h>\nenum E {{ e }};\n__global__ void k(int* i, unsigned* u, long* l, "
                         "unsigned long long* ull, float* f, double* d, __half* h, __half2* h2) {{\n{}\n}}\n"
                         "int main() {{}}\n",
                         line));
        return simtcc("-c a.cu");
    };
    for (const char* line :
         {"atomicAdd(u, 1); atomicAdd(u, -1); atomicAdd(i, 1.5f); atomicSub(u, 1L); atomicOr(i, e); atomicAnd(u, "
          "true);",
          "atomicAdd(ull, 1); atomicMax(ull, 1u); atomicMin(i, 3u); atomicInc(u, 7); atomicCAS(ull, 0, 1);",
          "atomicAdd(f, 1); atomicAdd(f, 2.0); atomicAdd(d, 1.0f); atomicExch(f, 0); atomicAdd_block(f, 'c');",
          "atomicAdd(h, __float2half(1.0f)); atomicAdd(f, __half2float(*h)); atomicAdd(h2, __half2half2(*h));",
          "__shared__ int a[3], b; atomicAdd(a, 1); atomicAdd(&b, 1); int* const p = a + 1; atomicCAS_system(p, 1, "
          "2);",
          "int (*add)(int*, int) = atomicAdd; add(i, 1);"}) {
        const Finished compile = in_kernel(line);
        EXPECT_EQ(compile.status, 0) << line << '\n' << compile.output;
    }
    const Finished refused = in_kernel("atomicAdd(l, 1);");
    EXPECT_NE(refused.output.find("a.cu:4:10: error: no matching function for call to ‘atomicAdd(long int*&, int)’"),
              std::string::npos)
        << refused.output;
    EXPECT_NE(refused.output.find("OneOf<T, int, unsigned int, long long unsigned int, float, double>"),
              std::string::npos)
        << refused.output;
    for (const char* line : {"atomicMax(f, 1.0f);", "atomicSub(ull, 1);", "atomicInc(i, 1);", "atomicAnd(f, 1);"}) {
        EXPECT_EQ(in_kernel(line).status, 1) << line;
    }
}

TEST_F(Driver, AKernelThatReturnsAValueDoesNotCompile) {
    file("a.cu", "__global__ void k(int n) {\n    if (n > 3) { return 0; }\n}\nint main() { k<<<1, 1>>>(2); }\n");
    const Finished compile = simtcc("a.cu -o a");
    EXPECT_EQ(compile.status, 1);
    EXPECT_NE(compile.output.find("a.cu:2:25: error: return-statement with a value"), std::string::npos)
        << compile.output;
}

// What a kernel of 64 threads with `body`, compiled for T = float, is told of; x points to 64 floats, 4 bytes beyond a
// multiple of 16.
class Findings : public Driver {
  protected:
    std::string of(const std::string& body) const {
        file("a.cu",
             fmt::format("#include <cuda_runtime.h>\ntemplate <class T> __global__ void k(T* x) {{\n    const int i = "
                         "threadIdx.x;\n{}\n}}\nint main() {{\n    float* x;\n    cudaMalloc(&x, 300);\n    "
                         "cudaMemset(x, 0, 300);\n    k<<<1, 64>>>(x + 1);\n    cudaDeviceSynchronize();\n    "
                         "cudaFree(x);\n}}\n",
                         body));
        const Finished compile = simtcc("a.cu -o a");
        EXPECT_EQ(compile.status, 0) << compile.output;
        return shell("./a").output;
    }
    void expect(const std::string& body, const std::string& text) const {
        const std::string said = of(body);
        EXPECT_NE(said.find(text), std::string::npos) << text << " in\n" << said;
    }
};

TEST_F(Findings, NameTheElementOfASharedArrayByItsIndices) {
    const std::string unwritten = "that no thread of the block has written: ";
    expect("__shared__ T tile[8][33]; x[i] = tile[3][i / 64 + 2];", unwritten + "tile[3][2] of tile[8][33]\n");
    expect("__shared__ volatile int4 wide[2]; x[i] = wide[1].z;", unwritten + "byte 8 of wide[1] of wide[2]\n");
    expect("__shared__ T sum; x[i] = sum;", unwritten + "sum\n");
    expect("{ __shared__ T a[2]; a[i % 2] = 0; } { __shared__ T a[3][4]; x[i] = a[1][1]; }",
           unwritten + "a[1][1] of a[3][4]\n");
    expect("__shared__ T one[4], other[5]; one[0] = 0; x[i] = other[3];", unwritten + "other[3] of other[5]\n");
}

TEST_F(Findings, OfReadsThatComeTooEarlyBeginWithTheRace) {
    const std::string said = of("__shared__ T tile[64];\n tile[i] = 1;\n x[i] = tile[(i + 1) % 64];");
    const std::size_t race = said.find("simt: race shared"), read = said.find("simt: uninitialised shared");
    EXPECT_LT(race, read) << said;
    EXPECT_NE(read, std::string::npos) << said;
}

TEST_F(Findings, OfAMisalignedAddressNameTheElementAndWhatIsNeeded) {
    expect("if (i == 0) { const float4 four = *reinterpret_cast<float4*>(x); x[4] = four.x + four.w; }",
           "misaligned global: reads 16 bytes at byte 4 of a buffer of 300 bytes from a.cu:8: the address is a "
           "multiple of 4 only, and a float4 needs one of 16\n");
    expect("__shared__ T tile[9]; tile[i % 9] = 0; if (i < 8) { *x = *reinterpret_cast<double*>(tile + i); }",
           "] of tile[9]: the address is a multiple of 4 only, and must be one "
           "of 8\n");
}

TEST_F(Driver, KernelsOfOneNameInTwoFilesEachHaveTheirOwnSharedMemory) {
    const auto text = [](int bytes, const char* name) {
        return fmt::format(
            "#include <cstdio>\nnamespace {{\n__global__ void k(char* x) {{\n    __shared__ char tile[{}];\n"
            "    tile[0] = 1;\n    *x = tile[0];\n}}\n}}\nvoid {}() {{\n    cudaFuncAttributes a;\n    "
            "cudaFuncGetAttributes(&a, k);\n    std::printf(\"%zu\\n\", a.sharedSizeBytes);\n}}\n",
            bytes, name);
    };
    file("a.cu", text(30000, "a"));
    file("b.cu", text(40000, "b") + "void a();\nint main() { a(); b(); }\n");
    ASSERT_EQ(simtcc("-dc a.cu -o a.o").status, 0);
    ASSERT_EQ(simtcc("b.cu a.o -o program").status, 0);
    EXPECT_EQ(shell("./program").output, "30000\n40000\n");
}

TEST_F(Findings, OfACollectiveThatNeverCompletesSayWhichLanesAreInWhichCall) {
    expect(
        "int y;\n if (i % 2 == 0) { y = __shfl_down_sync(~0u, i, 1); }\n else { y = __shfl_xor_sync(~0u, i, 1); }\n"
        " x[i] = y;",
        "collective: __shfl_down_sync with mask 0xffffffff, which lanes 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, "
        "24, "
        "26, 28, 30 call, waits for lanes 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, which never "
        "come: "
        "lanes 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31 wait at __shfl_xor_sync with mask "
        "0xffffffff, "
        "a.cu:6\n  at a.cu:5 ");
    expect("if (i < 31) { __syncwarp(); }\n else if (i == 31) {\n while (true) { __syncthreads(); }\n }\n *x = 0;",
           "collective: __syncwarp with mask 0xffffffff, which lanes 0-30 call, waits for lane 31, which never comes: "
           "lane "
           "31 waits at a barrier of the block, a.cu:6\n  at a.cu:4 ");
}

TEST_F(Driver, AMissingFileIsOneLine) {
    const Finished compile = simtcc("none.cu");
    EXPECT_EQ(compile.status, 1);
    EXPECT_EQ(compile.output, "simtcc: none.cu: no such file\n");
}

TEST_F(Driver, AnExceptionThatNobodyCatchesStillShowsTheFindings) {
    file("a.cu",
         "#include <stdexcept>\n__global__ void k(int* x) { *x = 1; }\nint main() {\n k<<<1, 1>>>(nullptr);\n"
         " if (cudaDeviceSynchronize() != cudaSuccess) { throw std::runtime_error(\"failed\"); }\n}\n");
    ASSERT_EQ(simtcc("a.cu -o a").status, 0);
    const Finished run = shell("./a");
    EXPECT_NE(run.status, 0);
    EXPECT_NE(run.output.find("null_pointer"), std::string::npos) << run.output;
    EXPECT_NE(run.output.find("a.cu:2 in k"), std::string::npos) << run.output;
}

TEST_F(Driver, AKernelThatIsCalledLikeAFunctionIsAFinding) {
    file("a.cu",
         "__global__ void k(int* x) { *x = 1; }\nint main() {\n int* x; cudaMalloc(&x, 4);\n k(x);\n "
         "cudaFree(x);\n}\n");
    ASSERT_EQ(simtcc("a.cu -o a").status, 0);
    const Finished run = shell("./a");
    EXPECT_EQ(run.status, 1);
    EXPECT_NE(run.output.find("bad_launch: k is called like a function: a kernel needs <<<…>>>"), std::string::npos)
        << run.output;
    EXPECT_NE(run.output.find("a.cu:1"), std::string::npos) << run.output;
}

TEST_F(Driver, TexturesAreNamed) {
    file("a.cu",
         "__global__ void k(float* x, int i) {\n *x = tex1Dfetch<float>(cudaTextureObject_t(), i);\n}\n"
         "int main() {}\n");
    const Finished compile = simtcc("a.cu -o a");
    EXPECT_EQ(compile.status, 1);
    EXPECT_NE(compile.output.find("tex1Dfetch is not on the CPU device"), std::string::npos) << compile.output;
    EXPECT_NE(compile.output.find("a.cu:2:"), std::string::npos) << compile.output;
}

TEST_F(Driver, AnInterruptLeavesNoTemporaryFolderAndNoOutput) {
    // A compiler that does not come to an end, and tells that it has begun.
    file("slow.sh", "#!/bin/sh\ntouch begun\nexec sleep 60\n");
    fs::permissions(folder_ / "slow.sh", fs::perms::owner_all);
    file("a.cu", "int main() {}\n");
    fs::create_directories(folder_ / "tmp");
    const Finished run = shell(fmt::format(
        "TMPDIR=$PWD/tmp CXX=$PWD/slow.sh {}/build/simtcc a.cu -o a & compiler=$!; while [ ! -e begun ]; do sleep "
        "0.02; done; ls tmp | wc -l; kill -TERM $compiler; wait $compiler 2>none; echo $?",
        fs::current_path().string()));
    EXPECT_EQ(run.output, "1\n143\n");
    EXPECT_TRUE(fs::is_empty(folder_ / "tmp"));
    EXPECT_FALSE(fs::exists(folder_ / "a"));
}

TEST_F(Driver, WithADefaultStreamForEachThreadTheLegacyOneDoesNotComeInBetween) {
    file("a.cu",
         "#include <cstdio>\n#include <cuda_runtime.h>\n__global__ void set(int* x, int v) { x[threadIdx.x] = v; }\n"
         "int main() {\n int* x; cudaMalloc(&x, 128); cudaStream_t s; cudaStreamCreate(&s);\n"
         " set<<<1, 32>>>(x, 1);\n set<<<1, 32, 0, s>>>(x, 2);\n cudaDeviceSynchronize(); cudaStreamDestroy(s); "
         "cudaFree(x);\n}\n");
    ASSERT_EQ(simtcc("a.cu -o legacy").status, 0);
    EXPECT_EQ(shell("./legacy").status, 0) << "the default stream and a blocking one wait for each other";
    ASSERT_EQ(simtcc("--default-stream per-thread a.cu -o own").status, 0);
    const Finished own = shell("./own");
    EXPECT_EQ(own.status, 1);
    EXPECT_NE(own.output.find("race streams"), std::string::npos) << own.output;
    EXPECT_NE(own.output.find("the per-thread default stream"), std::string::npos) << own.output;
}

// A CPU device of its own: simtcc, what it calls, and a copy of the headers.
class CompiledHeaders : public Driver {
  protected:
    void SetUp() override {
        Driver::SetUp();
        const fs::path course = fs::current_path();
        fs::create_directories(folder_ / "checker/simt");
        fs::create_directories(folder_ / "build");
        fs::copy(course / "checker/simt/include", folder_ / "checker/simt/include", fs::copy_options::recursive);
        for (const char* program : {"simtcc", "simt-lower"}) {
            fs::copy(course / "build" / program, folder_ / "build" / program);
        }
        fs::create_symlink(course / "build/lib", folder_ / "build/lib");
        file("a.cu", "#include <cuda_runtime.h>\nint main() { return sizeof(float4); }\n");
    }

    Finished compile(const std::string& arguments) const { return shell("build/simtcc " + arguments); }
    std::vector<fs::path> made() const {
        std::vector<fs::path> files;
        for (const fs::directory_entry& file : fs::recursive_directory_iterator(folder_ / "build/headers")) {
            if (file.path().extension() == ".gch") {
                files.push_back(file.path());
            }
        }
        return files;
    }
};

TEST_F(CompiledHeaders, AreMadeOnceForEachSetOfFlags) {
    ASSERT_EQ(compile("-c a.cu -o a.o").output, "");
    ASSERT_EQ(made().size(), 1U);
    const fs::file_time_type when = fs::last_write_time(made()[0]);
    ASSERT_EQ(compile("-DN=3 -Xcompiler -Wall,-Winvalid-pch a.cu -o a").output, "");
    ASSERT_EQ(made().size(), 1U);
    EXPECT_EQ(fs::last_write_time(made()[0]), when);
    EXPECT_EQ(shell("./a").status, 16);
    ASSERT_EQ(compile("--unchecked -c a.cu -o a.o").output, "");
    EXPECT_EQ(made().size(), 2U);
    ASSERT_EQ(compile("-shared -Xcompiler -Winvalid-pch a.cu -o a.so").output, "");
    EXPECT_EQ(made().size(), 3U);
    file("b.cu", "#include <cuda_runtime.h>\n#include <string>\nint main() { return std::string(7, ' ').size(); }\n");
    ASSERT_EQ(compile("--included cstddef,string -Xcompiler -Winvalid-pch b.cu -o b").output, "");
    EXPECT_EQ(made().size(), 4U);
    EXPECT_EQ(shell("./b").status, 7);
}

TEST_F(CompiledHeaders, AreMadeByOneOfSeveralProcesses) {
    const Finished all = shell(
        "for i in 1 2 3; do build/simtcc --verbose -c a.cu -o $i.o & all=\"$all $!\"; done\n"
        "for one in $all; do wait $one || exit; done");
    ASSERT_EQ(all.status, 0) << all.output;
    for (const char* object : {"1.o", "2.o", "3.o"}) { EXPECT_TRUE(fs::exists(folder_ / object)); }
    std::size_t headers = 0;
    for (std::size_t at = 0; (at = all.output.find("c++-header", at)) != std::string::npos; at++) { headers++; }
    EXPECT_EQ(headers, 1U) << all.output;
}

TEST_F(CompiledHeaders, ServeOptionsOfMessages) {
    ASSERT_EQ(compile("-c a.cu -o a.o").output, "");
    const Finished again =
        compile("--verbose -Xcompiler -ftemplate-backtrace-limit=1,-fdiagnostics-color=never -c a.cu -o b.o");
    ASSERT_EQ(again.status, 0) << again.output;
    EXPECT_EQ(again.output.find("c++-header"), std::string::npos) << again.output;
    EXPECT_EQ(made().size(), 1U);
}

TEST_F(CompiledHeaders, AreReadAgainWhereOneHasChanged) {
    file("b.cu", "int main() { return THE_ANSWER; }\n");
    ASSERT_EQ(compile("-c a.cu -o a.o").output, "");
    ASSERT_NE(compile("b.cu -o b").status, 0);
    std::ofstream(folder_ / "checker/simt/include/simt/clock.h", std::ios::app) << "#define THE_ANSWER 42\n";
    ASSERT_EQ(compile("b.cu -o b").output, "");
    EXPECT_EQ(shell("./b").status, 42);
}

TEST_F(CompiledHeaders, AreLeftWhereTheUsersOptionsMayNotFitThem) {
    ASSERT_EQ(compile("-Xcompiler -O3,-ffast-math a.cu -o a").output, "");
    EXPECT_EQ(shell("./a").status, 16);
    EXPECT_FALSE(fs::exists(folder_ / "build/headers"));
    file("first.h", "#define NDEBUG\n#define SIZE sizeof(float2)\n");
    file("b.cu", "int main() { return SIZE; }\n");
    EXPECT_EQ(compile("-include first.h b.cu -o b").output, "");
    EXPECT_EQ(shell("./b").status, 8);
}

TEST_F(CompiledHeaders, AreDoneWithoutWhereTheyCannotBeKept) {
    file("build/headers", "");
    ASSERT_EQ(compile("a.cu -o a").output, "");
    EXPECT_EQ(shell("./a").status, 16);
}

TEST_F(CompiledHeaders, AreNamedToMakeByTheHeadersThatTheyComeFrom) {
    for (int i = 0; i < 2; i++) {
        ASSERT_EQ(compile("-MMD -MF a.d -c a.cu -o a.o").output, "");
        std::ifstream in(folder_ / "a.d");
        const std::string list(std::istreambuf_iterator<char>(in), {});
        EXPECT_NE(list.find("checker/simt/include/cuda_runtime.h"), std::string::npos) << list;
        EXPECT_EQ(list.find(".gch"), std::string::npos) << list;
    }
}

TEST_F(Driver, ArithmeticIsCountedOnDemand) {
    if (const char* why = simt::why_no_arithmetic()) {
        GTEST_SKIP() << why;
    }
    file("a.cu",
         "__global__ void k(float* x) { x[threadIdx.x] = x[threadIdx.x] * 2.0f + 1.0f; }\n"
         "int main() { float* x; cudaMalloc(&x, 128); cudaMemset(x, 0, 128); k<<<1, 32>>>(x); return cudaFree(x); "
         "}\n");
    ASSERT_EQ(simtcc("--arithmetic a.cu -o a").output, "");
    EXPECT_NE(shell("SIMT_TRAFFIC=1 ./a").output.find("fused multiply-adds "), std::string::npos);
    ASSERT_EQ(simtcc("a.cu -o a").output, "");
    EXPECT_EQ(shell("SIMT_TRAFFIC=1 ./a").output.find("fused multiply-adds "), std::string::npos);
}

TEST_F(Driver, UncheckedOnlyRuns) {
    file("a.cu",
         "__global__ void k(int* x) { x[threadIdx.x] += 1; }\nint main() {\n int* x; cudaMalloc(&x, 4);\n k<<<1, "
         "2>>>(x);\n return 3; }\n");
    ASSERT_EQ(simtcc("a.cu -o a").status, 0);
    const Finished run = shell("SIMT_CHECK=off ./a");
    EXPECT_EQ(run.status, 3);
    EXPECT_EQ(run.output, "");
    EXPECT_EQ(shell("./a").status, 1);
}

// The hooks let a thread pass that is among the readers of a word already.
TEST_F(Driver, JudgesAReaderAgain) {
    file("a.cu", R"(#include <cstdlib>
__global__ void unwritten(int* out, const int* x) {
    for (int i = 0; i < 3; i++) { out[i] = x[0]; }
}
__global__ void freed(int* out) {
    int* p = static_cast<int*>(malloc(64));
    p[0] = 1;
    for (int i = 0; i < 2; i++) { out[i] = p[0]; }
    free(p);
    out[2] = p[0];
}
int main() {
    int *x, *out;
    cudaMalloc(&x, 4); cudaMalloc(&out, 12);
    unwritten<<<1, 1>>>(out, x);
    freed<<<1, 1>>>(out);
    cudaFree(x); cudaFree(out);
}
)");
    ASSERT_EQ(simtcc("a.cu -o a").output, "");
    const std::string said = shell("./a").output;
    EXPECT_NE(said.find("at a.cu:3 in unwritten, block (0, 0, 0), thread (0, 0, 0); 3 times"), std::string::npos)
        << said;
    EXPECT_NE(said.find("at a.cu:10 in freed"), std::string::npos) << said;
}

// Code without hooks does not tell what it writes: an atomic that reads it must not take it for unwritten.
TEST_F(Driver, OfUncheckedCodeAtomicsAreNotJudgedEither) {
    file("a.cu", R"(#include <cuda_fp16.h>
__global__ void clear(int* x, float* f, __half* h) { *x = 0; *f = 0; *h = 0; }
__global__ void count(int* x, float* f, __half* h) {
    __shared__ int here;
    if (threadIdx.x == 0) { here = 0; }
    __syncthreads();
    atomicAdd(&here, 1);
    __syncthreads();
    if (threadIdx.x == 0) { atomicAdd(x, here); atomicCAS(x, 33, 3); atomicAdd(f, 1.0f); atomicAdd(h, __half(1.0f)); }
}
int main() {
    int *x, got; float* f; __half* h;
    cudaMalloc(&x, 4); cudaMalloc(&f, 4); cudaMalloc(&h, 2);
    clear<<<1, 1>>>(x, f, h);
    count<<<1, 33>>>(x, f, h);
    cudaMemcpy(&got, x, 4, cudaMemcpyDeviceToHost);
    cudaFree(x); cudaFree(f); cudaFree(h);
    return got;
}
)");
    ASSERT_EQ(simtcc("--unchecked a.cu -o a").output, "");
    const Finished run = shell("./a");
    EXPECT_EQ(run.output, "");
    EXPECT_EQ(run.status, 3);
}

}  // namespace
