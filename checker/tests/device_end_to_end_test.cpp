// SPDX-License-Identifier: MIT
//
// The check program of a device lesson as a learner runs it, on small kernels for one op. As in end_to_end_test.cpp,
// this program is the test and, started with --fake-check, the check program (and its worker) of a lesson with that op.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "checker/cases/lesson.h"
#include "checker/devices/simt/simt_counters.h"
#include "checker/program/run_lesson.h"
#include "checker/tests/fakes/fake_sum.h"
#include "checker/tests/output.h"
#include "checker/tests/toy_lesson.h"

namespace fs = std::filesystem;

namespace {

constexpr const char* kFlag = "--fake-check";
constexpr int kN = 200;

// The check of a lesson with op toy.
int toy_check(int argc, char** argv) {
    testing::GTEST_FLAG(filter) = "Toy*:Timing.*";
    std::deque<toy_lesson::Step> steps;
    return checker::run_lesson(argc, argv, "00_toy",
                               [&](checker::Lesson& lesson) { toy_lesson::register_toy(lesson, steps); });
}

int fake_check(int argc, char** argv) {
    if (std::getenv("TOY_LESSON") != nullptr) {
        return toy_check(argc, argv);
    }
    testing::GTEST_FLAG(filter) = "Sum*:Timing.*";
    std::vector<float> fractions, whole, longer;
    for (int i = 0; i < kN; i++) {
        fractions.push_back(1.0F / static_cast<float>(3 + i * 7 % kN));
        whole.push_back(static_cast<float>(i));
    }
    for (int i = 0; i < 2 * kN; i++) { longer.push_back(static_cast<float>(i)); }
    const std::vector<float> floor = {1e-6F};
    const std::vector<float> of_fractions = {
        static_cast<float>(std::accumulate(fractions.begin(), fractions.end(), 0.0))};
    const std::vector<float> of_whole = {std::accumulate(whole.begin(), whole.end(), 0.0F)};
    const std::vector<float> of_longer = {std::accumulate(longer.begin(), longer.end(), 0.0F)};
    return checker::run_lesson(argc, argv, "00_sum", [&](checker::Lesson& lesson) {
        checker::Op& op = lesson.op("sum", checker::defines<::sum>);
        constexpr double kBytes = sizeof(float) * kN;
        const std::map<std::string_view, double> some{
            {"bytes_asked", kBytes + 4},
            {"bytes_moved", kBytes + 32},
            {"requests", 3},
            {"kernel_launches", 1},
            {"operations", 1},
            {"allocations", 1},
            {"bytes_allocated", 1024},
            {"api_calls", 1},
            {"operations_off_tensor_cores", std::getenv("SOL_FAKE_TENSOR") == nullptr ? 0 : 400}};
        std::vector<checker::Needed> needed;  // none of the others
        for (const checker::Counter& counter : checker::simt_counters()) {
            if (counter.judged_in == checker::JudgedIn::no_calls) {
                needed.push_back({std::string(counter.name), some.contains(counter.name) ? some.at(counter.name) : 0});
            }
        }
        if (std::getenv("SOL_FAKE_NEEDS_LITTLE") != nullptr) {
            needed.resize(2);
        }
        const auto add = [&](const std::string& name, const std::vector<float>& inp, const std::vector<float>& sum) {
            const int N = static_cast<int>(inp.size());
            op.add_case(name, fmt::format("N={}", N))
                .calls.push_back(
                    {.where = "sum",
                     .inputs = {checker::input("inp", "N", {N}, inp)},
                     .outputs = {checker::output("out", "one", {1}, {{sum, floor, 100.0, false}, {}})},
                     .run =
                         [N](const checker::Library& library, const checker::Buffers& at) {
                             library.find<::sum>()(at.f32("out"), at.f32("inp"), N, at.stream());
                         },
                     .needed = name == "whole" || name == "many" ? needed : std::vector<checker::Needed>()});
        };
        add("fractions", fractions, of_fractions);
        add("whole", whole, of_whole);
        add("longer", longer, of_longer);
        static const std::vector<float> many(300'000, 1.0F), of_many{300'000.0F};  // more than a megabyte
        if (std::getenv("SOL_FAKE_MANY") != nullptr) {
            add("many", many, of_many);
        }
        op.cases.front().calls.front().is_warm = std::getenv("SOL_FAKE_WARM") != nullptr;
        if (std::getenv("SOL_FAKE_ON_HOST") != nullptr) {
            for (checker::Case& one : op.cases) {
                checker::Call& call = one.calls.front();
                call.inputs = {checker::on_host(std::move(call.inputs.front()))};
                call.outputs = {checker::on_host(std::move(call.outputs.front()))};
            }
            checker::Case in_turn = op.cases.front();  // the host's tensors need not have one size in all calls
            in_turn.name = "in_turn";
            in_turn.sequence = true;
            in_turn.calls.push_back(op.cases.back().calls.front());
            op.cases.push_back(std::move(in_turn));
        }
        if (std::getenv("SOL_FAKE_SCRATCH") != nullptr) {  // as if the op asked for it
            for (checker::Case& one : op.cases) {
                one.calls.front().scratch = {{"scratch", [](const checker::Library&) { return std::size_t{4096}; }}};
            }
        }
        if (std::getenv("SOL_FAKE_SAMPLED") != nullptr) {  // as if few of its blocks were run
            checker::Call call = op.cases.front().calls.front();
            call.sampled =
                checker::Sampled{.output = std::move(call.outputs.front().spec),
                                 .expected = [sum = of_fractions.front()](
                                                 long, const auto&) { return std::pair<double, double>(sum, 1e-6); },
                                 .factor = 100};
            call.outputs.clear();
            op.add_case("sampled", "N=200 sampled").calls.push_back(std::move(call));
        }
    });
}

struct Checked {
    int status = 0;
    std::string output;
    nlohmann::json of_case(const std::string& name) const {
        for (const auto& c : json.at("ops").at(0).at("cases")) {
            if (c.at("case") == name) {
                return c;
            }
        }
        throw std::runtime_error("no case " + name + " in the verdict");
    }
    // Of a counter of the case `whole`.
    nlohmann::json counter(const std::string& name) const {
        const nlohmann::json whole = of_case("whole");
        for (const auto& one : whole.at("counters")) {
            if (one.at("counter") == name) {
                return one;
            }
        }
        throw std::runtime_error("no counter " + name + " in the verdict");
    }
    std::string words() const { return in_one_line(output); }
    nlohmann::json json;
};

class DeviceEndToEnd : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "check_XXXXXX").string();
        folder_ = mkdtemp(pattern.data());
        std::ofstream(folder_ / "lesson.toml") << "title = \"sum\"\n";
    }
    void TearDown() override { fs::remove_all(folder_); }

    // lesson.toml with targets on these counters of sum.
    void count(const std::string& counters) const {
        std::ofstream(folder_ / "lesson.toml") << "title = \"sum\"\n[counters]\nsum = { " << counters << " }\n";
    }

    Checked check(const std::string& fake, const std::string& environment = "", const std::string& flags = "") const {
        const fs::path impl = folder_ / fake;
        fs::create_directories(impl);
        const fs::path object = impl / (fake == "toy_on_device" ? "toy.so" : "sum.so");
        fs::remove(object);
        fs::create_symlink(fs::absolute("build/tests/fakes/" + fake + ".so"), object);
        const fs::path json = folder_ / "verdict.json";
        const checker::Finished program =
            shell(fmt::format("{5} {0} {1} --subject {2} --impl-dir {2} --reference-dir {2} --lesson-dir {3} "
                              "--json {4} --no-timing {6}",
                              fs::read_symlink("/proc/self/exe").string(), kFlag, impl.string(), folder_.string(),
                              json.string(), environment, flags));
        Checked run;
        run.status = program.status;
        run.output = program.output;
        if (std::ifstream in(json); in) {
            run.json = nlohmann::json::parse(in);
        }
        return run;
    }

    // The check of op toy, wrong as `wrong` says.
    Checked check_toy(const std::string& wrong) const {
        return check("toy_on_device", "TOY_LESSON=1 TOY_WRONG=" + wrong);
    }
    // The check of op sum whose tensors lie in the host's memory, wrong as `wrong` says.
    Checked check_on_host(const std::string& wrong, const std::string& flags = "") const {
        return check("sums_on_host", "SOL_FAKE_ON_HOST=1 SUM_WRONG=" + wrong, flags);
    }
    static std::string first_of(const Checked& run, const std::string& part, const std::string& name = "regular") {
        const nlohmann::json findings = run.of_case(name).at("findings");
        return findings.empty() ? "no finding" : std::string(findings.at(0).at(part));
    }

    fs::path folder_;
};

}  // namespace

TEST_F(DeviceEndToEnd, WhyALibraryRefusedACallIsSaidBesideItsStatus) {
    const Checked run = check("refused_by_cublas");
    ASSERT_EQ(run.status, 1) << run.output;
    EXPECT_EQ(first_of(run, "kind", "whole"), "exception");
    EXPECT_NE(
        run.words().find("CUBLAS_STATUS_INVALID_VALUE: an unsupported value or parameter was passed to the function. "
                         "cublasSgemm: CUBLAS_STATUS_INVALID_VALUE: ldb = 1 is less than max(1, k = 200) "
                         "(cublas<t>gemm())"),
        std::string::npos)
        << run.output;
}

TEST_F(DeviceEndToEnd, ARefusedCallWhoseStatusNobodyLooksAtIsNamedBesideWhatComesOfIt) {
    const Checked run = check("ignores_a_refusal");
    ASSERT_EQ(run.status, 1) << run.output;
    EXPECT_EQ(first_of(run, "kind", "whole"), "uninitialised");
    EXPECT_NE(run.words().find("earlier cublasSgemm: CUBLAS_STATUS_INVALID_VALUE: ldb = 1 is less than max(1, k = 200) "
                               "(cublas<t>gemm())"),
              std::string::npos)
        << run.output;
}

TEST_F(DeviceEndToEnd, ASumThatDependsOnTheOrderWithinItsBudgetIsANote) {
    const Checked run = check("adds_in_any_order");
    ASSERT_EQ(run.status, 0) << run.output;
    const nlohmann::json fractions = run.of_case("fractions");
    EXPECT_EQ(fractions.at("verdict"), "ok");
    EXPECT_TRUE(fractions.at("findings").empty());
    EXPECT_TRUE(std::string(fractions.at("note"))
                    .starts_with("order-dependent: adds_in_any_order.cu:10 adds floats atomically; two orders gave "))
        << fractions.at("note");
    EXPECT_NE(run.words().find("note: order-dependent: adds_in_any_order.cu:10 adds floats atomically; two orders "
                               "gave "),
              std::string::npos)
        << run.output;
    EXPECT_NE(run.words().find(", both within the budget"), std::string::npos) << run.output;
    EXPECT_FALSE(run.of_case("whole").contains("note")) << "sums of whole numbers are the same in every order";
}

TEST_F(DeviceEndToEnd, ASumThatDependsOnTheOrderBeyondItsBudgetIsAFindingWithBothValues) {
    const Checked run = check("cancels_in_any_order");
    EXPECT_EQ(run.status, 1);
    const nlohmann::json finding = run.of_case("fractions").at("findings").at(0);
    EXPECT_EQ(finding.at("kind"), "order_dependent") << run.output;
    EXPECT_NE(run.words().find("first out[one=0] once "), std::string::npos) << run.output;
    EXPECT_NE(run.words().find(" then "), std::string::npos) << run.output;
    EXPECT_NE(run.words().find("cancels_in_any_order.cu:10, cancels_in_any_order.cu:11, cancels_in_any_order.cu:12 add "
                               "floats atomically"),
              std::string::npos)
        << run.output;
    EXPECT_FALSE(run.of_case("fractions").contains("note"));
}

TEST_F(DeviceEndToEnd, AResultOfTheLastThreadToComeDependsOnTheOrder) {
    const Checked run = check("keeps_the_last");
    EXPECT_EQ(run.status, 1);
    bool said = false;
    const nlohmann::json fractions = run.of_case("fractions");
    for (const nlohmann::json& finding : fractions.at("findings")) {
        said = said || finding.at("kind") == "order_dependent";
        EXPECT_NE(finding.at("kind"), "uninitialised") << "every byte that is read was written";
    }
    EXPECT_TRUE(said) << run.output;
}

TEST_F(DeviceEndToEnd, WorkInAnotherStreamIsNamedFirstAndWithItsLine) {
    const Checked run = check("uses_the_default_stream");
    const nlohmann::json finding = run.of_case("whole").at("findings").at(0);
    EXPECT_EQ(finding.at("kind"), "stream");
    EXPECT_EQ(finding.at("text"), "sum_kernel is not in ctx.stream: when that is done, it has not run");
    EXPECT_NE(run.words().find("uses_the_default_stream.cu:14"), std::string::npos) << run.output;
}

TEST_F(DeviceEndToEnd, ACallOfALibraryInAnotherStreamIsNamedWithItsLine) {
    const Checked run = check("calls_cublas_in_the_default_stream");
    const nlohmann::json finding = run.of_case("whole").at("findings").at(0);
    EXPECT_EQ(finding.at("kind"), "stream");
    EXPECT_EQ(finding.at("text"), "cublasSgemm is not in ctx.stream: when that is done, it has not run");
    EXPECT_NE(run.words().find("calls_cublas_in_the_default_stream.cu:10"), std::string::npos) << run.output;
}

TEST_F(DeviceEndToEnd, ALaunchThatNobodyAsksAboutIsNamedWithItsLine) {
    const Checked run = check("asks_nothing");
    EXPECT_EQ(run.status, 1) << run.output;
    const nlohmann::json finding = run.of_case("whole").at("findings").at(0);
    EXPECT_EQ(finding.at("kind"), "unchecked_launch");
    EXPECT_NE(run.words().find("check(cudaGetLastError()) after it at checker/tests/fakes/asks_nothing.cu:13"),
              std::string::npos)
        << run.output;
}

TEST_F(DeviceEndToEnd, ASumInOneOrderHasNoNote) {
    const Checked run = check("adds_in_order");
    EXPECT_EQ(run.status, 0) << run.output;
    EXPECT_FALSE(run.of_case("fractions").contains("note"));
    EXPECT_EQ(run.output.find("note:"), std::string::npos) << run.output;
}

TEST_F(DeviceEndToEnd, AnEndlessLoopIsWaitedForOnce) {
    const Checked run = check("never_ends", "SIMT_TIME_LIMIT=2");
    const std::size_t first = run.output.find("waited for\n");
    EXPECT_NE(first, std::string::npos) << run.output;
    EXPECT_EQ(run.output.find("waited for\n", first + 1), std::string::npos) << run.output;
    EXPECT_EQ(run.status, 1);
    EXPECT_EQ(run.of_case("fractions").at("findings").at(0).at("kind"), "spin") << run.output;
    EXPECT_EQ(run.of_case("whole").at("ran"), false);
    EXPECT_NE(run.words().find("besides 2 shapes not run"), std::string::npos) << run.output;
}

TEST_F(DeviceEndToEnd, ASampledShapeThatDoesNotEndIsNotJudgedAndNeverWrong) {
    for (const char* limit : {"SIMT_TIME_LIMIT=2", "SOL_TIMEOUT_S=1", "SOL_MEMORY_MIB=1"}) {
        const Checked run = check("never_ends", fmt::format("SOL_FAKE_SAMPLED=1 {}", limit), "--only sum/sampled");
        EXPECT_EQ(run.status, 0) << limit << run.output;
        const nlohmann::json sampled = run.of_case("sampled");
        EXPECT_EQ(sampled.at("verdict"), "ok") << run.output;
        EXPECT_EQ(sampled.at("ran"), false);
        EXPECT_TRUE(sampled.at("findings").empty());
        EXPECT_NE(run.words().find("note: N=200 sampled is not judged: the few blocks that are run of it did not end"),
                  std::string::npos)
            << run.output;
    }
    const Checked right = check("adds_in_order", "SOL_FAKE_SAMPLED=1", "--only sum/sampled");
    EXPECT_EQ(right.of_case("sampled").at("ran"), true) << right.output;
    EXPECT_EQ(right.status, 0) << right.output;
}

TEST_F(DeviceEndToEnd, OnceAShapeIsWrongLargerOnesAreNotRun) {
    const Checked run = check("launches_nothing");
    EXPECT_EQ(run.of_case("fractions").at("ran"), true) << run.output;
    EXPECT_EQ(run.of_case("whole").at("ran"), true) << run.output;
    EXPECT_EQ(run.of_case("longer").at("ran"), false) << run.output;
    EXPECT_EQ(run.of_case("longer").at("findings").at(0).at("kind"), "left_out") << run.output;
    EXPECT_NE(run.words().find("besides 1 other shape wrong too, 1 larger shape not run"), std::string::npos)
        << run.output;
}

TEST_F(DeviceEndToEnd, AllShapesAreRunWhereAllIsToBeSaid) {
    const Checked run = check("launches_nothing", "", "--verbose");
    EXPECT_EQ(run.of_case("longer").at("ran"), true) << run.output;
}

TEST_F(DeviceEndToEnd, AFindingIsSaidWhereNothingWasWritten) {
    const Checked run = check("launches_nothing");
    EXPECT_EQ(run.status, 1);
    EXPECT_EQ(run.json.at("ops").at(0).at("verdict"), "WRONG") << run.output;
    EXPECT_EQ(run.of_case("fractions").at("findings").at(0).at("kind"), "bad_launch");
    EXPECT_NE(run.words().find("a block of 2048×1×1 threads"), std::string::npos) << run.output;
}

TEST_F(DeviceEndToEnd, TooLittleAddressSpaceIsSaidAndAccusesNobody) {
    const Checked run = check("adds_in_order", "ulimit -v 8000000;");
    EXPECT_EQ(run.status, 2);
    EXPECT_TRUE(run.output.starts_with("simt: the system gives no ")) << run.output;
    EXPECT_NE(run.output.find("ulimit -v unlimited"), std::string::npos) << run.output;
    EXPECT_EQ(run.output.find("WRONG"), std::string::npos) << run.output;
    EXPECT_TRUE(run.json.is_null());
}

// ---- counters -----------------------------------------------------------------------------------------------------------

TEST_F(DeviceEndToEnd, ACallThatIsCountedIsSearchedForRacesToo) {
    count("bytes_moved = 1000.0");
    const Checked run = check("races");
    EXPECT_EQ(run.status, 1) << run.output;
    EXPECT_EQ(run.of_case("whole").at("findings").at(0).at("kind"), "race") << run.output;
    EXPECT_TRUE(run.of_case("whole").at("counters").empty()) << "only what is right is counted";
}

TEST_F(DeviceEndToEnd, ACounterNamesTheLineWithMostBeyondItsNeedNotTheOneWithMost) {
    count("bytes_moved = 1.1");
    const Checked run = check("loads_one_value_often");
    EXPECT_EQ(run.json.at("ops").at(0).at("verdict"), "SLOW") << run.output;
    EXPECT_EQ(run.counter("bytes_moved").at("value"), 832 + 20 * 32);
    const std::string most = run.counter("bytes_moved").at("most");
    EXPECT_TRUE(most.find("loads_one_value_often.cu:11: 640 bytes moved where 4 would do") != std::string::npos)
        << most;
    EXPECT_NE(run.words().find("most checker/tests/fakes/loads_one_value_often.cu:11: 640 bytes moved"),
              std::string::npos)
        << run.output;
}

TEST_F(DeviceEndToEnd, WhereNoBlockLoadsAByteTwiceTheBlocksTogetherDo) {
    count("bytes_moved = 1.1");
    const Checked run = check("every_block_loads_all");
    EXPECT_EQ(run.json.at("ops").at(0).at("verdict"), "SLOW") << run.output;
    const std::string most = run.counter("bytes_moved").at("most");
    EXPECT_TRUE(most.find("every_block_loads_all.cu:9: 3,200 bytes moved where 800 would do if each byte came once") !=
                std::string::npos)
        << most;
}

TEST_F(DeviceEndToEnd, WhatALibrarysFunctionTakesCountsAtTheLineThatCallsIt) {
    count("bytes_moved = 1.1");
    const std::string most = check("reduces_by_a_pointer").counter("bytes_moved").at("most");
    EXPECT_NE(most.find("reduces_by_a_pointer.cu:12: 6,400 bytes moved where 800 would do"), std::string::npos) << most;
}

TEST_F(DeviceEndToEnd, AWrongValueSaysWhichThreadsHadEndedBeforeTheOthersMet) {
    const Checked run = check("leaves_before_the_barrier");
    EXPECT_EQ(run.of_case("whole").at("findings").at(0).at("kind"), "mismatch") << run.output;
    EXPECT_NE(run.words().find("left 56 of 64 threads of block (0, 0, 0) had ended before the others met at "
                               "checker/tests/fakes/leaves_before_the_barrier.cu:18 in sum_kernel: what they should "
                               "have done from there on is missing"),
              std::string::npos)
        << run.output;
}

TEST_F(DeviceEndToEnd, AThreadForWhichOthersWaitInVainComesBeforeTheRacesThatItLeaves) {
    const Checked run = check("waits_in_a_branch");
    const nlohmann::json findings = run.of_case("fractions").at("findings");
    const std::string text = findings.at(0).at("text");
    EXPECT_EQ(
        text,
        "__shfl_xor_sync with mask 0xffffffff, which lanes 1-31 call, waits for lane 0, which never comes: lane 0 "
        "waits at a barrier of the block, checker/tests/fakes/waits_in_a_branch.cu:23");
    EXPECT_TRUE(std::ranges::any_of(findings, [](const auto& one) { return one.at("kind") == "race"; })) << run.output;
}

TEST_F(DeviceEndToEnd, ALaneThatWentRoundAShuffleIsNotSaidToHaveExitedBeforeIt) {
    const Checked run = check("shuffles_among_some");
    const std::string text = run.of_case("whole").at("findings").at(0).at("text");
    EXPECT_EQ(text, "__shfl_down_sync reads lane 16, which ended without coming to this call: its value is undefined");
}

TEST(Counters, AreAllOnThePage) {
    std::stringstream page;
    page << std::ifstream("checker/simt/COUNTERS.md").rdbuf();
    for (const checker::Counter& counter : checker::simt_counters()) {
        EXPECT_NE(page.str().find(fmt::format("\n| `{}` | `", counter.name)), std::string::npos) << counter.name;
    }
}

TEST_F(DeviceEndToEnd, WhatTheHostAsksForIsCounted) {
    count("kernel_launches = 1.0, operations = 1.0, allocations = 1.0, bytes_allocated = 1.0");
    const Checked run = check("allocates");
    EXPECT_EQ(run.counter("kernel_launches").at("value"), 3) << run.output;
    EXPECT_EQ(run.counter("operations").at("value"), 4) << "a memset and three launches";
    EXPECT_EQ(run.counter("allocations").at("value"), 1);
    EXPECT_EQ(run.counter("bytes_allocated").at("value"), 1024);
    EXPECT_NE(run.words().find("at N=200 it launches 3 kernels, 3.00 times the 1 that are needed"), std::string::npos)
        << run.output;
}

TEST_F(DeviceEndToEnd, OperationsThatNoTensorCoreHasDoneAreCounted) {
    count("operations_off_tensor_cores = 1.0");
    const Checked run = check("allocates", "SOL_FAKE_TENSOR=1");
    EXPECT_EQ(run.counter("operations_off_tensor_cores").at("value"), 400) << run.output;
    EXPECT_NE(run.words().find("at N=200 it does 400 of its floating-point operations elsewhere than in mma "
                               "instructions; none is the target"),
              std::string::npos)
        << run.output;
}

TEST_F(DeviceEndToEnd, CallsOfTheRuntimeByTheOpAreCountedAndNeitherTheCheckersNorThoseThatAskForErrors) {
    count("api_calls = 3.0");
    const Checked run = check("allocates", "SOL_FAKE_SCRATCH=1");
    EXPECT_EQ(run.counter("api_calls").at("value"), 6) << "cudaMalloc, a memset, three launches, cudaFree\n"
                                                       << run.output;
    EXPECT_NE(run.words().find("it calls the runtime and its libraries 6 times, 6.00 times the 1 that are needed"),
              std::string::npos)
        << run.output;
}

TEST_F(DeviceEndToEnd, TheScratchThatAnOpAsksForIsCountedAsAllocated) {
    count("allocations = 2.0, bytes_allocated = 1.0");
    const Checked run = check("allocates", "SOL_FAKE_SCRATCH=1");
    EXPECT_EQ(run.counter("allocations").at("value"), 2) << run.output;
    EXPECT_EQ(run.counter("bytes_allocated").at("value"), 1024 + 4096);
    EXPECT_NE(run.words().find("it allocates 5,120 bytes, 5.00 times the 1,024 that are needed"), std::string::npos)
        << run.output;
}

TEST_F(DeviceEndToEnd, AMuchLargerShapeOfASlowOpIsNotRun) {
    count("bytes_asked = 1.5");
    const Checked run = check("every_block_loads_all", "SOL_FAKE_MANY=1");
    EXPECT_EQ(run.of_case("many").at("ran"), false) << run.output;
    EXPECT_NE(run.words().find("N=300000 is not run: N=200 shows that it is slow"), std::string::npos) << run.output;
    EXPECT_NE(run.words().find("SLOW"), std::string::npos) << run.output;
    EXPECT_EQ(check("every_block_loads_all", "SOL_FAKE_MANY=1", "--verbose").of_case("many").at("ran"), true);
}

TEST_F(DeviceEndToEnd, ArithmeticInDoubleIsSlow) {
    const Checked run = check("computes_in_double");
    EXPECT_EQ(run.status, 1) << run.output;
    EXPECT_EQ(run.of_case("fractions").at("verdict"), "ok") << run.output;
    EXPECT_EQ(run.of_case("fractions").at("counters").at(0).at("counter"), "operations_of_doubles") << run.output;
    EXPECT_EQ(run.of_case("fractions").at("counters").at(0).at("value"), 1);
    EXPECT_NE(run.words().find("it does 1 of its operations in double; none is the target"), std::string::npos)
        << run.output;
    EXPECT_NE(run.words().find("computes_in_double.cu:10: 100% of the operations of doubles"), std::string::npos)
        << run.output;
}

TEST_F(DeviceEndToEnd, AnOpThatWaitsForItsKernelIsSlow) {
    EXPECT_EQ(check("adds_in_order", "SOL_FAKE_WAITS=1").status, 0) << "it may wait where it makes what it keeps";
    const Checked run = check("adds_in_order", "SOL_FAKE_WAITS=1 SOL_FAKE_WARM=1");
    EXPECT_EQ(run.status, 1) << run.output;
    EXPECT_EQ(run.of_case("fractions").at("verdict"), "ok") << run.output;
    EXPECT_NE(run.words().find("it waits 1 times for the device"), std::string::npos) << run.output;
}

TEST_F(DeviceEndToEnd, AnOpThatFreesMemoryInEachCallWaits) {
    EXPECT_EQ(check("allocates").status, 0);
    const Checked run = check("allocates", "SOL_FAKE_WARM=1");
    EXPECT_EQ(run.status, 1) << run.output;
    EXPECT_NE(run.words().find("it waits 1 times for the device"), std::string::npos) << run.output;
}

TEST_F(DeviceEndToEnd, CopiesAndMemsetsMoveBytes) {
    count("bytes_asked = 1.0");
    constexpr int kKernel = sizeof(float) * (kN + 1), kMemset = sizeof(float), kCopy = 2 * sizeof(float);
    EXPECT_EQ(check("adds_in_order").counter("bytes_asked").at("value"), kKernel);
    const Checked run = check("adds_in_order", "SOL_FAKE_COPIES=1");
    EXPECT_EQ(run.counter("bytes_asked").at("value"), kKernel + kMemset + kCopy) << run.output;
}

TEST_F(DeviceEndToEnd, AGridWithMostBlocksIdleIsSlow) {
    count("bytes_asked = 10000.0");  // a case with a target is counted
    EXPECT_EQ(check("most_blocks_are_idle").status, 0) << "a fixed grid is no fault at a small shape";
    const Checked run = check("most_blocks_are_idle", "SOL_FAKE_MANY=1");
    EXPECT_EQ(run.status, 1) << run.output;
    EXPECT_NE(run.words().find("it launches 1,000 blocks that have nothing to do; none is the target"),
              std::string::npos)
        << run.output;
    EXPECT_NE(run.words().find("1,000 of 2,000 blocks of sum_kernel use no global memory; is the grid too large?"),
              std::string::npos)
        << run.output;
}

TEST_F(DeviceEndToEnd, AnUnknownCounterIsRefused) {
    count("sektors = 1.0");
    const Checked run = check("adds_in_order");
    EXPECT_EQ(run.status, 2);
    EXPECT_NE(run.output.find(":3: [counters.sum.sektors] is no counter; did you mean sectors?\n"), std::string::npos)
        << run.output;
}

TEST_F(DeviceEndToEnd, ACounterThatWouldNeverBeJudgedIsRefused) {
    count("barriers = 1.0");
    EXPECT_EQ(check("adds_in_order").status, 0);
    const Checked run = check("adds_in_order", "SOL_FAKE_NEEDS_LITTLE=1");
    EXPECT_EQ(run.status, 2);
    EXPECT_NE(
        run.output.find(":3: [counters.sum.barriers] would never be judged: check.cpp does not say how much of it "
                        "sum needs; there is bytes_asked, bytes_moved\n"),
        std::string::npos)
        << run.output;
}

TEST_F(DeviceEndToEnd, ACounterOfNoOpIsRefused) {
    std::ofstream(folder_ / "lesson.toml") << "[counters]\nsumm = { barriers = 1.0 }\n";
    const Checked run = check("adds_in_order");
    EXPECT_EQ(run.status, 2);
    EXPECT_NE(run.output.find(":2: [counters.summ] is of no op of the lesson; did you mean sum?\n"), std::string::npos)
        << run.output;
}

TEST_F(DeviceEndToEnd, EveryCounterOfTheDeviceIsReadFromWhatItCounts) {
    std::string all;
    std::size_t with_targets = 0;
    for (const checker::Counter& counter : checker::simt_counters()) {
        if (counter.judged_in == checker::JudgedIn::no_calls) {
            all += fmt::format("{}{} = 100.0", all.empty() ? "" : ", ", counter.name);
            with_targets++;
        }
    }
    count(all);
    const Checked run = check("loads_one_value_often");
    EXPECT_EQ(run.status, 0) << run.output;
    EXPECT_EQ(run.of_case("whole").at("verdict"), "ok") << run.output;
    EXPECT_EQ(run.of_case("whole").at("counters").size(), with_targets);
    EXPECT_EQ(run.counter("sectors").at("value"), 26 + 20);
    EXPECT_EQ(run.counter("sectors").at("needed"), 26 + 4 * 20) << "as many as the device says would have done";
}

// ---- tensors in the host's memory -----------------------------------------------------------------------------------------

TEST_F(DeviceEndToEnd, TensorsInTheHostsMemoryAreReadAndWrittenThereInEachCallOfASequence) {
    const Checked run = check_on_host("");
    EXPECT_EQ(run.status, 0) << run.output;
    for (const std::string name : {"whole", "longer", "in_turn"}) { EXPECT_EQ(run.of_case(name).at("verdict"), "ok"); }
}

TEST_F(DeviceEndToEnd, AnAccessOfTheHostBesideATensorInItsMemoryIsNamed) {
    const std::string read = first_of(check_on_host("reads_too_far"), "text", "fractions");
    EXPECT_TRUE(read.starts_with("read past the end of inp (N=200): element ")) << read;
    EXPECT_EQ(first_of(check_on_host("writes_its_input"), "text", "fractions"),
              "wrote to inp[n=1]: an input, which must stay as it is");
    EXPECT_EQ(first_of(check_on_host("writes_beside"), "text", "fractions"),
              "wrote past the end of out (one=1): element 1 is 1 past the end");
}

TEST_F(DeviceEndToEnd, AKernelThatUsesATensorInTheHostsMemoryIsNamed) {
    const Checked run = check_on_host("gives_it_to_a_kernel");
    EXPECT_EQ(first_of(run, "kind", "fractions"), "host_pointer") << run.output;
}

TEST_F(DeviceEndToEnd, WhatReachesTheHostsMemoryAfterTheCallHasReturnedIsNotItsResult) {
    const Checked run = check_on_host("does_not_wait");
    EXPECT_EQ(first_of(run, "kind", "fractions"), "stream") << run.output;
    EXPECT_NE(run.words().find("out is written after the call has returned: it lies in the host's memory, so wait for "
                               "the stream first"),
              std::string::npos)
        << run.output;
}

TEST_F(DeviceEndToEnd, AnAddressOfTheHostThatIsKeptFromAnEarlierCallIsNamed) {
    const Checked run = check_on_host("keeps_the_address", "--only sum/in_turn");
    EXPECT_EQ(first_of(run, "text", "in_turn"),
              "read inp (N=400) where it lay in an earlier call: in the host's memory it may lie elsewhere each time")
        << run.output;
}

// ---- elements, in-out tensors, sequences: as in end_to_end_test.cpp, in the device's memory ------------------------------

TEST_F(DeviceEndToEnd, AnOpThatAccumulatesInBfloat16IsRightInEveryCall) {
    const Checked run = check_toy("");
    EXPECT_EQ(run.status, 0) << run.output;
    for (const std::string name : {"regular", "no_mean", "steps", "again", "grows", "sampled"}) {
        EXPECT_EQ(run.of_case(name).at("verdict"), "ok");
    }
}

TEST_F(DeviceEndToEnd, OverwritingWhatIsToGrowIsWrong) {
    EXPECT_NE(first_of(check_toy("overwrites"), "text").find("of 65 elements of grad are wrong"), std::string::npos);
}

TEST_F(DeviceEndToEnd, RoundingToFewerBitsThanThePrecisionHasIsWrong) {
    const Checked run = check_toy("few_bits");
    EXPECT_EQ(first_of(run, "kind"), "mismatch");
    EXPECT_NE(run.words().find("the tf32 error budget there is"), std::string::npos) << run.output;
}

TEST_F(DeviceEndToEnd, AnInputBesideAnInOutTensorMustStayAsItIs) {
    EXPECT_EQ(first_of(check_toy("writes_input"), "text"), "wrote to v[c=1]: an input, which must stay as it is");
}

TEST_F(DeviceEndToEnd, WhatIsKeptFromOneCallToTheNextIsAsked) {
    const Checked run = check_toy("keeps_state");
    EXPECT_EQ(first_of(run, "kind"), "order_dependent") << run.output;
    EXPECT_NE(run.words().find("or something is kept from one call to the next"), std::string::npos) << run.output;
}

TEST_F(DeviceEndToEnd, AScalarIsNamedWithoutAnIndex) {
    EXPECT_EQ(first_of(check_toy("wrong_loss"), "text").find("loss is wrong, off by"), 0U);
    EXPECT_EQ(first_of(check_toy("no_loss"), "text"), "loss was not written: it is as it was before the call");
}

TEST_F(DeviceEndToEnd, AnElementPastTheEndIsCountedInItsOwnSize) {
    const Checked run = check_toy("past_the_end");
    EXPECT_EQ(first_of(run, "kind"), "out_of_bounds") << run.output;
    EXPECT_NE(run.words().find("grad[c=65]"), std::string::npos) << run.output;
}

TEST_F(DeviceEndToEnd, WhatACallMakesAndNobodyDestroysIsNamedWithItsLine) {
    const Checked run = check_toy("leaves_objects");
    std::vector<std::string> texts;
    const nlohmann::json regular = run.of_case("regular");
    for (const auto& finding : regular.at("findings")) {
        EXPECT_EQ(finding.at("kind"), "leak");
        texts.push_back(finding.at("text"));
    }
    ASSERT_EQ(texts.size(), 4U) << run.output;
    EXPECT_TRUE(texts[0].starts_with("a buffer of 64 bytes")) << texts[0];
    EXPECT_EQ(texts[0].substr(texts[0].find(" was")), " was never freed");
    EXPECT_EQ(texts[1] + ", " + texts[2] + ", " + texts[3],
              "a stream was never destroyed, an event was never destroyed, a graph was never destroyed")
        << run.output;
    EXPECT_NE(run.words().find("at checker/tests/fakes/toy_on_device.cu:"), std::string::npos) << run.output;
    const std::string steps =
        check("toy_on_device", "TOY_LESSON=1 TOY_WRONG=leaves_objects", "--only toy/steps --verbose").words();
    EXPECT_NE(steps.find("finding a graph was never destroyed at checker/tests/fakes/toy_on_device.cu:"),
              std::string::npos)
        << steps;
    EXPECT_NE(steps.find("made 2 times"), std::string::npos) << steps;
}

TEST_F(DeviceEndToEnd, WhatGrowsInNumberWithEachCallOfTheSameShapesIsNamedThoughItIsDestroyedAtTheEnd) {
    const Checked run = check_toy("hoards_executables");
    EXPECT_EQ(run.of_case("regular").at("verdict"), "ok") << run.output;
    EXPECT_EQ(run.of_case("steps").at("verdict"), "ok") << "the second call may make what lasts";
    EXPECT_EQ(first_of(run, "kind", "again"), "leak");
    EXPECT_EQ(first_of(run, "text", "again"),
              "1 executable graph more than before the call, though calls of its shapes have been made before: each "
              "such call leaves some");
    EXPECT_EQ(check_toy("warms_up_first").status, 0) << "what the second call made is kept";
}

TEST_F(DeviceEndToEnd, ACaptureThatACallLeavesOpenIsNamedAndTheNextCaseIsNotInIt) {
    const Checked run = check_toy("leaves_a_capture_open");
    EXPECT_EQ(first_of(run, "kind"), "bad_capture") << run.output;
    EXPECT_NE(first_of(run, "text").find("was never ended: cudaStreamEndCapture() gives the graph"), std::string::npos)
        << run.output;
    EXPECT_EQ(run.output.find("a stream was never destroyed"), std::string::npos) << run.output;
}

TEST_F(DeviceEndToEnd, OfASequenceTheCallThatSaysItsNeedIsCountedAfterThoseBeforeIt) {
    std::ofstream(folder_ / "lesson.toml") << "[counters]\ntoy = { api_calls = 1.0, allocations = 1.0 }\n";
    const auto counted = [&](const std::string& wrong) {
        std::vector<int> values;
        const nlohmann::json steps = check_toy(wrong).of_case("steps");
        for (const auto& one : steps.at("counters")) { values.push_back(one.at("value")); }
        return values;
    };
    EXPECT_EQ(counted(""), (std::vector{2, 0})) << "two launches; the first call made the handle and the workspace";
    EXPECT_EQ(counted("makes_it_anew"), (std::vector{2 + 4, 1})) << "and cudaMalloc, a launch, a wait and cudaFree";
}

// The listing's own shape is the timed one there.
TEST_F(DeviceEndToEnd, TheListingOfTrafficEndsWithTheCallsThatTheCheckCounts) {
    const auto listed = [&](const std::string& flags) {
        return check("toy_on_device", "TOY_LESSON=1 TOY_WRONG=", "--traffic " + flags).words();
    };
    const std::string calls = " N=40 C=65 (steps) yours solution calls of the runtime in 1 of 2 calls 2 2 ";
    EXPECT_FALSE(contains(listed(""), "(steps)")) << "no target";
    std::ofstream(folder_ / "lesson.toml") << "[counters]\ntoy = { api_calls = 1.0 }\n";
    const std::string run = listed("");
    EXPECT_TRUE(contains(run, calls)) << run;
    EXPECT_FALSE(contains(listed("--only toy/regular"), "(steps)")) << "it has no such call";
}

TEST_F(DeviceEndToEnd, AnOutputThatIsNullInACallIsNamed) {
    const Checked run = check_toy("mean_always");
    EXPECT_EQ(run.of_case("regular").at("verdict"), "ok");
    EXPECT_NE(first_of(run, "text", "no_mean").find("mean is null in this call"), std::string::npos) << run.output;
}

TEST_F(DeviceEndToEnd, AWorkspaceIsMemoryOfTheDeviceAndIsNamedWhereItIsOverrun) {
    const Checked run = check_toy("overruns_workspace");
    EXPECT_EQ(first_of(run, "kind"), "out_of_bounds") << run.output;
    EXPECT_NE(run.words().find("workspace"), std::string::npos) << run.output;
}

int main(int argc, char** argv) {
    // The check program shares this file's tests with the test program: it must not run them.
    for (int i = 1; i < argc; i++) {
        if (std::string_view(argv[i]) == "--worker") {
            return fake_check(argc, argv);
        }
        if (std::string_view(argv[i]) == kFlag) {
            std::copy(argv + i + 1, argv + argc + 1, argv + i);
            return fake_check(argc - 1, argv);
        }
    }
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}

// The learner's file and the solution's are what nvcc is asked about, whatever the object that runs was compiled from.
TEST_F(DeviceEndToEnd, AnArrayOfAThreadInLocalMemoryIsSlowWhereTheSolutionsIsInRegisters) {
    if (shell("command -v nvcc").status != 0) {
        GTEST_SKIP() << "nvcc is not there";
    }
    const auto kernel = [&](const char* side, const char* pragma) {
        checker::write_file(folder_ / side / "00_sum/sum.cu",
                            fmt::format("__global__ void sum_kernel(float* out, const float* inp, int N) {{\n"
                                        "    float sums[64] = {{}};\n"
                                        "    for (int k = 0; k < N; k++) {{\n#pragma {0}\n"
                                        "        for (int i = 0; i < 64; i++) {{ sums[i] += inp[64 * k + i]; }}\n"
                                        "    }}\n#pragma {0}\n"
                                        "    for (int i = 0; i < 64; i++) {{ out[i] = sums[i]; }}\n}}\n",
                                        pragma));
    };
    for (const char* folder : {"checker", "reference"}) { fs::create_symlink(fs::absolute(folder), folder_ / folder); }
    kernel("solutions", "unroll");
    count("kernel_launches = 1");
    const std::string there = fmt::format("cd {};", folder_.string());
    kernel("lessons", "unroll 1");
    const Checked slow = check("adds_in_order", there, "--subject lessons");
    EXPECT_EQ(slow.status, 1) << slow.output;
    EXPECT_NE(slow.words().find("keeps 256 bytes of each thread in local memory"), std::string::npos) << slow.output;
    EXPECT_NE(slow.words().find("SLOW"), std::string::npos) << slow.output;
    kernel("lessons", "unroll");
    const Checked right = check("adds_in_order", there, "--subject lessons");
    EXPECT_EQ(right.status, 0) << right.output;
    EXPECT_EQ(right.words().find("local memory"), std::string::npos) << right.output;
}
