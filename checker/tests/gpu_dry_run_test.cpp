// SPDX-License-Identifier: MIT
//
// The GPU's side of the checker where no GPU is: its programs with the CPU device, unchecked, in the card's place.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "checker/base/files.h"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Checked {
    checker::Finished finished;
    json verdict;
};

Checked check(const std::string& lesson, const std::string& options, const std::string& environment = "") {
    const std::string file = "build/dry/" + lesson + ".verdict.json";
    fs::remove(file);
    const std::string impl = "build/dry/impl/solutions/" + lesson;
    Checked checked;
    checked.finished = checker::run_command(environment + " build/dry/check/lesson" + lesson.substr(0, 2) +
                                            " --subject solutions --impl-dir " + impl + " --reference-dir " + impl +
                                            " --json " + file + " " + options + " 2>&1");
    checked.verdict = json::parse(checker::read_file_if_there(file).value_or("{}"));
    return checked;
}

// The lessons with kernels, in order.
std::vector<std::string> device_lessons() {
    std::set<std::string> names;
    for (const fs::directory_entry& file : fs::recursive_directory_iterator("solutions")) {
        if (file.path().extension() == ".cu" && file.path().parent_path().parent_path() == "solutions") {
            names.insert(file.path().parent_path().filename());
        }
    }
    return {names.begin(), names.end()};
}

class DeviceLesson : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, DeviceLesson, testing::ValuesIn(device_lessons()),
                         [](const auto& name) { return name.param; });

TEST_P(DeviceLesson, SolutionIsRightThereAndEveryOpHasTimesThatNobodyJudges) {
    const auto [finished, verdict] = check(GetParam(), "");
    ASSERT_EQ(finished.status, 0) << finished.output;
    EXPECT_TRUE(verdict.at("rehearsal"));
    for (const json& op : verdict.at("ops")) {
        EXPECT_EQ(op.at("verdict"), "no verdict") << op.dump(2);
        ASSERT_TRUE(op.contains("timing")) << op.dump(2);
        const json& shape = op.at("timing").at("shapes").at(0);
        EXPECT_GT(shape.at("median_ms").get<double>(), 0);
        EXPECT_GE(shape.at("samples").get<int>(), 6);
        EXPECT_TRUE(shape.at("of_speed_of").contains("solution"));
    }
    EXPECT_NE(finished.output.find("a rehearsal"), std::string::npos) << finished.output;
}

TEST(GpuRehearsal, TimesTheCopyOfAsManyBytesAndTheMultiplyAdds) {
    const json residual = check("04_first_kernel", "--only residual/timing").verdict.at("ops").at(0);
    const json& copied = residual.at("timing").at("shapes").at(0);
    EXPECT_GT(copied.at("of_speed_of").at("copy").at("share").get<double>(), 0);
    const json matmul = check("05_naive_forward", "--only matmul/timing").verdict.at("ops").at(0);
    const json& multiplied = matmul.at("timing").at("shapes").at(0);
    EXPECT_GT(multiplied.at("of_speed_of").at("arithmetic").at("share").get<double>(), 0);
    EXPECT_GT(multiplied.at("flop_per_s").get<double>(), 0);
}

TEST(GpuRehearsal, TimesTheReadInPlaceOfACopyIfTheTargetSaysSo) {
    const json loss = check("20_loss_in_one_pass", "--only loss/timing").verdict.at("ops").at(0);
    const json& shares = loss.at("timing").at("shapes").at(0).at("of_speed_of");
    EXPECT_GT(shares.at("read").at("share").get<double>(), 0);
    EXPECT_FALSE(shares.contains("copy"));
}

TEST(GpuRehearsal, SaysThatALibraryIsNotThereAndGoesOn) {
    const checker::Finished finished = checker::run_command(
        "SOL_CUBLAS=/nowhere/libcublas.so build/dry/check/lesson05 --subject solutions --impl-dir "
        "build/dry/impl/solutions/05_naive_forward --reference-dir build/dry/impl/solutions/05_naive_forward "
        "--only matmul --timing-only 2>&1");
    EXPECT_EQ(finished.status, 0);
    EXPECT_NE(finished.output.find("cuBLAS is not timed: /nowhere/libcublas.so"), std::string::npos) << finished.output;
}

TEST(GpuRehearsal, ComparesAnOpInTf32WithTheLibraryInTf32) {
    const checker::Finished finished = checker::run_command(
        "SOL_CUBLAS=/nowhere/libcublas.so build/dry/check/lesson11 --subject solutions --impl-dir "
        "build/dry/impl/solutions/11_tf32 --reference-dir build/dry/impl/solutions/11_tf32 --only matmul "
        "--timing-only 2>&1");
    EXPECT_EQ(finished.status, 0);
    EXPECT_NE(finished.output.find("cuBLAS in TF32 is not timed: /nowhere/libcublas.so"), std::string::npos)
        << finished.output;
}

TEST(GpuRehearsal, TimesAnOpOfFp32BesideTheStepBeforeWhoseLibrariesAreKeptFromTf32) {
    const auto [finished, verdict] =
        check("16_fused_attention", "--only attention/timing --timing-only --verbose", "SIMT_VERBOSE=1");
    const json& timing = verdict.at("ops").at(0).at("timing");
    const json& shares = timing.at("shapes").at(0).at("of_speed_of");
    EXPECT_TRUE(shares.contains("older")) << finished.output;
    EXPECT_TRUE(shares.contains("arithmetic")) << finished.output;
    EXPECT_EQ(timing.at("notes").at(0), "TF32 is off for all that is timed here: NVIDIA_TF32_OVERRIDE=0");
    // So cuBLAS says, which nothing but the older path calls.
    EXPECT_NE(finished.output.find("| simt: NVIDIA_TF32_OVERRIDE=0: what was to be rounded"), std::string::npos)
        << finished.output;
}

// The check of the toy lesson (fakes/toy.h), in a folder of its own.
Checked check_toy(const std::string& options, const std::string& environment = "") {
    const fs::path folder = "build/dry/toy";
    fs::create_directories(folder);
    std::ofstream(folder / "lesson.toml")
        << "title = \"toy\"\n[target.toy]\nshapes = [\"N=40 C=65\"]\nagainst = \"solution\"\n"
        << "bronze = 0.125\nsilver = 0.25\ngold = 0.5\n";
    fs::remove(folder / "toy.so");
    fs::create_symlink(fs::absolute("build/tests/fakes/toy_on_device.so"), folder / "toy.so");
    fs::remove(folder / "verdict.json");
    Checked checked;
    checked.finished = checker::run_command(environment +
                                            " build/dry/check/toy --subject build/dry/toy --impl-dir build/dry/toy "
                                            "--reference-dir build/dry/toy --lesson-dir build/dry/toy --json "
                                            "build/dry/toy/verdict.json " +
                                            options + " 2>&1");
    checked.verdict = json::parse(checker::read_file_if_there(folder / "verdict.json").value_or("{}"));
    return checked;
}

void expect_right_toy(const std::string& name) {
    const Checked checked = check_toy("--no-timing --only toy/" + name);
    EXPECT_EQ(checked.finished.status, 0) << checked.finished.output;
    const json& cases = checked.verdict.at("ops").at(0).at("cases");
    ASSERT_EQ(cases.size(), 1U);
    EXPECT_EQ(cases.at(0).at("verdict"), "ok") << checked.finished.output;
}

TEST(GpuRehearsal, GivesEachCallOfASequenceItsScratch) {
    expect_right_toy("grows");
}

TEST(GpuRehearsal, ResetsInOutTensorsBeforeWorkInAnyStream) {
    for (const char* seed : {"1", "2", "3", "4"}) {
        const Checked checked = check_toy("--timing-only", std::string("TOY_WRONG=own_stream SIMT_SEED=") + seed);
        EXPECT_EQ(checked.finished.status, 0) << checked.finished.output;
        EXPECT_EQ(checked.verdict.at("ops").at(0).at("verdict"), "no verdict") << checked.finished.output;
    }
}

TEST(GpuRehearsal, DecodesASampledOutputOfBfloat16) {
    expect_right_toy("sampled");
}

// A lesson whose predict is held to the time in which the GPU works; the CUPTI is a fake that has seen four pieces of work.
checker::Finished check_busy(const std::string& cupti, const std::string& environment = "") {
    const fs::path folder = "build/dry/busy";
    fs::create_directories(folder);
    std::string toml = checker::read_file("lessons/05_naive_forward/lesson.toml");
    const std::size_t table = toml.find("[target.predict]"), end = toml.find("\n\n", table);
    toml.replace(table, end - table,
                 "[target.predict]\nagainst = \"busy\"\nbronze = 0.9\nsilver = 0.95\ngold = 0.97\n"
                 "shapes = [\"B=4 T=1024 C=768 NH=12 L=12\"]");
    std::ofstream(folder / "lesson.toml") << toml;
    fs::remove(folder / "verdict.json");
    return checker::run_command("SOL_CUPTI=" + cupti + ' ' + environment +
                                " build/dry/check/lesson05 --subject solutions --impl-dir "
                                "build/dry/impl/solutions/05_naive_forward --reference-dir "
                                "build/dry/impl/solutions/05_naive_forward --lesson-dir build/dry/busy --json "
                                "build/dry/busy/verdict.json --only predict --timing-only 2>&1");
}

TEST(GpuRehearsal, SaysHowMuchOfItsTimeTheGpuWorksAndHowLongItsGapsAre) {
    const checker::Finished finished = check_busy("build/tests/fakes/cupti.so");
    ASSERT_EQ(finished.status, 0) << finished.output;
    const json verdict = json::parse(checker::read_file("build/dry/busy/verdict.json"));
    const json& shape = verdict.at("ops").at(0).at("timing").at("shapes").at(0);
    const double seconds = shape.at("median_ms").get<double>() * 1e-3;
    const double share = shape.at("of_speed_of").at("busy").at("share").get<double>();
    EXPECT_NEAR(share * seconds, 3e-6, 1e-10) << "two kernels, a memset across the end of one, and a copy";
    EXPECT_NEAR(shape.at("gap_us").get<double>(), (seconds - 3e-6) / 4 * 1e6, 1e-4) << "four nodes";
    EXPECT_NE(finished.output.find("of which the GPU works under 1% (bronze 90%)"), std::string::npos)
        << finished.output;
}

TEST(GpuRehearsal, SaysWhyItIsNotKnownHowLongTheGpuWorks) {
    const checker::Finished missing = check_busy("/nowhere/libcupti.so");
    EXPECT_EQ(missing.status, 0) << missing.output;
    EXPECT_NE(missing.output.find("how long the GPU works is not known: /nowhere/libcupti.so"), std::string::npos)
        << missing.output;
    const checker::Finished blind = check_busy("build/tests/fakes/cupti.so", "SOL_FAKE_CUPTI=blind");
    EXPECT_EQ(blind.status, 0) << blind.output;
    EXPECT_NE(blind.output.find("how long the GPU works is not known: CUPTI sees no work of this card"),
              std::string::npos)
        << blind.output;
}

// One call of lesson 04's gelu.
Checked time_call(const std::string& environment) {
    return check("04_first_kernel", "--only gelu --timing-only", "SOL_CALL='gelu N=4096' " + environment);
}

// The names that SOL_KERNELS gives, or why there are none.
json kernels_by(const std::string& cupti) {
    const std::string file = "build/dry/kernels.json";
    fs::remove(file);
    const checker::Finished finished = time_call("SOL_KERNELS=" + file + " SOL_CUPTI=" + cupti).finished;
    EXPECT_EQ(finished.status, 0) << finished.output;
    return json::parse(checker::read_file_if_there(file).value_or("null"));
}

TEST(GpuRehearsal, NamesTheKernelsOfACallInOrderOfStart) {
    const json names = {"(anonymous namespace)::gelu_forward_kernel(float*, float const*, int)", "sm80_xmma_gemm_f32"};
    EXPECT_EQ(kernels_by("build/tests/fakes/cupti.so"), json({{"kernels", names}}));
}

TEST(GpuRehearsal, SaysWhyNoKernelsCanBeNamed) {
    const json why = kernels_by("/nowhere/libcupti.so");
    ASSERT_TRUE(why.contains("why")) << why.dump();
    EXPECT_EQ(why.size(), 1U);
    EXPECT_EQ(why.at("why").get<std::string>().find("/nowhere/libcupti.so"), 0U) << why.dump();
}

TEST(GpuRehearsal, TimesACallOnWarmCaches) {
    for (const std::string cache : {"hot", "cold"}) {
        const Checked timed = time_call("SOL_CACHE=" + cache);
        ASSERT_EQ(timed.finished.status, 0) << timed.finished.output;
        const json& shapes = timed.verdict.at("ops").at(0).at("timing").at("shapes");
        EXPECT_EQ(shapes.size(), 1U);
        EXPECT_GT(shapes.at(0).at("median_ms").get<double>(), 0);
    }
}

TEST(GpuRehearsal, RefusesCachesThatAreNeitherHotNorCold) {
    const checker::Finished refused = time_call("SOL_CACHE=warm").finished;
    EXPECT_EQ(refused.status, 2);
    EXPECT_EQ(refused.output, "check: SOL_CACHE=warm: the caches are hot or cold\n");
}

TEST(GpuRehearsal, TimesACallWithoutOneOfItsOutputs) {
    const Checked timed = check("12_cublaslt_fusion", "--only linear_gelu --timing-only",
                                "SOL_CALL='linear_gelu N=144 C=144 OC=144 outputs=1 -pre_gelu'");
    ASSERT_EQ(timed.finished.status, 0) << timed.finished.output;
    const json& shapes = timed.verdict.at("ops").at(0).at("timing").at("shapes");
    ASSERT_EQ(shapes.size(), 1U);
    EXPECT_EQ(shapes.at(0).at("shape"), "N=144 C=144 OC=144 outputs=1");
    EXPECT_GT(shapes.at(0).at("median_ms").get<double>(), 0);
}

// What guard bands, poison and the runtime's own errors show, without the CPU device's checks.
class WrongSolution : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, WrongSolution,
                         testing::Values("04_first_kernel.tail_overrun",       // behind an output
                                         "04_first_kernel.adds_in_place",      // in an input
                                         "04_first_kernel.nobody_looked",      // a launch that was refused
                                         "05_naive_forward.scratch_overrun",   // behind scratch
                                         "05_naive_forward.own_score_missing"  // reads what nobody wrote
                                         ));

TEST_P(WrongSolution, IsRejectedForItsReasonWithoutTheCpuDevicesChecks) {
    const std::string file = "build/dry/wrong.json";
    fs::remove(file);
    const checker::Finished finished =
        checker::run_command(std::string("build/tools/wrong --device gpu --dry --json ") + file +
                             " --gtest_filter=WrongSolutions_" + GetParam() + " 2>&1");
    ASSERT_EQ(finished.status, 0) << finished.output;
    const json rows = json::parse(checker::read_file(file));
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_TRUE(rows[0].at("rejected")) << finished.output;
    EXPECT_TRUE(rows[0].at("as_expected")) << rows[0].dump(2);
}

// Rows with a verdict in what the tool has written so far.
std::ptrdiff_t rows_run(const std::string& file) {
    const json rows = json::parse(checker::read_file_if_there(file).value_or("[]"));
    return std::ranges::count_if(rows, [](const json& row) { return row.contains("rejected"); });
}

// Lesson 07's rows are built by no other test here.
TEST(GpuRehearsal, KeepsTheWrongSolutionsFoundWhenItIsKilled) {
    const std::string file = "build/dry/wrong-killed.json";
    fs::remove(file);
    const pid_t tool = fork();
    if (tool == 0) {
        setpgid(0, 0);
        const std::string option = "--json=" + file;
        execl("build/tools/wrong", "wrong", "--device=gpu", "--dry", "--lesson=07_tiled_matmul", option.c_str(),
              nullptr);
        _exit(127);
    }
    ASSERT_GT(tool, 0);
    const auto begin = std::chrono::steady_clock::now();
    while (rows_run(file) == 0 && waitpid(tool, nullptr, WNOHANG) == 0 &&
           std::chrono::steady_clock::now() - begin < std::chrono::minutes(5)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    kill(-tool, SIGKILL);  // the compilers that it has started as well
    int status = 0;
    ASSERT_EQ(waitpid(tool, &status, 0), tool) << "it ended by itself";
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_GE(rows_run(file), 1);
    std::ifstream toml("solutions/07_tiled_matmul/wrong.toml");
    std::size_t all = 0;
    for (std::string line; std::getline(toml, line);) { all += line == "[[wrong]]" ? 1 : 0; }
    EXPECT_LT(json::parse(checker::read_file(file)).size(), all) << "rows that did not run are absent";
}

// The times of every lesson's ops are the lesson's own test here: of the report the first ones do, and the list of the rest.
TEST(GpuRehearsal, GivesAReportThatSaysWhatItIs) {
    const std::string folder = "build/dry/test-report", file = folder + "/report.json";
    fs::remove_all(folder);
    const checker::Finished built = checker::run_command("make -s report-programs DRY=1 PARTS=timings 2>&1");
    ASSERT_EQ(built.status, 0) << built.output;
    const checker::Finished finished =
        checker::run_command("make gpu-report DRY=1 FRESH=1 PART=timings LEASE=30s OUT=" + folder + " 2>&1");
    ASSERT_EQ(finished.status, 0) << finished.output;
    EXPECT_EQ(finished.output.find("rehearsal without a GPU: nothing in it is a measurement"), 0U) << finished.output;
    const json report = json::parse(checker::read_file(file));
    const json& timings = report.at("parts").at("timings");
    std::set<std::string> ops{"lesson05/forward"};  // lesson 02's file, which serves the device's track as well
    for (const std::string& lesson : device_lessons()) {
        for (const fs::directory_entry& op : fs::directory_iterator("solutions/" + lesson)) {
            if (op.path().extension() == ".cu" || op.path().extension() == ".cpp") {
                ops.insert("lesson" + lesson.substr(0, 2) + "/" + op.path().stem().string());
            }
        }
    }
    std::set<std::string> reported = timings.at("not_done_yet").get<std::set<std::string>>();
    EXPECT_FALSE(timings.at("items").empty()) << finished.output;
    for (const auto& [name, item] : timings.at("items").items()) {
        EXPECT_EQ(item.at("status"), "ok") << name;
        reported.insert(name);
    }
    EXPECT_EQ(reported, ops);
}

std::size_t count(const std::string& text, const std::string& word) {
    std::size_t times = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) { times++; }
    return times;
}

TEST(Tuner, FindsTheSolutionRightWithEverySizeAndMeasuresNothingWithoutAGpu) {
    const checker::Finished finished = checker::run_command("make tune-lesson10 SOLUTION=1 DEVICE=cpu 2>&1");
    ASSERT_EQ(finished.status, 0) << finished.output;
    EXPECT_EQ(count(finished.output, "  right\n"), 5U) << finished.output;
    EXPECT_EQ(count(finished.output, "registers  "), 2U) << finished.output;
    EXPECT_NE(finished.output.find("TFLOP/s: only a GPU tells"), std::string::npos) << finished.output;
}

TEST(Tuner, RehearsesTheTimesAndPrintsSizesAsTheOpsFileHasThem) {
    const checker::Finished finished = checker::run_command("make tune-lesson10 SOLUTION=1 DRY=1 2>&1");
    ASSERT_EQ(finished.status, 0) << finished.output;
    EXPECT_NE(finished.output.find("no number below is a measurement"), std::string::npos) << finished.output;
    const std::string source = checker::read_file("solutions/10_double_buffered_matmul/matmul.cu");
    for (const std::string begin : {"constexpr int kBlockN = ", "constexpr int kThreadN = ", "constexpr int kStep = ",
                                    "constexpr bool kAsync = "}) {
        EXPECT_EQ(count(finished.output, "\n" + begin), 1U) << begin << finished.output;
        EXPECT_EQ(count(source, "\n" + begin), 1U) << begin;
    }
}

TEST(Tuner, SaysWhichSizeAFileHasNoLineFor) {
    const fs::path copy = "build/tune_copy/10_double_buffered_matmul/matmul.cu";
    fs::create_directories(copy.parent_path());
    std::string text = checker::read_file("solutions/10_double_buffered_matmul/matmul.cu");
    text.replace(text.find("constexpr int kStep"), 0, "static ");
    std::ofstream(copy) << text;
    const checker::Finished finished =
        checker::run_command("make build/tune/build/tune_copy/10_double_buffered_matmul/matmul.cu 2>&1");
    EXPECT_EQ(finished.status, 2);
    EXPECT_EQ(finished.output.find("tune: " + copy.string() + " has no line `constexpr int kStep = …;`\n"), 0U)
        << finished.output;
}

TEST(GpuBuild, RefusesInOneLineThatSaysWhatIsThere) {
    const struct {
        const char *command, *says;
    } rows[] = {
        {"make check-lesson04 DEVICE=foo", "DEVICE=foo: it is cpu (the CPU device) or gpu"},
        {"make time-lesson04 DEVICE=cpu", "no times, a GPU has; what it counts: make check-lesson04 DEVICE=cpu"},
        {"make profile-lesson05 DEVICE=cpu", "what the CPU device counts: make traffic-lesson05"},
        {"make sanitize-lesson05 DEVICE=cpu", "what the CPU device finds: make check-lesson05 DEVICE=cpu"},
        {"make check-lesson04 DRY=1", "it goes with DEVICE=gpu"},
        {"make gpt2 STEP=05 DEVICE=foo", "DEVICE=foo: it is cpu (the CPU device) or gpu"},
    };
    for (const auto& row : rows) {
        const checker::Finished refused = checker::run_command(std::string(row.command) + " 2>&1");
        EXPECT_EQ(refused.status, 2) << row.command;
        EXPECT_NE(refused.output.find(row.says), std::string::npos) << refused.output;
        EXPECT_EQ(std::ranges::count(refused.output, '\n'), 1) << refused.output;
    }
}

TEST(GpuBuild, SaysWithoutADriverWhichCommandDoesItOnTheCpuDevice) {
    const struct {
        const char *command, *instead;
    } rows[] = {
        {"make check-lesson04 SOLUTION=1 DEVICE=gpu", "make check-lesson04 SOLUTION=1 DEVICE=cpu"},
        {"make time-lesson5 ONLY=matmul", "make check-lesson05 ONLY=matmul DEVICE=cpu"},
        {"make build/gpu/card", "make check-lesson04 DEVICE=cpu"},
    };
    for (const auto& row : rows) {
        const checker::Finished finished = checker::run_command("unset SOL_ON_CPU; SOL_LIBCUDA=/nowhere/libcuda.so " +
                                                                std::string(row.command) + " 2>&1");
        EXPECT_EQ(finished.status, 2);
        EXPECT_EQ(finished.output.find(std::string("no NVIDIA driver: /nowhere/libcuda.so cannot be opened; every "
                                                   "lesson can be done without a GPU: ") +
                                       row.instead + "\n"),
                  0U)
            << finished.output;
        EXPECT_EQ(checker::run_command(std::string(row.instead) + " -n >/dev/null 2>&1").status, 0) << row.instead;
    }
}

}  // namespace
