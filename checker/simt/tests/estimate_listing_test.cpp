// SPDX-License-Identifier: MIT
//
// What cards could do at best with a lesson's kernels: what `make estimate-lesson05` prints, and the line of the check.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "checker/base/json.h"
#include "checker/tests/output.h"

namespace {

namespace fs = std::filesystem;
using checker::Finished;
using checker::Json;

// `call` is in place of GPT-2's shape: "matmul N=64 C=64 OC=64".
Finished estimate(const std::string& options, const std::string& lesson = "05", const std::string& call = "") {
    return shell(fmt::format("SOL_CALL='{}' build/check/lesson{} --estimate {}", call, lesson, options));
}

Json read(const fs::path& path) {
    std::ifstream in(path);
    return Json::parse(std::string{std::istreambuf_iterator<char>(in), {}});
}

// Of the subject, in JSON.
Json subject_of(const std::string& options, const std::string& lesson = "05", const std::string& call = "") {
    const fs::path path = "build/tests/simt/estimate.json";
    fs::remove(path);
    const Finished run =
        estimate(fmt::format("--subject solutions {} --json {}", options, path.string()), lesson, call);
    EXPECT_EQ(run.status, 0) << run.output;
    return read(path).at("ops").elements().front().at("sides").elements().front();
}

const Json& first_card(const Json& side) {
    return side.at("estimate").at("cards").elements().front();
}

TEST(EstimateListing, HasThreeCardsSideBySideIn80Columns) {
    const Finished run = estimate("--subject solutions --only layernorm");
    EXPECT_EQ(run.status, 0);
    EXPECT_TRUE(contains(run.output, "layernorm: solutions/05_naive_forward/layernorm.cu\nB=4 T=1024 C=768\n"))
        << run.output;
    EXPECT_TRUE(contains(run.output, "                   T4           RTX-4090           H100-SXM\n")) << run.output;
    std::istringstream lines(run.output);
    for (std::string line; std::getline(lines, line);) { EXPECT_LE(line.size(), 80U) << line; }
}

TEST(EstimateListing, NamesTheLimitAndWhatComesNext) {
    const Finished run = estimate("--subject solutions --only layernorm --cards T4");
    EXPECT_TRUE(contains(run.output, "\n  bound by ")) << run.output;
    EXPECT_TRUE(contains(run.output, "\n  if that were lifted ")) << run.output;
}

// Blocks of 32 x 32 outputs, one for each thread, and of 128 x 128, 64 for each.
TEST(EstimateListing, HasTheOlderLessonsSolutionBeside) {
    const fs::path path = "build/tests/simt/estimate_older.json";
    const Finished run =
        estimate("--subject solutions --cards A6000 --json " + path.string(), "08", "matmul N=1024 C=128 OC=1024");
    EXPECT_TRUE(contains(run.output, "\nlesson 07 ")) << run.output;
    const Json report = read(path);
    const auto& sides = report.at("ops").elements().front().at("sides").elements();
    ASSERT_EQ(sides.size(), 2U);
    EXPECT_EQ(sides[1].at("who").text(), "lesson 07");
    EXPECT_LT(first_card(sides[0]).at("seconds").number(), first_card(sides[1]).at("seconds").number());
}

TEST(EstimateListing, TakesTheShapeThatItIsGiven) {
    const Finished run = estimate("--subject solutions --only matmul --cards T4", "05", "matmul N=64 C=32 OC=96");
    EXPECT_TRUE(contains(run.output, "\nN=64 C=32 OC=96\n")) << run.output;
}

// As many products along twice as many rows take twice the time where every multiprocessor is busy.
TEST(EstimateListing, OfTwiceTheRowsIsTwiceTheTime) {
    const double once =
        first_card(subject_of("--only matmul --cards T4", "05", "matmul N=4096 C=256 OC=1024")).at("seconds").number();
    const double twice =
        first_card(subject_of("--only matmul --cards T4", "05", "matmul N=8192 C=256 OC=1024")).at("seconds").number();
    EXPECT_NEAR(twice / once, 2, 0.1);
}

TEST(EstimateListing, SaysOfHowManyBlocksItIs) {
    const Json side = subject_of("--only matmul --cards T4");
    EXPECT_EQ(side.at("blocks").number(), 49152);  // 16 x 16 outputs each
    EXPECT_LT(side.at("blocks_counted").number(), 1000);
    EXPECT_LT(side.at("halves_differ").number(), 0.05);
}

TEST(EstimateListing, OfASolutionTakesWhatIsRecordedOfNvccsInstructions) {
    const Finished run = estimate("--subject solutions --only layernorm --cards T4");
    EXPECT_TRUE(contains(run.output, "\nFrom the instructions of nvcc ")) << run.output;
}

TEST(EstimateListing, OfALibrarysCallIsItsFlopAtThePeak) {
    const Finished run =
        estimate("--subject solutions --only matmul --cards H100", "11", "matmul N=4096 C=768 OC=3072 -bias");
    EXPECT_TRUE(contains(run.output, "\nFrom what libraries were asked for.\n")) << run.output;
    const Json side = subject_of("--only matmul --cards H100", "11", "matmul N=4096 C=768 OC=3072 -bias");
    const auto& kernels = first_card(side).at("kernels").elements();
    EXPECT_EQ(kernels.back().at("flop").number(), 2.0 * 4096 * 768 * 3072);
}

TEST(EstimateListing, OfAWholeModelNamesTheCommandThatSumsItsOps) {
    const Finished run = estimate("--subject solutions --only forward");
    EXPECT_EQ(run.status, 0);
    EXPECT_TRUE(contains(run.output, "it is the sum over the ops that it calls: make estimate STEP=05\n"))
        << run.output;
}

TEST(EstimateListing, OfAnUnknownCardListsTheKnownOnes) {
    const Finished run = estimate("--subject solutions --only layernorm --cards Voodoo");
    EXPECT_NE(run.status, 0);
    EXPECT_TRUE(contains(run.output, "Voodoo")) << run.output;
    EXPECT_TRUE(contains(run.output, "H100-SXM")) << run.output;
    EXPECT_EQ(run.output.find('\n'), run.output.size() - 1) << run.output;
}

TEST(EstimateListing, OfAShapeThatLacksASizeNamesIt) {
    EXPECT_EQ(estimate("--subject solutions --only matmul", "05", "matmul N=64 C=32").output,
              "check: 'N=64 C=32' lacks OC; the sizes of matmul are N, C, OC\n");
}

TEST(EstimateListing, OfAShapeWithASizeTooManyNamesIt) {
    EXPECT_EQ(estimate("--subject solutions --only matmul", "05", "matmul N=64 C=32 OC=8 T=5").output,
              "check: matmul has no size T; its sizes are N, C, OC\n");
}

TEST(EstimateListing, SaysWhereTheFileDidNotCompile) {
    const Finished run = estimate("--subject nowhere --impl-dir build/nowhere --only layernorm");
    EXPECT_EQ(run.status, 1);
    EXPECT_TRUE(contains(run.output, "not counted: it does not compile; make check-lesson05 ONLY=layernorm\n"))
        << run.output;
}

// A layernorm of two kernels, one of which is launched for wide rows alone, and of one that launches none.
class OwnKernels : public testing::Test {
  protected:
    static Finished of(const std::string& name, const std::string& launch) {
        const fs::path folder = fs::path("build/tests/simt/estimated") / name;
        fs::create_directories(folder);
        std::ofstream(folder / "layernorm.cu") << R"(#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"
namespace {
__global__ void narrow_kernel(float* out) { out[threadIdx.x] = 0; }
__global__ void __launch_bounds__(32) wide_kernel(float* out) { out[threadIdx.x] = 1; }
}  // namespace
void layernorm(float* out, float*, float*, const float*, const float*, const float*, int, int, int C, Context& ctx) {
)" << launch << "\n}\n";
        const Finished compiled =
            shell(fmt::format("build/simtcc -std=c++20 -I. -Xcompiler -fPIC -Xcompiler -Wno-unused -shared "
                              "{0}/layernorm.cu build/lib/libgpt2.a -o {0}/layernorm.so",
                              folder.string()));
        EXPECT_EQ(compiled.status, 0) << compiled.output;
        return estimate(fmt::format("--subject {0} --impl-dir {0} --only layernorm --cards T4", folder.string()));
    }
};

TEST_F(OwnKernels, ThatWereNotLaunchedAtTheShapeAreNamed) {
    const Finished run = of("two",
                            "if (C > 4096) { wide_kernel<<<1, 32, 0, ctx.stream>>>(out); } else { "
                            "narrow_kernel<<<1, 32, 0, ctx.stream>>>(out); }");
    EXPECT_EQ(run.status, 0);
    EXPECT_TRUE(contains(run.output, "\nNot launched at this shape: wide_kernel.\n")) << run.output;
}

TEST_F(OwnKernels, WithoutNvccsInstructionsAreEstimatedFromTheirSource) {
    const Finished run = of("one", "narrow_kernel<<<1, 32, 0, ctx.stream>>>(out);");
    EXPECT_TRUE(contains(run.output, "\nFrom the source's own accesses, which nvcc may merge, split or drop.\n"))
        << run.output;
}

// The solution's instructions of nvcc are recorded, those of the own kernel are not.
TEST_F(OwnKernels, BesideTheSolutionAreSaidToBeCountedFromTheirSource) {
    const Finished run = of("beside", "narrow_kernel<<<1, 32, 0, ctx.stream>>>(out);");
    const std::string own = "\n  counted from                its source\n";
    const std::string solution = "\n  counted from       nvcc's instructions\n";
    EXPECT_TRUE(contains(run.output, own)) << run.output;
    EXPECT_LT(run.output.find(own), run.output.find(solution)) << run.output;
    EXPECT_TRUE(contains(run.output, "times do not say which is faster")) << run.output;
    EXPECT_FALSE(contains(estimate("--subject solutions --only layernorm --cards T4").output, "counted from"));
}

TEST_F(OwnKernels, WhereNoneIsLaunchedThatIsSaid) {
    const Finished run = of("none", "static_cast<void>(out);");
    EXPECT_EQ(run.status, 1);
    EXPECT_TRUE(contains(run.output,
                         "not counted: it launches nothing at B=4 T=1024 C=768; "
                         "make check-lesson05 ONLY=layernorm\n"))
        << run.output;
}

TEST(EstimateListing, WritesTheCountsThatItIsFrom) {
    const fs::path path = "build/tests/simt/estimate_counts.json";
    fs::remove(path);
    EXPECT_EQ(estimate("--subject solutions --only layernorm --cards T4 --counts " + path.string()).status, 0);
    EXPECT_EQ(read(path).at("launches").elements().front().at("kernel").text(), "layernorm_forward_kernel");
}

TEST(CheckOfKernels, SaysWhatACardCouldDoAtBest) {
    const Finished run = shell("build/check/lesson08 --subject solutions --only matmul/square --at-best");
    EXPECT_EQ(run.status, 0);
    const std::string said = in_one_line(run.output);
    EXPECT_TRUE(contains(said, " at best ")) << said;
    EXPECT_TRUE(contains(said, " at N=4096 C=4096 OC=4096 on H100 SXM, bound by ")) << said;
    EXPECT_TRUE(contains(said, "(lesson 07: ")) << said;
    EXPECT_FALSE(contains(said, "the source's own accesses")) << said;
}

// Of a file that nvcc has not compiled nobody knows what nvcc emits; the older lesson's solution is counted otherwise.
TEST(CheckOfKernels, SaysWhereNvccHasNoPartInIt) {
    const fs::path folder = "build/tests/simt/not_compiled/08_register_tiled_matmul";
    fs::create_directories(folder);
    fs::copy_file("solutions/08_register_tiled_matmul/matmul.cu", folder / "matmul.cu",
                  fs::copy_options::overwrite_existing);
    std::ofstream(folder / "matmul.cu", std::ios::app) << "// a line more\n";
    const Finished compiled = shell(
        fmt::format("build/simtcc -std=c++20 -O3 -I. -Xcompiler -fPIC -shared {0}/matmul.cu build/lib/libgpt2.a -o "
                    "{0}/matmul.so",
                    folder.string()));
    ASSERT_EQ(compiled.status, 0) << compiled.output;
    const Finished run =
        shell(fmt::format("build/check/lesson08 --subject build/tests/simt/not_compiled --impl-dir {} "
                          "--only matmul/square --at-best",
                          folder.string()));
    const std::string said = in_one_line(run.output);
    EXPECT_TRUE(contains(said, ", by the source's own accesses; by what nvcc emits: make estimate-lesson08")) << said;
    EXPECT_FALSE(contains(said, "lesson 07")) << said;
}

TEST(CheckOfKernels, HasTheEstimateInItsJson) {
    const fs::path path = "build/tests/simt/estimate_of_check.json";
    EXPECT_EQ(
        shell("build/check/lesson08 --subject solutions --only matmul/square --at-best --json " + path.string()).status,
        0);
    const Json report = read(path);
    const Json& estimated = report.at("ops").elements().front().at("estimate");
    EXPECT_EQ(estimated.at("card").text(), "H100-SXM");
    EXPECT_GT(estimated.at("seconds").number(), 0);
}

TEST(CheckOfKernels, SaysNothingOfCardsUnlessItIsAsked) {
    EXPECT_FALSE(contains(shell("build/check/lesson08 --subject solutions --only matmul/square").output, "at best "));
}

}  // namespace
