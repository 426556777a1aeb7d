// SPDX-License-Identifier: MIT
//
// Looking at one CUDA thread: in gdb, driven by its commands, and as the list of its accesses.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "checker/tests/output.h"

namespace {

namespace fs = std::filesystem;
using checker::Finished;

constexpr const char* kReverse = R"(#include <cstdio>

template <int N>
__global__ void reverse(int* out, const int* in, int n) {
    __shared__ int tile[N];
    const int i = threadIdx.x;
    const int doubled = 2 * in[blockIdx.x * n + i];
    tile[i] = doubled;
    __syncthreads();
    const int other = tile[n - 1 - i];
    __syncthreads();
    out[blockIdx.x * n + i] = other;
}

__global__ void count(int* sum) { atomicAdd(sum, 1); }

int main() {
    constexpr int kN = 64, kBlocks = 3;
    int host[kN * kBlocks];
    for (int i = 0; i < kN * kBlocks; i++) { host[i] = 10 * i; }
    int *in, *out;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    reverse<kN><<<kBlocks, kN>>>(out, in, kN);
    count<<<1, dim3(4, 2)>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    std::printf("out[0] is %d\n", host[0]);
    cudaFree(in);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
)";

constexpr const char* kShift = R"(__device__ float half(int i) { return 0.5f * i; }
__global__ void shift(float* out) {
    const float next = __shfl_down_sync(0xffffffff, half(threadIdx.x), 1);
    __syncwarp();
    out[threadIdx.x] = next;
}
int main() {
    float* out;
    cudaMalloc(&out, 32 * sizeof(float));
    shift<<<1, 32>>>(out);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
)";

constexpr const char* kAsync = R"(#include <cuda_pipeline.h>
__global__ void pass(int* out, const int* in) {
    __shared__ int tile[64];
    const int i = threadIdx.x;
    __pipeline_memcpy_async(&tile[i], &in[i], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[i] = tile[i];
}
int main() {
    int host[64] = {5, 6, 7, 8};
    int *in, *out;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    pass<<<1, 64>>>(out, in);
    cudaFree(in);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
)";

constexpr const char* kWrong = R"(__global__ void wrong(int* x) {
    if (threadIdx.x == 3) { x[3] = x[2]; }
    __syncthreads();
    x[threadIdx.x] = 0;
}
__global__ void trap() { __trap(); }
int main(int count, char**) {
    if (count > 1) { trap<<<1, 1024>>>(); } else { wrong<<<1, 4>>>(nullptr); }
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
)";

// As its user calls it, whatever make runs this test.
Finished make(const std::string& arguments) {
    return shell("env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make " + arguments);
}

// A program, compiled with these options.
std::string program(const std::string& name, const char* text, const std::string& options = "") {
    const fs::path folder = "build/tests/simt/debug";
    fs::create_directories(folder);
    std::ofstream(folder / (name + ".cu")) << text;
    const std::string binary = (folder / (name + options)).string();
    const Finished compiled =
        shell(fmt::format("build/simtcc {} {}/{}.cu -o {}", options, folder.string(), name, binary));
    EXPECT_EQ(compiled.status, 0) << compiled.output;
    return binary;
}

class Debugger : public testing::Test {
  protected:
    static void SetUpTestSuite() { program("reverse", kReverse, "--for-debugger"); }

    void SetUp() override {
        const std::string tried = shell("gdb -nx -batch -ex 'python print(6 * 7)' -ex run --args /bin/true").output;
        if (!contains(tried, "42\n") || !contains(tried, "exited normally")) {
            GTEST_SKIP() << "no gdb here that has Python and may run programs (apt-get install gdb): " << tried;
        }
    }

    static std::string batch(const std::vector<std::string>& commands) {
        std::string text = "gdb -nx -batch -x checker/simt/debug.py";
        for (const std::string& command : commands) { text += fmt::format(" -ex '{}'", command); }
        return text;
    }

    // gdb in the thread of the first program above that SIMT_STOP names, given these commands.
    static Finished debug(const std::string& stop, const std::vector<std::string>& commands) {
        return shell(
            fmt::format("SIMT_STOP={} {} build/tests/simt/debug/reverse--for-debugger", stop, batch(commands)));
    }
};

TEST_F(Debugger, StopsInTheChosenThreadOfTheChosenBlockAtTheKernelsFirstLine) {
    const Finished gdb = debug("reverse:2,0:17", {"print threadIdx.x", "print blockIdx.x", "next", "next", "print i",
                                                  "print doubled", "print in[n * 2 + i]"});
    EXPECT_TRUE(contains(gdb.output,
                         "block (2, 0, 0), thread (17, 0, 0) of reverse [int N = 64]\n"
                         "  launched <<<(3, 1, 1), (64, 1, 1)>>> at build/tests/simt/debug/reverse.cu:25\n"
                         "#0  reverse<64> (out=0x"))
        << gdb.output;
    EXPECT_TRUE(contains(gdb.output,
                         "n=64) at build/tests/simt/debug/reverse.cu:6\n"
                         "6\t    const int i = threadIdx.x;\n"
                         "$1 = 17\n$2 = 2\n7\t"))
        << gdb.output;
    EXPECT_TRUE(contains(gdb.output, "$3 = 17\n$4 = 2900\n$5 = 1450\n")) << gdb.output;
}

TEST_F(Debugger, ShowsParametersAndVariablesByTheirNamesAndNothingElse) {
    const Finished gdb = debug("::5", {"break 12", "continue", "echo --\\n", "info args", "echo --\\n", "info locals"});
    const std::string locals = gdb.output.substr(gdb.output.rfind("--\n"));
    for (const char* name : {"\ntile = {", "\ni = ", "\ndoubled = ", "\nother = "}) {
        EXPECT_TRUE(contains(locals, name)) << gdb.output;
    }
    EXPECT_FALSE(contains(locals, "simt")) << gdb.output;
    const std::size_t begin = gdb.output.find("--\n");
    const std::string arguments = gdb.output.substr(begin, gdb.output.rfind("--\n") - begin);
    EXPECT_TRUE(contains(arguments, "--\nout = 0x") && contains(arguments, "\nin = 0x") &&
                contains(arguments, "\nn = 64\n"))
        << gdb.output;
    EXPECT_FALSE(contains(arguments, "__closure")) << gdb.output;
}

TEST_F(Debugger, NextOverABarrierStaysInTheThread) {
    for (const unsigned thread : {0U, 31U, 63U}) {
        const Finished gdb = debug(fmt::format("reverse:1:{}", thread),
                                   {"next", "next", "next", "next", "here", "next", "next", "print other", "here"});
        const std::string here = fmt::format("block (1, 0, 0), thread ({}, 0, 0) of reverse", thread);
        const std::size_t first = gdb.output.find("10\t    const int other = tile[n - 1 - i];\n" + here);
        EXPECT_NE(first, std::string::npos) << gdb.output;
        EXPECT_TRUE(contains(gdb.output, fmt::format("12\t    out[blockIdx.x * n + i] = other;\n$1 = {}\n{}",
                                                     20 * (64 + 63 - thread), here)))
            << gdb.output;
    }
}

TEST_F(Debugger, StepGoesIntoTheUsersFunctionsAndOverTheDevicesOwn) {
    const std::string binary = program("shift", kShift, "--for-debugger");
    const Finished gdb =
        shell("SIMT_STOP=::3 " + batch({"step", "backtrace", "step", "here", "step", "print next"}) + ' ' + binary);
    EXPECT_TRUE(contains(gdb.output, "#0  half(int) (i=3) at build/tests/simt/debug/shift.cu:1\n#1  ")) << gdb.output;
    EXPECT_TRUE(contains(gdb.output, "\n4\t    __syncwarp();\nblock (0, 0, 0), thread (3, 0, 0) of shift\n"))
        << gdb.output;
    EXPECT_TRUE(contains(gdb.output, "\n5\t    out[threadIdx.x] = next;\n$1 = 2\n")) << gdb.output;
}

TEST_F(Debugger, ABreakpointOfTheThreadPassesTheOthersBy) {
    const Finished gdb = debug("reverse:2:40", {"at 12", "continue", "here", "print i", "continue"});
    EXPECT_TRUE(contains(gdb.output,
                         "block (2, 0, 0), thread (40, 0, 0) of reverse [int N = 64]\n"
                         "  launched <<<(3, 1, 1), (64, 1, 1)>>> at build/tests/simt/debug/reverse.cu:25\n$1 = 40\n"))
        << gdb.output;
    EXPECT_TRUE(contains(gdb.output, "out[0] is 1268\n") && contains(gdb.output, "exited normally")) << gdb.output;
}

TEST_F(Debugger, ABacktraceEndsAtTheKernel) {
    const Finished gdb = debug("count::5", {"echo --\\n", "backtrace"});
    EXPECT_TRUE(
        contains(gdb.output, "block (0, 0, 0), thread (1, 1, 0) of count\n  launched <<<(1, 1, 1), (4, 2, 1)>>> at "))
        << gdb.output;
    const std::string trace = gdb.output.substr(gdb.output.find("--\n"));
    EXPECT_TRUE(contains(trace, "--\n#0  count (sum=0x")) << trace;
    EXPECT_FALSE(contains(trace, "#1")) << trace;
}

TEST_F(Debugger, AThreadsEndIsSaid) {
    const Finished gdb = debug("count::0", {"next", "next", "continue"});
    EXPECT_TRUE(contains(gdb.output, "the thread is at its end; continue lets the others run\n")) << gdb.output;
    EXPECT_TRUE(contains(gdb.output, "out[0] is 1268\n")) << gdb.output;
}

TEST_F(Debugger, WhatIsNotLaunchedIsRefusedInOneLine) {
    const struct {
        const char *stop, *says;
    } rows[] = {
        {"reverse:3:0", "simt: no launch has block 3 and thread 0: reverse [int N = 64]<<<(3, 1, 1), (64, 1, 1)>>>\n"},
        {"count:0:4,0", "simt: no launch has block 0 and thread 4,0: count<<<(1, 1, 1), (4, 2, 1)>>>\n"},
        {"nothing:0:0", "simt: kernel nothing was not launched; these were: reverse [int N = 64], count\n"},
        {"reverse:0:1x", "simt: thread 1x: it is a number, or x,y or x,y,z\n"},
        {"reverse", "simt: SIMT_STOP=reverse: it is KERNEL:BLOCK:THREAD, as in scale:2,0:17\n"},
    };
    for (const auto& row : rows) {
        const Finished gdb = debug(row.stop, {});
        EXPECT_TRUE(contains(gdb.output, row.says)) << gdb.output;
        EXPECT_EQ(gdb.status, 2) << row.stop;
    }
}

TEST_F(Debugger, MakeOpensItInAThreadOfALessonsKernel) {
    const Finished gdb =
        make("debug-lesson05 SOLUTION=1 BLOCK=2,0 THREAD=17 GDB='gdb -nx -batch -ex \"set height 0\"'");
    EXPECT_EQ(gdb.status, 0) << gdb.output;
    EXPECT_TRUE(contains(gdb.output,
                         "block (2, 0, 0), thread (17, 0, 0) of layernorm_forward_kernel\n"
                         "  launched <<<(4, 1, 1), (32, 1, 1)>>> at solutions/05_naive_forward/layernorm.cu:"))
        << gdb.output;
    EXPECT_TRUE(contains(gdb.output, "\t    const long n = blockIdx.x * blockDim.x + threadIdx.x;")) << gdb.output;

    const Finished stepped =
        shell("SIMT_STOP=:2,0:17 " + batch({"next", "next", "print n", "print inp_n == 0", "print C"}) +
              " --args build/check/lesson05 --one-thread --only layernorm/odd --impl-dir "
              "build/debug/impl/solutions/05_naive_forward");
    EXPECT_TRUE(contains(stepped.output, "$1 = 81\n$2 = false\n$3 = 60\n")) << stepped.output;
}

TEST_F(Debugger, SaysNothingOfSymbolsThatTheChecksOwnProgramLacks) {
    const Finished gdb = make("debug-lesson05 SOLUTION=1 GDB='gdb -nx'");
    EXPECT_TRUE(contains(gdb.output, "block (0, 0, 0), thread (0, 0, 0) of ")) << gdb.output;
    EXPECT_FALSE(contains(gdb.output, "ymbols")) << gdb.output;
}

TEST(Trace, AThreadsAccessesComeInOrderWithWhatTheyMet) {
    const std::string binary = program("reverse", kReverse);
    const Finished trace = shell("SIMT_TRACE=reverse:1:17 " + binary);
    EXPECT_EQ(trace.status, 0);
    EXPECT_EQ(
        trace.output,
        "block (1, 0, 0), thread (17, 0, 0) of reverse [int N = 64]\n"
        "  launched <<<(3, 1, 1), (64, 1, 1)>>> at build/tests/simt/debug/reverse.cu:25\n"
        "reverse.cu:7           load    byte 324 of a buffer of 768 bytes from build/tests/simt/debug/reverse.cu:22  "
        "4 bytes  810\n"
        "reverse.cu:8           store   tile[17]                          4 bytes  1620\n"
        "reverse.cu:9           barrier\n"
        "reverse.cu:10          load    tile[46]                          4 bytes  2200\n"
        "reverse.cu:11          barrier\n"
        "reverse.cu:12          store   byte 324 of a buffer of 768 bytes from build/tests/simt/debug/reverse.cu:23  "
        "4 bytes  2200\n"
        "the thread ends: 4 accesses to memory\n"
        "out[0] is 1268\n");
}

TEST(Trace, ALimitEndsWithHowManyMoreThereAre) {
    const Finished trace = shell("SIMT_TRACE_LIMIT=2 SIMT_TRACE=reverse:1:17 " + program("reverse", kReverse));
    EXPECT_TRUE(contains(trace.output,
                         "  1620\nand 4 more lines, 2 of them accesses to memory\n"
                         "the thread ends: 4 accesses to memory\n"))
        << trace.output;
}

TEST(Trace, ALessonsBuffersAreNamedWithTheirElementsAndTypes) {
    const Finished trace = make("trace-lesson05 SOLUTION=1 ONLY=crossentropy/regular THREAD=11");
    EXPECT_EQ(trace.status, 0);
    EXPECT_EQ(trace.output.substr(0, trace.output.find("8.478")),
              "block (0, 0, 0), thread (11, 0, 0) of crossentropy_forward_kernel\n"
              "  launched <<<(1, 1, 1), (256, 1, 1)>>> at solutions/05_naive_forward/crossentropy.cu:31\n"
              "crossentropy.cu:21     load    targets[b=1, t=3]                 4 bytes  59\n"
              "crossentropy.cu:21     load    probs[b=1, t=3, v=59]             4 bytes  0.000207863\n"
              "crossentropy.cu:21     store   losses[b=1, t=3]                  4 bytes  ");
    EXPECT_TRUE(contains(trace.output, "\nthe thread ends: 3 accesses to memory\n")) << trace.output;
}

TEST(Trace, AnAtomicComesWithWhatItLeaves) {
    const std::string binary = program("reverse", kReverse);
    std::vector<int> sums;
    for (int thread = 0; thread < 8; thread++) {
        const Finished trace = shell(fmt::format("SIMT_TRACE=count:0:{} {}", thread, binary));
        const std::size_t at = trace.output.find("  4 bytes  ");
        ASSERT_TRUE(contains(trace.output, "reverse.cu:15          atomic  byte 0 of a buffer of 768 bytes"))
            << trace.output;
        sums.push_back(std::stoi(trace.output.substr(at + std::string("  4 bytes  ").size())));
    }
    std::sort(sums.begin(), sums.end());
    EXPECT_EQ(sums, (std::vector<int>{1261, 1262, 1263, 1264, 1265, 1266, 1267, 1268}));
}

TEST(Trace, ACollectiveComesWithWhatItTakesAndGives) {
    const Finished trace = shell("SIMT_TRACE=shift:0:3 " + program("shift", kShift));
    EXPECT_TRUE(contains(trace.output,
                         "shift.cu:3             __shfl_down_sync of the lanes 0xffffffff: "
                         "brings 1.5, gets 2\n"
                         "shift.cu:4             __syncwarp of the lanes 0xffffffff\n"))
        << trace.output;
}

TEST(Trace, AnAsynchronousCopyComesWhereItIsIssuedAndIsStoredBehindItsWait) {
    const Finished trace = shell("SIMT_TRACE=pass:0:3 " + program("pass", kAsync));
    EXPECT_EQ(trace.output,
              "block (0, 0, 0), thread (3, 0, 0) of pass\n"
              "  launched <<<(1, 1, 1), (64, 1, 1)>>> at build/tests/simt/debug/pass.cu:16\n"
              "pass.cu:5              copy    byte 12 of a buffer of 256 bytes from build/tests/simt/debug/pass.cu:13  "
              "4 bytes  8\n"
              "pass.cu:7              wait for asynchronous copies\n"
              "pass.cu:5              store   tile[3]                           4 bytes  8\n"
              "pass.cu:8              load    tile[3]                           4 bytes  8\n"
              "pass.cu:8              store   byte 12 of a buffer of 256 bytes from build/tests/simt/debug/pass.cu:14  "
              "4 bytes  8\n"
              "the thread ends: 4 accesses to memory\n");
}

TEST(Trace, AnAccessThatGoesWrongIsTheLastOne) {
    const Finished trace = shell("SIMT_TRACE=wrong:0:3 " + program("wrong", kWrong));
    EXPECT_TRUE(contains(trace.output,
                         "wrong.cu:2             load    address 0x8                       4 bytes\n"
                         "the launch ends here: 1 access to memory\n"
                         "simt: null_pointer: reads 4 bytes through a null pointer (address 0x8)\n"))
        << trace.output;
}

TEST(Trace, AThreadThatDoesNotBeginIsNamedAsSuch) {
    const std::string binary = program("wrong", kWrong);
    int began = 0, never = 0;
    for (const int thread : {5, 517, 1018}) {
        const Finished trace = shell(fmt::format("SIMT_TRACE=trap:0:{} {} all", thread, binary));
        began += contains(trace.output, "the launch ends here: 0 accesses to memory\n") ? 1 : 0;
        never += contains(
            trace.output,
            "simt: the launch ended before the thread began: trap\n  launched <<<(1, 1, 1), (1024, 1, 1)>>> at ");
    }
    EXPECT_EQ(began + never, 3);
    EXPECT_GE(never, 2) << "the first thread that runs ends the launch";
}

TEST(Trace, LessonsWithoutKernelsAndThreadsThatAreNotThereAreRefused) {
    const struct {
        const char *command, *says;
    } rows[] = {
        {"trace-lesson01", "lesson 01 is plain C++ for the CPU; the lessons with kernels are 04 05"},
        {"debug-lesson02", "lesson 02 is plain C++ for the CPU; the lessons with kernels are 04 05"},
        {"traffic-lesson03", "lesson 03 is plain C++ for the CPU; the lessons with kernels are 04 05"},
        {"debug-lesson05 GDB=no-such-gdb", "no-such-gdb is not there: apt-get install gdb"},
        {"trace-lesson05 ONLY=gelu", "lesson 05 has no gelu; it has: attention"},
        {"trace-lesson05 SOLUTION=1 ONLY=crossentropy BLOCK=9999",
         "simt: no launch has block 9999 and thread 0: crossentropy_forward_kernel<<<(1, 1, 1), (256, 1, 1)>>>"},
    };
    for (const auto& row : rows) {
        const Finished refused = make(row.command);
        EXPECT_EQ(refused.status, 2) << row.command;
        EXPECT_TRUE(contains(refused.output, row.says)) << refused.output;
    }
}

}  // namespace
