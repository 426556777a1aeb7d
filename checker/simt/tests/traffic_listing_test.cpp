// SPDX-License-Identifier: MIT
//
// A lesson's kernels as a listing with their traffic: what `make traffic-lesson05` prints.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "checker/tests/output.h"

namespace {

namespace fs = std::filesystem;
using checker::Finished;

constexpr const char* kSource = "solutions/05_naive_forward/layernorm.cu";

Finished listing(const std::string& options, const std::string& lesson = "05") {
    return shell("build/check/lesson" + lesson + " --traffic " + options);
}

// The number of the solution's line with this text.
int line_with(const std::string& text) {
    std::ifstream in(kSource);
    int number = 1;
    for (std::string line; std::getline(in, line); number++) {
        if (contains(line, text)) {
            return number;
        }
    }
    ADD_FAILURE() << text << " is not in " << kSource;
    return 0;
}

// 5 calls of 16 rows of 64: a warp with 16 lanes, each in a row of its own.
TEST(Listing, HasForEachLineItsRequestsSectorsIdealShareAndCode) {
    const Finished run = listing("--subject solutions --only layernorm/regular");
    EXPECT_EQ(run.status, 0);
    EXPECT_TRUE(contains(run.output, fmt::format("layernorm: {} on the CPU device\n", kSource))) << run.output;
    const int sum = line_with("sum += inp_n[c]"), mean = line_with("mean[n] = m");
    EXPECT_TRUE(
        contains(run.output, fmt::format("\n{:>4} ld        320  16.0   2.0         24%  for (int c = 0; ", sum)))
        << run.output;
    EXPECT_TRUE(
        contains(run.output, fmt::format("\n{:>4} st          5   2.0   2.0         <1%  mean[n] = m;\n", mean)))
        << run.output;
    EXPECT_TRUE(contains(run.output, "L1 and L2 are not simulated")) << run.output;
}

TEST(Listing, EndsWithTheTotalsAndTheLineThatMovesMost) {
    const Finished run = listing("--subject solutions --only layernorm/regular");
    EXPECT_TRUE(contains(run.output, "\nin all                                  solution\n")) << run.output;
    // In each call 64 loads in each of two passes, three and a store in the third, and the two statistics.
    EXPECT_TRUE(contains(run.output, "\nrequests to global memory                   1930\n")) << run.output;
    EXPECT_TRUE(contains(run.output, fmt::format("\n{}:{} moves most: ", kSource, line_with("out_n[c] = "))))
        << run.output;
}

// Blocks of lessons 07 and 08 are of two sizes: 32 of either would be as many products at one, a 16th at the other.
TEST(Listing, ComparesAsManyRowsOfBothLessons) {
    const Finished run = listing("--subject solutions --only layernorm", "06");
    EXPECT_TRUE(contains(run.output, "\nB=64 T=1024 C=768; counted: 32 of 8,192 blocks, first and last among them\n"))
        << run.output;
    // 32 blocks of 8 rows here, 8 of 32 rows there.
    EXPECT_TRUE(contains(run.output, "\nunique bytes, each launch's              1.58 MB       1.58 MB\n"))
        << run.output;
}

TEST(Listing, OfAMatmulCountsWholeWhatItsTargetIsJudgedOn) {
    const Finished run = listing("--subject solutions --only matmul", "08");
    EXPECT_TRUE(contains(run.output, "\nN=256 C=256 OC=256 (square)\n")) << run.output;
    EXPECT_TRUE(contains(run.output, "\nbytes moved                               1.7 MB       4.72 MB\n"))
        << run.output;
    EXPECT_FALSE(contains(run.output, "counted: ")) << run.output;
}

TEST(Listing, SaysSoWhereNothingIsWrittenYet) {
    const fs::path folder = "build/tests/simt/listing/stub";
    fs::create_directories(folder);
    std::ofstream(folder / "layernorm.cu") << R"(#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"
__global__ void layernorm_forward_kernel() {}
void layernorm(float*, float*, float*, const float*, const float*, const float*, int, int, int, Context& ctx) {
    layernorm_forward_kernel<<<1, 1, 0, ctx.stream>>>();
}
)";
    const Finished compiled =
        shell(fmt::format("build/simtcc -std=c++20 -I. -Xcompiler -fPIC -shared {0}/layernorm.cu "
                          "build/lib/libgpt2.a -o {0}/layernorm.so",
                          folder.string()));
    ASSERT_EQ(compiled.status, 0) << compiled.output;
    const Finished run = listing(fmt::format("--subject {0} --impl-dir {0} --only layernorm/regular", folder.string()));
    EXPECT_EQ(run.status, 0);
    EXPECT_TRUE(
        contains(run.output, "its kernels ask for no memory: is it written yet? make check-lesson05 ONLY=layernorm"))
        << run.output;
    EXPECT_TRUE(contains(run.output,
                         "\nin all                                     yours      solution\n"
                         "requests to global memory                      0          1930\n"))
        << run.output;
}

// What the check itself counts there is counted for the listing too: 2 rows of 16 tokens and 128 channels, twice.
TEST(Listing, OfACaseThatTheCheckCountsHasItsTraffic) {
    const Finished run = listing("--subject solutions --only residual/head64", "06");
    EXPECT_EQ(run.status, 0);
    EXPECT_TRUE(contains(run.output, "\nrequests to global memory                    192           768\n"))
        << run.output;
}

TEST(Listing, SaysSoWhereTheFileDidNotCompile) {
    const Finished run = listing("--subject nowhere --impl-dir build/nowhere --only layernorm/regular");
    EXPECT_EQ(run.status, 1);
    EXPECT_TRUE(contains(run.output, "not counted: it does not compile; make check-lesson05 ONLY=layernorm\n"))
        << run.output;
}

// As if an older lesson had the op too.
TEST(Listing, HasTheSolutionOfTheLessonBefore) {
    const fs::path folder = fs::absolute("build/tests/simt/listing/older"), root = fs::current_path();
    fs::remove_all(folder);
    for (const char* lesson : {"04_first_kernel", "05_naive_forward"}) {
        fs::create_directories(folder / "impl" / lesson);
        fs::create_symlink(root / "build/impl/solutions/05_naive_forward/layernorm.so",
                           folder / "impl" / lesson / "layernorm.so");
        fs::create_directories(folder / "solutions" / lesson);
        fs::create_symlink(root / kSource, folder / "solutions" / lesson / "layernorm.cu");
    }
    fs::create_symlink(root / "reference", folder / "reference");
    fs::create_symlink(root / "lessons", folder / "lessons");
    const Finished run =
        shell(fmt::format("cd {} && {}/build/check/lesson05 --traffic --subject solutions --impl-dir "
                          "impl/05_naive_forward --reference-dir "
                          "impl/05_naive_forward --only layernorm/regular",
                          folder.string(), root.string()));
    EXPECT_EQ(run.status, 0);
    EXPECT_TRUE(contains(run.output,
                         "\nin all                                  solution     lesson 04\n"
                         "requests to global memory                   1930          1930\n"))
        << run.output;
}

TEST(Listing, HasACallOfALibraryAtItsLineAndItsBytesInTheTotals) {
    const Finished run = listing("--subject solutions --only matmul/square", "11");  // 256 x 256 x 256
    EXPECT_EQ(run.status, 0);
    EXPECT_TRUE(contains(run.output, " call        1                          check(cublasSgemm(")) << run.output;
    EXPECT_TRUE(
        contains(run.output,
                 "\ncalls of the runtime and libraries            10             1\n"  // a handle, its stream, mode, workspace
                 "calls of libraries                             1             0\n"
                 "  bytes read                              524 kB           0 B\n"
                 "  bytes written                           262 kB           0 B\n"
                 "  floating-point operations                33.6M             0\n"))
        << run.output;
}

// Lesson 17 limits `api_calls` for tokens that find their graph: a graph's launch and a wait for each of the two.
TEST(Listing, EndsWithTheCallsThatTheLessonLimits) {
    const Finished run = listing("--subject solutions --only predict/buckets", "17");
    EXPECT_EQ(run.status, 0);
    EXPECT_TRUE(contains(run.output,
                         "\n\nB=3 T=150 C=32 NH=2 L=1 (buckets)       solution     lesson 05\n"
                         "calls of 2 tokens that find their graph        4            36\n"))
        << run.output;
}

TEST(Listing, IsWrittenAsJsonForPlots) {
    const std::string path = "build/tests/simt/listing.json";
    fs::remove(path);
    EXPECT_EQ(listing("--subject solutions --only layernorm/regular --json " + path).status, 0);
    std::ifstream in(path);
    const std::string json{std::istreambuf_iterator<char>(in), {}};
    for (const char* part : {"\"lesson\": \"05_naive_forward\"", "\"op\": \"layernorm\"", "\"who\": \"solution\"",
                             "\"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum\": 1600", "\"lines\": ["}) {
        EXPECT_TRUE(contains(json, part)) << part << " in\n" << json;
    }
}

TEST(Listing, OfGpt2sShapeCountsSomeBlocksOfEachLaunch) {
    const Finished run = listing("--subject solutions --only layernorm");
    EXPECT_TRUE(contains(run.output, "\nB=4 T=1024 C=768; counted: 32 of 128 blocks, first and last among them\n"))
        << run.output;
    EXPECT_TRUE(contains(run.output,
                         fmt::format("\n{:>4} ld      24576  32.0   4.0         25%  ", line_with("sum += inp_n[c]"))))
        << run.output;
}

}  // namespace
