// SPDX-License-Identifier: MIT
//
// The check program as a learner runs it, on small implementations of one op that each do one thing wrong. This program
// is the test and, started with --fake-check, the check program (and its worker) of a lesson with that op.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "checker/cases/lesson.h"
#include "checker/clock/roof_file.h"
#include "checker/program/run_lesson.h"
#include "checker/tests/fakes/fake.h"
#include "checker/tests/output.h"
#include "checker/tests/toy_lesson.h"
#include "checker/worker/bench.h"

namespace fs = std::filesystem;

namespace {

// ---- the lesson ------------------------------------------------------------------------------------------------

constexpr const char* kFlag = "--fake-check";
constexpr const char* kInside = "FAKE_CHECK";  // set where the check program runs

// A case's tensors: what a case file holds for real lessons.
struct Tensors {
    std::vector<float> inp, out, halved, floor;
};

Tensors make_tensors(long N, long C, long stride, float first = 1.0F) {
    Tensors t;
    for (long i = 0; i < N * stride; i++) {
        const float x = i % stride < C ? first + 0.5F * static_cast<float>(i) : 0.0F;
        t.inp.push_back(x);
        t.out.push_back(2.0F * x);
        t.halved.push_back(0.5F * x);
    }
    t.floor.assign(static_cast<std::size_t>(N), 1e-6F);
    return t;
}

checker::RunFunction run_twice(int N, int C, int stride) {
    return [=](const checker::Library& library, const checker::Buffers& at) {
        library.find<twice>()(at.f32("out"), at.f32("inp"), at.scratch("scratch"), N, C, stride);
    };
}

checker::Scratch fake_scratch() {
    return {"scratch", [](const checker::Library&) { return kFakeScratchBytes; }};
}

void add_case(checker::Op& op, const std::string& name, const Tensors& t, int N, int C, int stride) {
    checker::Reference reference{{t.out, t.floor, 8.0, false},
                                 {{"halved", "the input was halved, not doubled", t.halved}}};
    checker::Output out = checker::output("out", "N stride/c", {N, stride}, std::move(reference));
    out.columns = C;
    op.add_case(name, fmt::format("N={} C={}", N, C))
        .calls.push_back({.where = "twice",
                          .inputs = {checker::input("inp", "N stride/c", {N, stride}, t.inp)},
                          .outputs = {out},
                          .scratch = {fake_scratch()},
                          .run = run_twice(N, C, stride)});
    if (std::getenv("SOL_FAKE_THREADS") != nullptr) {  // as if it ran on several
        op.cases.back().calls.back().run_on_one_thread = [run = run_twice(N, C, stride)](const auto& library,
                                                                                         const auto& at) {
            setenv("SOL_FAKE_ONE_THREAD", "1", 1);
            run(library, at);
            unsetenv("SOL_FAKE_ONE_THREAD");
        };
    }
}

// The check of a lesson with op toy.
int toy_check(int argc, char** argv) {
    testing::GTEST_FLAG(filter) = "Toy*:Timing.*";
    std::deque<toy_lesson::Step> steps;
    return checker::run_lesson(argc, argv, "00_toy",
                               [&](checker::Lesson& lesson) { toy_lesson::register_toy(lesson, steps); });
}

// `even` fills its 64-byte lines, `odd` does not and has padding.
int fake_check(int argc, char** argv) {
    if (std::getenv("TOY_LESSON") != nullptr) {
        return toy_check(argc, argv);
    }
    // Only what op twice registers: this file's own tests would start the program again, without end.
    testing::GTEST_FLAG(filter) = "Twice*:Model.*:Timing.*";
    const Tensors even = make_tensors(4, 16, 16);
    const Tensors odd = make_tensors(3, 5, 7);
    const Tensors others = make_tensors(4, 16, 16, 9.0F);
    return checker::run_lesson(argc, argv, "00_fake", [&](checker::Lesson& lesson) {
        checker::Op& op = lesson.op("twice", checker::defines<twice>);
        add_case(op, "even", even, 4, 16, 16);
        add_case(op, "odd", odd, 3, 5, 7);
        if (std::getenv("SOL_FAKE_OTHERS") != nullptr) {
            add_case(op, "others", others, 4, 16, 16);
        }
        if (std::getenv("SOL_FAKE_CALLS") != nullptr) {  // one case has the calls of `even` and of `odd`
            add_case(op, "calls", even, 4, 16, 16);
            add_case(op, "", odd, 3, 5, 7);
            checker::Call second = op.cases.back().calls.front();
            second.where = "second";
            op.cases.pop_back();
            op.cases.back().calls.push_back(second);
        }
        if (std::getenv("SOL_FAKE_MODEL") !=
            nullptr) {  // a whole step of one op, which calls it with other values in turn
            checker::Op& model = lesson.model(checker::defines<twice>);
            add_case(model, "small", even, 4, 16, 16);
            checker::Case& small = model.cases.front();
            add_case(model, "others", others, 4, 16, 16);
            small.sequence = true;
            small.calls.push_back(model.cases.back().calls.front());
            for (checker::Call& call : small.calls) { call.is_model = true; }
            model.cases.pop_back();
        }
        const bool large = std::getenv("SOL_FAKE_LARGE") != nullptr;
        const int N = large ? 1021 : 64, C = large ? 4099 : 1024;
        // Claims that no machine can fulfil: then the roof is slow beside what is said to have been done.
        const auto claimed = [](const char* name, double truth) {
            const char* const claim = std::getenv(name);
            return claim == nullptr ? truth : std::stod(claim);
        };
        op.timed.push_back({.shape = fmt::format("N={} C={}", N, C),
                            .bytes_moved = static_cast<std::size_t>(claimed("SOL_FAKE_BYTES", 8.0 * N * C)),
                            .flop = claimed("SOL_FAKE_FLOP", 0),
                            .tensor_cores = std::getenv("SOL_FAKE_TENSOR_CORES") != nullptr,
                            .call = {.where = "",
                                     .inputs = {checker::normal("inp", "N C", {N, C})},
                                     .outputs = {checker::output("out", "N C", {N, C})},
                                     .scratch = {fake_scratch()},
                                     .run = run_twice(N, C, C)}});
        if (large) {  // so that not every element is computed
            checker::Output& out = op.timed.back().call.outputs.front();
            out.element = [](long element, const std::vector<std::span<const float>>& inputs) {
                return std::pair(2.0 * static_cast<double>(inputs[0][static_cast<std::size_t>(element)]), 1e-7);
            };
            out.factor = 8;
        }
        op.timed.back().run_on_two_threads = [=, run = run_twice(N, C, C)](const checker::Library& library,
                                                                           const checker::Buffers& at) {
            run(library, at);
            if (std::getenv("SOL_FAKE_WRONG_ON_TWO_THREADS") != nullptr) {
                at.f32("out")[N * C / 2] = 0;
            }
        };
        if (std::getenv("SOL_FAKE_NO_ROOM") != nullptr) {
            op.timed.back().call.run = [](const checker::Library&, const checker::Buffers&) {
                throw checker::OutOfMemory("it wants 3 GiB more, 1 GiB is free");
            };
        }
        if (std::getenv("SOL_FAKE_SECOND_SHAPE") != nullptr) {  // has room
            checker::Timed& second = op.timed.emplace_back(op.timed.front());
            second.shape = "N=32 C=1024";
            second.call.inputs = {checker::normal("inp", "N C", {32, C})};
            second.call.outputs = {checker::output("out", "N C", {32, C})};
            second.call.run = run_twice(32, C, C);
        }
        if (std::getenv("SOL_FAKE_NO_LIBRARY") != nullptr) {
            op.timed.back().library = checker::Vendor{.name = "libtwice",
                                                      .run = [](const checker::Buffers&) { std::abort(); },
                                                      .missing = [] { return std::string("nobody has it"); }};
        }
    });
}

// ---- running it ------------------------------------------------------------------------------------------------

struct Checked {
    int status = 0;
    std::string output;
    nlohmann::json json;  // null when the check wrote none

    // The finding kinds of one case.
    std::vector<std::string> kinds(const std::string& name = "even") const {
        std::vector<std::string> result;
        const nlohmann::json findings = of_case(name).at("findings");
        for (const auto& finding : findings) { result.push_back(finding.at("kind")); }
        return result;
    }
    std::string first_text(const std::string& name = "even") const {
        return of_case(name).at("findings").at(0).at("text");
    }
    nlohmann::json of_case(const std::string& name) const {
        for (const auto& c : json.at("ops").at(0).at("cases")) {
            if (c.at("case") == name) {
                return c;
            }
        }
        throw std::runtime_error("no case " + name + " in the verdict");
    }
    std::string verdict() const { return json.at("ops").at(0).at("verdict"); }
};

class EndToEnd : public testing::Test {
  protected:
    void SetUp() override {
        if (std::getenv(kInside) != nullptr) {
            std::abort();  // a check program that runs the tests that start it would never end
        }
        std::string pattern = (fs::temp_directory_path() / "check_XXXXXX").string();
        folder_ = mkdtemp(pattern.data());
        target("against = \"solution\"\nbronze = 0.125\nsilver = 0.25\ngold = 0.5\n");  // a margin of 8
        fs::create_directories(folder_ / "right");
        fs::create_symlink(fs::absolute("build/tests/fakes/right.so"), folder_ / "right" / "twice.so");
        fs::create_symlink(fs::absolute("build/tests/fakes/toy.so"), folder_ / "right" / "toy.so");
    }
    void TearDown() override { fs::remove_all(folder_); }

    void target(const std::string& text) {
        std::ofstream(folder_ / "lesson.toml") << "title = \"fake\"\n[target.twice]\nshapes = [\"N=64 C=1024\"]\n"
                                               << text;
    }

    std::string command(const std::string& fake, const std::string& options) {
        const fs::path impl = folder_ / fake;
        fs::create_directories(impl);
        if (fs::exists(fs::absolute("build/tests/fakes/" + fake + ".so")) && !fs::exists(impl / "twice.so")) {
            fs::create_symlink(fs::absolute("build/tests/fakes/" + fake + ".so"), impl / "twice.so");
        }
        return fmt::format("{}=1 {} {} --subject {} --impl-dir {} --reference-dir {} --lesson-dir {} --json {} {}",
                           kInside, fs::read_symlink("/proc/self/exe").string(), kFlag, impl.string(), impl.string(),
                           (folder_ / "right").string(), folder_.string(), json_file().string(), options);
    }
    fs::path json_file() const { return folder_ / "verdict.json"; }

    Checked check(const std::string& fake, const std::string& options = "--no-timing",
                  const std::string& environment = "") {
        fs::remove(json_file());
        Checked run;
        const checker::Finished program = shell(environment + " " + command(fake, options));
        run.status = program.status;
        run.output = program.output;
        if (std::ifstream in(json_file()); in) {
            run.json = nlohmann::json::parse(in);
        }
        return run;
    }

    // The check of op toy, wrong as `wrong` says.
    Checked check_toy(const std::string& wrong, const std::string& options = "--no-timing") {
        std::ofstream(folder_ / "lesson.toml")
            << "title = \"toy\"\n[target.toy]\nshapes = [\"N=40 C=65\"]\nagainst = \"solution\"\n"
            << "bronze = 0.125\nsilver = 0.25\ngold = 0.5\n";
        return check("right", options, "TOY_LESSON=1 TOY_WRONG=" + wrong);
    }

    fs::path folder_;
};

using Kinds = std::vector<std::string>;

bool has(const Kinds& kinds, const std::string& kind) {
    return std::ranges::find(kinds, kind) != kinds.end();
}

}  // namespace

// ---- verdicts --------------------------------------------------------------------------------------------------

TEST_F(EndToEnd, RightIsOk) {
    const Checked run = check("right");
    EXPECT_EQ(run.status, 0) << run.output;
    EXPECT_EQ(run.verdict(), "ok");
    EXPECT_NE(run.output.find("twice  ok"), std::string::npos) << run.output;
}

// The whole step is model.so beside the ops'.
TEST_F(EndToEnd, RunsTheWholeStepWhereEachOpIsRight) {
    const auto check_with = [&](const std::string& fake, const std::string& model, const std::string& options = "") {
        fs::create_directories(folder_ / fake);
        fs::remove(folder_ / fake / "model.so");
        fs::create_symlink(fs::absolute("build/tests/fakes/" + model + ".so"), folder_ / fake / "model.so");
        return check(fake, "--no-timing " + options, "SOL_FAKE_MODEL=1");
    };
    const Checked right = check_with("right", "right");
    EXPECT_EQ(right.status, 0) << right.output;
    EXPECT_NE(right.output.find("model  ok      the whole step, 2 calls in turn"), std::string::npos) << right.output;
    EXPECT_NE(right.output.find("all ok  1 op"), std::string::npos) << right.output;

    const Checked wrong = check_with("right", "keeps_a_factor");
    EXPECT_EQ(wrong.status, 1) << wrong.output;
    EXPECT_EQ(wrong.verdict(), "ok") << "the op is right by itself";
    const std::string text = wrong.json.at("model").at("cases").at(0).at("findings").at(0).at("text");
    EXPECT_TRUE(text.starts_with("each op is right by itself, and together they are not: ")) << text;
    EXPECT_NE(wrong.output.find("model  WRONG"), std::string::npos) << wrong.output;
    EXPECT_NE(wrong.output.find("1 ok of 1 op, the model WRONG"), std::string::npos) << wrong.output;

    EXPECT_FALSE(check_with("halves", "keeps_a_factor").json.contains("model")) << "an op is wrong";
    EXPECT_FALSE(check_with("right", "right", "--only twice").json.contains("model")) << "an op alone was asked for";
    EXPECT_TRUE(check_with("right", "right", "--only model").json.contains("model"));
}

TEST_F(EndToEnd, SaysThatTheOpsOfAStepDoNotLink) {
    fs::create_directories(folder_ / "log");
    std::ofstream(folder_ / "log/model.log")
        << "/usr/bin/ld: b.o: in function `scale':\nb.cpp:3: multiple definition of "
           "`scale(float)'; a.o:a.cpp:5: first defined here\n";
    const Checked run = check("right", "--no-timing --log-dir " + (folder_ / "log").string(), "SOL_FAKE_MODEL=1");
    EXPECT_EQ(run.status, 1) << run.output;
    EXPECT_NE(run.output.find("define scale(float): put all but the op into"), std::string::npos) << run.output;
}

TEST_F(EndToEnd, WritingNothingIsNotWrittenYet) {
    const Checked run = check("writes_nothing");
    EXPECT_EQ(run.status, 1);
    EXPECT_EQ(run.verdict(), "not written yet");
    EXPECT_EQ(run.kinds(), Kinds{"untouched"});
    EXPECT_NE(run.output.find("not written yet"), std::string::npos) << run.output;
}

TEST_F(EndToEnd, PrintingOkDoesNotHelp) {
    const Checked run = check("prints_ok");
    EXPECT_EQ(run.status, 1);
    EXPECT_EQ(run.verdict(), "WRONG");
    EXPECT_TRUE(has(run.kinds(), "untouched"));
    EXPECT_NE(run.output.find("    printed   | ok\n"), std::string::npos) << run.output;
    EXPECT_EQ(run.output.find('\033'), std::string::npos) << "escape codes of the code under test reach the terminal";
}

TEST_F(EndToEnd, ExitWithSuccessIsAFinding) {
    const Checked run = check("exits");
    EXPECT_EQ(run.status, 1);
    EXPECT_EQ(run.kinds(), Kinds{"exit"});
    EXPECT_EQ(run.first_text(), "ended the program with exit(0) instead of returning");
}

TEST_F(EndToEnd, AClosedDescriptorIsNoExit) {
    EXPECT_EQ(check("closes_descriptors").first_text(),
              "closed a file descriptor that it had not opened: 3 and 4 are the check's, which hears no more of it");
}

TEST_F(EndToEnd, ASignalThatOnlyTheStatusTellsIsNamed) {
    const Checked run = check("crashes_unheard");
    EXPECT_EQ(run.kinds(), Kinds{"exit"});
    EXPECT_EQ(run.first_text(),
              "ended the program with status 139, which is signal 11 (Segmentation fault), instead of returning");
}

TEST_F(EndToEnd, AbortIsNamed) {
    EXPECT_NE(check("aborts").first_text().find("SIGABRT"), std::string::npos);
}

TEST_F(EndToEnd, WritingToAnInputIsNamedWithItsElement) {
    const Checked run = check("changes_input");
    EXPECT_EQ(run.kinds(), Kinds{"input_changed"});
    EXPECT_EQ(run.first_text(), "wrote to inp[n=0, c=0]: an input, which must stay as it is");
}

TEST_F(EndToEnd, WritingPastTheEndFaultsWhereTheBufferFillsItsLine) {
    const Checked run = check("past_the_end");
    EXPECT_EQ(run.kinds("even"), Kinds{"out_of_bounds"});
    EXPECT_NE(run.first_text("even").find("past the end of out (N=4, stride=16): element 64 is 1 past the end"),
              std::string::npos)
        << run.first_text("even");
}

TEST_F(EndToEnd, WritingPastTheEndIsSeenInTheSlackToo) {
    const Checked run = check("past_the_end");
    EXPECT_EQ(run.kinds("odd"), Kinds{"out_of_bounds"});
    EXPECT_EQ(run.first_text("odd"), "wrote past the end of out (N=3, stride=7): element 21 is 1 past the end");
}

TEST_F(EndToEnd, WritingFarPastTheEndIsNamed) {
    EXPECT_NE(check("far_past_the_end").first_text("odd").find("element 41 is 21 past the end"), std::string::npos);
}

TEST_F(EndToEnd, WritingBeforeTheStartIsNamed) {
    const Checked run = check("before_the_start");
    for (const std::string name : {"even", "odd"}) {
        EXPECT_EQ(run.kinds(name), Kinds{"out_of_bounds"});
        EXPECT_NE(run.first_text(name).find("before the start of out"), std::string::npos) << run.first_text(name);
        EXPECT_NE(run.first_text(name).find("element -1"), std::string::npos) << run.first_text(name);
    }
}

TEST_F(EndToEnd, ReadingPastTheEndIsNamed) {
    const Checked run = check("reads_past_the_end");
    EXPECT_EQ(run.kinds("even"), Kinds{"out_of_bounds"});
    EXPECT_NE(run.first_text("even").find("past the end of inp (N=4, stride=16): element 64 is 1 past the end"),
              std::string::npos);
    EXPECT_NE(run.of_case("odd").at("verdict"), "ok") << "what lies in the slack must reach the result";
}

TEST_F(EndToEnd, AnEndlessLoopIsNamedAndTheOtherShapesAreNotWaitedFor) {
    const Checked run = check("loops", "--no-timing", "SOL_TIMEOUT_S=0.3");
    EXPECT_EQ(run.status, 1);
    EXPECT_EQ(run.kinds("even"), Kinds{"hang"});
    EXPECT_EQ(run.first_text("even"), "was still running after 0.3 s: a loop that does not end?");
    EXPECT_FALSE(run.of_case("odd").at("ran"));
}

TEST_F(EndToEnd, ALoopThatPrintsIsStoppedAtTheTimeLimitToo) {
    const Checked run = check("prints_without_end", "--no-timing", "SOL_TIMEOUT_S=0.3");
    EXPECT_EQ(run.kinds("even"), Kinds{"hang"}) << run.output;
    EXPECT_NE(run.output.find("| and on it goes"), std::string::npos) << run.output;
}

TEST_F(EndToEnd, TakingAllMemoryIsNamedBeforeThereIsNone) {
    const Checked run = check("takes_all_memory", "--no-timing", "SOL_MEMORY_MIB=256");
    EXPECT_EQ(run.kinds("even"), Kinds{"out_of_memory"}) << run.output;
    EXPECT_NE(run.first_text().find("nearly all that was free"), std::string::npos) << run.first_text();
}

TEST_F(EndToEnd, AThreadThatRunsOnAfterTheCallIsNamed) {
    const Checked run = check("detaches_a_thread", "--no-timing", "SOL_FAKE_THREAD=runs");
    EXPECT_EQ(run.kinds("even"), Kinds{"threads"}) << run.output;
    EXPECT_EQ(run.kinds("odd"), Kinds{"threads"}) << run.output;
    EXPECT_EQ(run.first_text().find("returned while 1 thread that it started still ran"), 0U) << run.first_text();
}

TEST_F(EndToEnd, AThreadThatEndsOrSleepsAfterTheCallIsLetBe) {
    for (const char* then : {"ends", "sleeps"}) {
        const Checked run = check("detaches_a_thread", "--no-timing", fmt::format("SOL_FAKE_THREAD={}", then));
        EXPECT_EQ(run.verdict(), "ok") << then << run.output;
    }
}

TEST_F(EndToEnd, ANullPointerIsNamed) {
    const Checked run = check("null_pointer");
    EXPECT_EQ(run.kinds(), Kinds{"crash"});
    EXPECT_NE(run.first_text().find("through a null pointer"), std::string::npos);
}

TEST_F(EndToEnd, ANullPointerInAThreadIsNoStackOverflow) {
    const Checked run = check("null_pointer_in_a_thread");
    EXPECT_EQ(run.kinds(), Kinds{"crash"});
    EXPECT_EQ(run.first_text(), "read through a null pointer");
}

TEST_F(EndToEnd, AStackOverflowIsNamed) {
    EXPECT_NE(check("overruns_stack").first_text().find("overran the stack"), std::string::npos);
}

TEST_F(EndToEnd, AThreadThatOverrunsItsStackIsNamed) {
    const Checked run = check("overruns_stack_in_a_thread");
    EXPECT_EQ(run.kinds(), Kinds{"crash"});
    EXPECT_NE(run.first_text().find("overran its stack"), std::string::npos) << run.first_text();
}

TEST_F(EndToEnd, AnIntegerDivisionByZeroIsNamed) {
#if !defined(__x86_64__)
    GTEST_SKIP() << "only x86 raises a signal";
#endif
    EXPECT_NE(check("divides_by_zero").first_text().find("divided an integer by zero"), std::string::npos);
}

TEST_F(EndToEnd, AnExceptionIsQuoted) {
    const Checked run = check("throws");
    EXPECT_EQ(run.kinds(), Kinds{"exception"});
    EXPECT_EQ(run.first_text(), "threw an exception: no more paper");
}

TEST_F(EndToEnd, AnExceptionOfAnyTypeIsAFinding) {
    EXPECT_EQ(check("throws_int").kinds(), Kinds{"exception"});
}

TEST_F(EndToEnd, NanIsNeverRight) {
    const Checked run = check("gives_nan");
    EXPECT_EQ(run.status, 1);
    EXPECT_EQ(run.kinds(), Kinds{"nonfinite"});
}

TEST_F(EndToEnd, AnElementThatIsLeftOutIsNamed) {
    const Checked run = check("leaves_the_last");
    EXPECT_EQ(run.kinds(), Kinds{"untouched"});
    EXPECT_EQ(run.first_text(), "1 of 64 elements of out were not written");
    EXPECT_NE(run.output.find("out[n=3, c=15]"), std::string::npos) << run.output;
}

TEST_F(EndToEnd, AddingToAnUnwrittenOutputIsReadingUnwrittenMemory) {
    EXPECT_EQ(check("adds_to_output").kinds().at(0), "uninitialised");
}

TEST_F(EndToEnd, UsingUnwrittenScratchIsReadingUnwrittenMemory) {
    EXPECT_EQ(check("uses_scratch").kinds().at(0), "uninitialised");
}

TEST_F(EndToEnd, UsingFreshHeapMemoryIsReadingUnwrittenMemory) {
    EXPECT_EQ(check("uses_heap").kinds().at(0), "uninitialised");
}

TEST_F(EndToEnd, AResultThatChangesFromRunToRunIsNondeterministic) {
    EXPECT_EQ(check("counts_calls").kinds().at(0), "nondeterministic");
}

TEST_F(EndToEnd, WhatIsRightOnOneThreadKeepsNothing) {
    const Checked run = check("counts_calls_of_threads", "--no-timing", "SOL_FAKE_THREADS=1");
    EXPECT_EQ(run.kinds(), Kinds{"mismatch"}) << run.output;
    EXPECT_NE(run.output.find("threads   on one thread it is right: do two of them use one buffer"), std::string::npos)
        << run.output;
    EXPECT_EQ(run.output.find("static variable"), std::string::npos) << run.output;
}

TEST_F(EndToEnd, WritingPaddingIsNamed) {
    const Checked run = check("writes_padding");
    EXPECT_EQ(run.of_case("even").at("verdict"), "ok");
    EXPECT_EQ(run.kinds("odd"), Kinds{"padding"});
    EXPECT_EQ(run.first_text("odd"), "wrote to out[n=0, c=5]: columns 5 and beyond are padding, to be left alone");
}

TEST_F(EndToEnd, OverrunningTheScratchIsNamed) {
    const Checked run = check("overruns_scratch");
    EXPECT_EQ(run.kinds(), Kinds{"out_of_bounds"});
    EXPECT_EQ(run.first_text(), "wrote past the end of scratch (100 bytes): byte 100 is 1 past the end");
}

TEST_F(EndToEnd, ASuspectThatFitsIsNamed) {
    const Checked run = check("halves");
    EXPECT_EQ(run.kinds(), (Kinds{"mismatch", "suspect"}));
    EXPECT_NE(run.output.find("fits      the input was halved, not doubled"), std::string::npos) << run.output;
}

TEST_F(EndToEnd, ASuspectIsTriedWhereACaseDoesNotReadPastTheEnd) {
    const Checked run = check("halves_past_the_end");
    EXPECT_EQ(run.kinds("even"), Kinds{"out_of_bounds"});
    EXPECT_EQ(run.kinds("odd"), (Kinds{"mismatch", "suspect"}));
    const std::string words = in_one_line(run.output);
    EXPECT_NE(words.find("fits the input was halved, not doubled (all elements agree at N=3 C=5 (odd))"),
              std::string::npos)
        << run.output;
}

TEST_F(EndToEnd, ASuspectIsTriedOnTheCallsThatDoNotReadPastTheEnd) {
    const Checked run = check("halves_past_the_end", "--no-timing", "SOL_FAKE_CALLS=1");
    EXPECT_EQ(run.kinds("calls"), (Kinds{"out_of_bounds", "suspect"}));
}

TEST_F(EndToEnd, WhatWrongElementsHaveInCommonIsSaid) {
    const Checked run = check("wrong_in_one_column");
    EXPECT_NE(run.output.find("every wrong element has c=3"), std::string::npos) << run.output;
}

TEST_F(EndToEnd, AnotherSignatureIsNamed) {
    EXPECT_EQ(check("has_another_signature").kinds(), Kinds{"not_defined"});
}

TEST_F(EndToEnd, AnObjectThatDefinesNothingIsAFinding) {
    EXPECT_EQ(check("defines_nothing").kinds(), Kinds{"not_defined"});
}

TEST(Library, FindsWhatATemplateIsInstantiatedForAndNothingElse) {
    const checker::Library library("build/tests/fakes/instantiates.so");
    const auto of_float = library.find<thrice<float>>();
    ASSERT_NE(of_float, nullptr);
    float value = 2;
    of_float(&value, 1);
    EXPECT_EQ(value, 6);
    EXPECT_NE(library.find<thrice<short>>(), nullptr);
    EXPECT_EQ(library.find<thrice<double>>(), nullptr);
    EXPECT_EQ(library.find<twice>(), nullptr);
}

TEST_F(EndToEnd, ACrashWhileLoadingIsAFinding) {
    EXPECT_EQ(check("crashes_when_loaded").kinds(), Kinds{"crash"});
}

TEST_F(EndToEnd, AnObjectThatIsNotThereIsAFinding) {
    const Checked run = check("does_not_exist");
    EXPECT_EQ(run.status, 1);
    EXPECT_EQ(run.kinds(), Kinds{"not_compiled"});
}

// ---- elements, in-out tensors, sequences ---------------------------------------------------------------------------

TEST_F(EndToEnd, AnOpThatAccumulatesInBfloat16IsRightInEveryCallAndWhenItIsTimed) {
    const Checked run = check_toy("", "");
    EXPECT_EQ(run.status, 0) << run.output;
    for (const std::string name : {"regular", "no_mean", "steps", "grows"}) {
        EXPECT_EQ(run.of_case(name).at("verdict"), "ok");
    }
    EXPECT_EQ(run.json.at("ops").at(0).at("timing").at("verdict"), "ok") << run.output;
}

TEST_F(EndToEnd, OverwritingWhatIsToGrowIsWrong) {
    const Checked run = check_toy("overwrites");
    EXPECT_EQ(run.kinds("regular"), Kinds{"mismatch"});
    EXPECT_NE(run.first_text("regular").find("of 65 elements of grad are wrong"), std::string::npos)
        << run.first_text("regular");
    EXPECT_NE(run.output.find("out and loss and mean are right"), std::string::npos) << run.output;
}

TEST_F(EndToEnd, RoundingToFewerBitsThanThePrecisionHasIsWrong) {
    const Checked run = check_toy("few_bits");
    EXPECT_EQ(run.kinds("regular"), (Kinds{"mismatch", "suspect"}));
    EXPECT_NE(run.first_text("regular").find("elements of out"), std::string::npos) << run.first_text("regular");
    EXPECT_NE(run.output.find("fits      the factors of the products were rounded to bf16"), std::string::npos);
    EXPECT_NE(run.output.find("the tf32 error budget there is"), std::string::npos) << run.output;
}

TEST_F(EndToEnd, AnErrorSmallerThanThePrecisionsIsRightAndNotYetFast) {
    const Checked run = check_toy("all_bits");
    EXPECT_EQ(run.status, 1) << run.output;
    EXPECT_EQ(run.json.at("ops").at(0).at("verdict"), "SLOW");
    for (const std::string name : {"regular", "no_mean"}) {
        EXPECT_EQ(run.of_case(name).at("verdict"), "ok");
        EXPECT_EQ(run.kinds(name), Kinds{"too_accurate"}) << run.output;
        EXPECT_EQ(run.first_text(name).find("TF32 is not active: your error in out is "), 0U) << run.first_text(name);
    }
    EXPECT_NE(
        in_one_line(run.output).find("correct, not yet fast: at N=40 C=65 TF32 is not active: your error in out is"),
        std::string::npos)
        << run.output;
}

TEST_F(EndToEnd, AnInputBesideAnInOutTensorMustStayAsItIs) {
    EXPECT_EQ(check_toy("writes_input").first_text("regular"), "wrote to v[c=1]: an input, which must stay as it is");
}

TEST_F(EndToEnd, WhatIsKeptFromOneCallToTheNextIsNondeterministic) {
    const Checked run = check_toy("keeps_state");
    EXPECT_EQ(run.kinds("regular").at(0), "nondeterministic") << run.output;
    EXPECT_EQ(run.of_case("steps").at("verdict"), "WRONG");
}

TEST_F(EndToEnd, AScalarIsNamedWithoutAnIndex) {
    const Checked wrong = check_toy("wrong_loss");
    EXPECT_EQ(wrong.first_text("regular").find("loss is wrong, off by"), 0U) << wrong.first_text("regular");
    EXPECT_NE(wrong.output.find("loss   got"), std::string::npos) << wrong.output;
    const Checked untouched = check_toy("no_loss");
    EXPECT_EQ(untouched.first_text("regular"), "loss was not written: it is as it was before the call");
}

TEST_F(EndToEnd, AnElementPastTheEndIsCountedInItsOwnSize) {
    EXPECT_EQ(check_toy("past_the_end").first_text("regular"),
              "wrote past the end of grad (C=65): element 65 is 1 past the end");
}

TEST_F(EndToEnd, AnOutputThatIsNullInACallIsNamed) {
    const Checked run = check_toy("mean_always");
    EXPECT_EQ(run.of_case("regular").at("verdict"), "ok");
    EXPECT_EQ(run.kinds("no_mean"), Kinds{"crash"});
    EXPECT_NE(run.first_text("no_mean").find("null pointer (mean is null in this call)"), std::string::npos)
        << run.first_text("no_mean");
}

TEST_F(EndToEnd, LeavingAnInOutTensorAsItWasIsNotWrittenYet) {
    const Checked run = check_toy("nothing");
    EXPECT_EQ(run.verdict(), "not written yet") << run.output;
}

TEST_F(EndToEnd, OverrunningTheWorkspaceIsAFinding) {
    EXPECT_EQ(check_toy("overruns_workspace").kinds("regular"), Kinds{"out_of_bounds"});
}

// ---- timing ----------------------------------------------------------------------------------------------------

TEST_F(EndToEnd, RightAndFastPassesItsTarget) {
    const Checked run = check("right", "");
    EXPECT_EQ(run.status, 0) << run.output;
    EXPECT_EQ(run.json.at("ops").at(0).at("timing").at("verdict"), "ok");
}

TEST_F(EndToEnd, SlowIsCorrectButNotYetFast) {
    const Checked run = check("slow", "");
    EXPECT_EQ(run.status, 1);
    EXPECT_EQ(run.verdict(), "SLOW");
    EXPECT_EQ(run.of_case("even").at("verdict"), "ok");
    EXPECT_NE(run.output.find("correct, not yet fast"), std::string::npos) << run.output;
}

TEST_F(EndToEnd, SlowIsSeenAgainstTheCopyToo) {
    target("against = \"copy\"\nbronze = 0.1\nsilver = 0.2\ngold = 0.3\n");
    EXPECT_EQ(check("right", "--timing-only").status, 0);
    EXPECT_EQ(check("slow", "--timing-only").verdict(), "SLOW");
}

TEST_F(EndToEnd, WhatIsWrongAtTheTimedShapeIsWrong) {
    const Checked run = check("wrong_when_large", "");
    EXPECT_EQ(run.status, 1);
    EXPECT_EQ(run.verdict(), "WRONG");
    EXPECT_NE(run.output.find("is wrong at the timed shape N=64 C=1024"), std::string::npos) << run.output;
}

// Of an output too large to be computed whole, whose solution is wrong in the same way: only the elements that are looked
// at show it.
class WrongInTheSolutionToo : public EndToEnd, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, WrongInTheSolutionToo,
                         testing::Values("tile", "last_row", "last_column", "place", "displaced", "stale"),
                         [](const auto& what) { return std::string(what.param); });

TEST_P(WrongInTheSolutionToo, IsSeenByTheElementsThatAreComputed) {
    fs::remove(folder_ / "right/twice.so");
    fs::create_symlink(fs::absolute("build/tests/fakes/wrong_where_said.so"), folder_ / "right/twice.so");
    const std::string environment = std::string("SOL_FAKE_LARGE=1 FAKE_WRONG=") + GetParam();
    const Checked run = check("wrong_where_said", "--timing-only", environment);
    EXPECT_EQ(run.verdict(), "WRONG");
    EXPECT_TRUE(contains(run.output, " at the timed shape N=1021 C=4099")) << run.output;
    EXPECT_TRUE(contains(run.output, "   expected ")) << run.output;
}

TEST_F(EndToEnd, AllElementsOfALargeOutputAreComparedWithTheSolutions) {
    EXPECT_EQ(check("right", "--timing-only", "SOL_FAKE_LARGE=1").status, 0);
    const Checked run = check("wrong_when_large", "--timing-only", "SOL_FAKE_LARGE=1");  // in one of 4 million
    EXPECT_EQ(run.verdict(), "WRONG");
    EXPECT_TRUE(contains(run.output, "   the solution ") || contains(run.output, "   expected ")) << run.output;
}

TEST_F(EndToEnd, AShapeThatMemoryHasNoRoomForIsNotTimedAndNotWrong) {
    const Checked run = check("right", "", "SOL_FAKE_NO_ROOM=1");
    EXPECT_EQ(run.status, 0) << run.output;
    EXPECT_EQ(run.verdict(), "ok");
    EXPECT_NE(run.output.find("N=64 C=1024 is not timed: it wants 3 GiB more, 1 GiB is free"), std::string::npos)
        << run.output;
    EXPECT_EQ(run.json.at("ops").at(0).at("not_timed").size(), 1U);
}

TEST_F(EndToEnd, AShapeWhoseResultsTheHostHasNoRoomForIsNotTimedAndNotWrong) {
    const Checked run = check("right", "--timing-only", "SOL_FAKE_LARGE=1 SOL_MEMORY_MIB=40");
    EXPECT_EQ(run.status, 0) << run.output;
    EXPECT_NE(in_one_line(run.output)
                  .find("N=1021 C=4099 is not timed: it wants 0.0468 GiB of the host's memory, of "
                        "which 0.0391 GiB can be had"),
              std::string::npos)
        << run.output;
}

TEST_F(EndToEnd, ALibraryThatIsNotThereIsNamedAndTheRestTimed) {
    const Checked run = check("right", "", "SOL_FAKE_NO_LIBRARY=1");
    EXPECT_EQ(run.status, 0) << run.output;
    EXPECT_NE(run.output.find("libtwice is not timed: nobody has it"), std::string::npos) << run.output;
    EXPECT_TRUE(run.json.at("ops").at(0).at("timing").at("shapes").at(0).at("of_speed_of").contains("solution"));
}

TEST_F(EndToEnd, WhatOnlyWorksTheFirstTimeIsWrongOnTheInputsAfterTheTiming) {
    const Checked run = check("keeps_its_result", "--timing-only");
    EXPECT_EQ(run.verdict(), "WRONG");
    EXPECT_NE(run.output.find("is right at the timed shape N=64 C=1024 as the first call"), std::string::npos)
        << run.output;
}

TEST_F(EndToEnd, AResultThatIsKeptIsNamedWithTheCallThatGaveIt) {
    const Checked run = check("caches_by_pointer", "--no-timing", "SOL_FAKE_OTHERS=1");
    EXPECT_EQ(run.kinds("even"), Kinds{});
    EXPECT_EQ(run.kinds("others"), (Kinds{"kept", "mismatch"})) << run.output;
    EXPECT_EQ(run.first_text("others"), "gives what an earlier call gave: out of N=4 C=16 (even)");
}

TEST_F(EndToEnd, WhatIsKeptIsNamedWhereNoEarlierCallGaveThisResult) {
    const Checked run = check("keeps_a_factor", "--no-timing", "SOL_FAKE_OTHERS=1");
    EXPECT_EQ(run.kinds("even"), Kinds{});
    EXPECT_EQ(run.kinds("others"), (Kinds{"kept", "mismatch"})) << run.output;
    EXPECT_EQ(run.first_text("others"), "is right as the first call, and wrong after other calls");
}

TEST_F(EndToEnd, WhatTwoThreadsGiveAtATimedShapeIsComparedToo) {
    target("against = \"solution\"\nbronze = 0.125\nsilver = 0.25\ngold = 0.5\nthreads = 0.05\n");
    const fs::path roof = folder_ / "roof.json";
    constexpr double kFar = 1e18;  // so that no run beats it
    checker::save_roof({.cpu = {.name = checker::cpu_name(),
                                .cores = 2,
                                .lanes = 8,
                                .copy_one = kFar,
                                .copy_all = kFar,
                                .fma_one = kFar,
                                .fma_all = kFar,
                                .two_processes = 2},
                        .gpu = {},
                        .measured_at = "2026-01-31T12:00:00Z"},
                       roof);
    const std::string options = "--timing-only --roof " + roof.string();
    const Checked wrong = check("right", options, "SOL_FAKE_WRONG_ON_TWO_THREADS=1");
    EXPECT_EQ(wrong.verdict(), "WRONG") << wrong.output;
    EXPECT_NE(wrong.output.find("is wrong at the timed shape N=64 C=1024 on two threads"), std::string::npos)
        << wrong.output;
    EXPECT_NE(check("right", options).verdict(), "WRONG");
}

TEST_F(EndToEnd, ARateAboveTheRoofIsImpossibleNotFast) {
    const Checked run = check("looks_whether_it_is_done", "--timing-only");
    EXPECT_EQ(run.status, 1);
    EXPECT_EQ(run.verdict(), "IMPOSSIBLE") << run.output;
    EXPECT_NE(run.output.find("a copy's speed: no"), std::string::npos) << run.output;
}

TEST_F(EndToEnd, AShareOfARoofThatTheSolutionBeatsTooGivesNoMedalAndNoAccusation) {
    target("against = \"copy\"\nbronze = 0.1\nsilver = 0.2\ngold = 0.3\n");
    const Checked run = check("right", "--timing-only", "SOL_FAKE_BYTES=1e8");
    EXPECT_EQ(run.status, 0) << run.output;
    EXPECT_EQ(run.verdict(), "no verdict");
    const nlohmann::json& timing = run.json.at("ops").at(0).at("timing");
    EXPECT_EQ(timing.at("medal"), "");
    EXPECT_TRUE(timing.at("shapes").at(0).at("roof_is_wrong").get<bool>());
    const std::string words = in_one_line(run.output);
    EXPECT_NE(words.find("no verdict, the roof of this run is wrong"), std::string::npos) << run.output;
    EXPECT_NE(words.find("the roof of this run is wrong: N=64 C=1024 is "), std::string::npos) << run.output;
}

TEST_F(EndToEnd, AShareOfTheSolutionsSpeedStandsWhereTheRoofIsWrong) {
    const Checked run = check("right", "--timing-only", "SOL_FAKE_FLOP=1e15");
    EXPECT_EQ(run.status, 0) << run.output;
    EXPECT_EQ(run.verdict(), "ok");
    const std::string words = in_one_line(run.output);
    EXPECT_NE(words.find("the roof of this run is wrong: N=64 C=1024 is "), std::string::npos) << run.output;
    EXPECT_NE(words.find("the multiply-adds of one core"), std::string::npos) << run.output;
}

TEST_F(EndToEnd, MultiplyAddsAreNoRoofOfWhatTensorCoresCompute) {
    const Checked run = check("right", "--timing-only", "SOL_FAKE_FLOP=1e15 SOL_FAKE_TENSOR_CORES=1");
    EXPECT_EQ(run.verdict(), "ok");
    EXPECT_EQ(in_one_line(run.output).find("the roof of this run is wrong"), std::string::npos) << run.output;
    EXPECT_NE(run.output.find("GFLOP/s"), std::string::npos) << run.output;
}

TEST_F(EndToEnd, AllTimesAreTakenAgainstARoofThatIsMeasuredWhereItIsAnotherMachinesAndRaisedWhereARunBeatsIt) {
    const fs::path roof = folder_ / "roof.json";
    checker::save_roof({.cpu = {.name = "Another CPU",
                                .cores = 1,
                                .lanes = 8,
                                .copy_one = 1,
                                .copy_all = 1,
                                .fma_one = 1,
                                .fma_all = 1,
                                .two_processes = 1},
                        .gpu = {},
                        .measured_at = "2026-01-31T12:00:00Z"},
                       roof);
    // Whatever its verdict: beside other work a copy may be several times slower than what is timed against it.
    const Checked run = check("right", "--timing-only --roof " + roof.string());
    EXPECT_NE(run.output.find("measured on another machine (Another CPU"), std::string::npos) << run.output;
    EXPECT_NE(run.output.find("times in ms"), std::string::npos) << run.output;
    std::string why;
    EXPECT_TRUE(checker::load_roof(roof, checker::cpu_name(), why)) << why;

    // A tenth above what the file says, by far: this core does more than one FLOP a second.
    checker::Roof beaten = checker::load_roof(roof, checker::cpu_name(), why).value();
    beaten.cpu.fma_one = 1;
    beaten.gpu = R"({"name":"a card"})";
    checker::save_roof(beaten, roof);
    const std::string options = "--timing-only --roof " + roof.string();
    const std::string said = in_one_line(check("right", options, "SOL_FAKE_FLOP=131072").output);
    EXPECT_NE(said.find("GFLOP/s of multiply-adds, which " + roof.string() + " says from now on; it said "),
              std::string::npos)
        << said;
    EXPECT_EQ(said.find("measuring it"), std::string::npos) << said;
    const checker::Roof renewed = checker::load_roof(roof, checker::cpu_name(), why).value();
    EXPECT_GT(renewed.cpu.fma_one, 1e6);
    EXPECT_NE(renewed.gpu.find("a card"), std::string::npos) << "the card's roof was lost: " << renewed.gpu;
    EXPECT_EQ(check("right", options).output.find("measuring it"), std::string::npos);
}

TEST_F(EndToEnd, ATargetOfNoOpIsRefusedWithTheNearest) {
    target("against = \"copy\"\nbronze = 0.1\nsilver = 0.2\ngold = 0.3\n[target.twcie]\nagainst = \"copy\"\n");
    const Checked run = check("right");
    EXPECT_EQ(run.status, 2);
    EXPECT_EQ(run.output, fmt::format("check: {}:8: [target.twcie] is of no op of the lesson; did you mean twice?\n",
                                      (folder_ / "lesson.toml").string()));
}

TEST_F(EndToEnd, CountersOfALessonWithoutKernelsAreRefused) {
    std::ofstream(folder_ / "lesson.toml") << "[counters]\ntwice = { bytes_moved = 1.1 }\n";
    const Checked run = check("right");
    EXPECT_EQ(run.status, 2);
    EXPECT_NE(run.output.find(":2: [counters.twice.bytes_moved] counts nothing: the lesson has no kernels"),
              std::string::npos)
        << run.output;
}

TEST_F(EndToEnd, ALessonDescribesItself) {
    target("against = \"solution\"\nbronze = 0.125\nsilver = 0.25\ngold = 0.5\nolder = 10\n");
    const nlohmann::json lesson = nlohmann::json::parse(check("right", "--describe").output);
    EXPECT_EQ(lesson.at("name"), "00_fake");
    EXPECT_EQ(lesson.at("title"), "fake");
    const nlohmann::json op = lesson.at("ops").at(0);
    EXPECT_EQ(op.at("op"), "twice");
    EXPECT_EQ(op.at("cases").at(1).at("case"), "odd");
    EXPECT_EQ(op.at("target").at("against"), "solution");
    EXPECT_EQ(op.at("target").at("older"), (nlohmann::json{{"bronze", 10}, {"silver", 10}, {"gold", 10}}));
    EXPECT_EQ(op.at("shapes").at(0).at("shape"), "N=64 C=1024");
    EXPECT_EQ(op.at("shapes").at(0).at("judged"), true);
    EXPECT_EQ(op.at("shapes").at(0).at("bytes"), 2 * 4 * 64 * 1024);
    std::ofstream(folder_ / "lesson.toml") << "titel = \"fake\"\n";
    EXPECT_EQ(check("right", "--describe").status, 2);
}

TEST_F(EndToEnd, HostLessonRefusesProgramsThatNeedKernels) {
    for (const std::string option : {"--one-thread", "--estimate", "--traffic"}) {
        const Checked run = check("right", option);
        EXPECT_EQ(run.status, 2);
        EXPECT_EQ(run.output, fmt::format("check: {}: the lesson has no kernels\n", option));
    }
    EXPECT_EQ(check("right", "--traffic --only thrice").output,  // refused before anything else
              "check: --only thrice: lesson 00 has no op thrice; it has twice\n");
}

TEST_F(EndToEnd, WhereTheOlderSolutionIsNotBuiltItIsSaidThatNothingIsComparedWithIt) {
    target("against = \"solution\"\nbronze = 0.125\nsilver = 0.25\ngold = 0.5\nolder = 10.0\n");
    const Checked run = check("right", "--timing-only");
    EXPECT_EQ(run.status, 0) << run.output;
    const std::string note = run.json.at("ops").at(0).at("timing").at("notes").at(0);
    EXPECT_EQ(note, "not compared with the older lesson's solution: 'make check-lesson00' builds it");
}

TEST_F(EndToEnd, AnOlderSolutionsSpeedIsATargetOfEachMedalThatNamesIt) {
    fs::create_directories(folder_ / "older");  // before `right`
    fs::create_symlink(fs::absolute("build/tests/fakes/slow.so"), folder_ / "older" / "twice.so");
    const std::string solution = "against = \"solution\"\nbronze = 0.125\nsilver = 0.25\ngold = 0.5\n";
    target(solution + "older = { silver = 4 }\n");
    EXPECT_EQ(check("right", "--timing-only").json.at("ops").at(0).at("timing").at("medal"), "gold");
    target(solution + "older = { silver = 1000 }\n");
    const Checked bronze = check("right", "--timing-only");
    EXPECT_EQ(bronze.json.at("ops").at(0).at("timing").at("medal"), "bronze") << bronze.output;
    EXPECT_NE(bronze.output.find("times as fast as the older lesson's solution (silver 1,000)\n"), std::string::npos)
        << bronze.output;
    EXPECT_EQ(bronze.output.find("too noisy for more"), std::string::npos) << bronze.output;
    EXPECT_EQ(bronze.output.find("TF32"), std::string::npos) << bronze.output;  // a CPU has none
    target(solution + "older = 1000\n");
    const Checked slow = check("right", "--timing-only");
    EXPECT_EQ(slow.verdict(), "SLOW");
    EXPECT_NE(in_one_line(slow.output).find("as fast as the older lesson's solution, the target is 1,000"),
              std::string::npos)
        << slow.output;
}

TEST_F(EndToEnd, ATargetAgainstTheOlderSolutionCountsItsTimes) {
    const std::string older = "against = \"older\"\n";
    target(older + "bronze = 2\nsilver = 4\ngold = 1000\n");
    const Checked unbuilt = check("right", "--timing-only");
    EXPECT_EQ(unbuilt.status, 0) << unbuilt.output;
    EXPECT_NE(unbuilt.output.find("the older solution's speed unknown (bronze 2)"), std::string::npos)
        << unbuilt.output;
    fs::create_directories(folder_ / "older");  // before `right`
    fs::create_symlink(fs::absolute("build/tests/fakes/slow.so"), folder_ / "older" / "twice.so");
    const Checked silver = check("right", "--timing-only");
    EXPECT_EQ(silver.json.at("ops").at(0).at("timing").at("medal"), "silver") << silver.output;
    EXPECT_NE(in_one_line(silver.output).find("times as fast as the older lesson's solution (gold 1,000)"),
              std::string::npos)
        << silver.output;
    target(older + "bronze = 1000\nsilver = 2000\ngold = 3000\n");
    const Checked slow = check("right", "--timing-only");
    EXPECT_EQ(slow.verdict(), "SLOW");
    EXPECT_NE(in_one_line(slow.output).find("as fast as the older lesson's solution, the target is 1,000"),
              std::string::npos)
        << slow.output;
}

TEST_F(EndToEnd, ComparesTheFirstShapeThatHasRoomWithTheOlderSolution) {
    fs::create_directories(folder_ / "older");  // before `right`
    fs::create_symlink(fs::absolute("build/tests/fakes/slow.so"), folder_ / "older" / "twice.so");
    std::ofstream(folder_ / "lesson.toml")
        << "title = \"fake\"\n[target.twice]\nshapes = [\"N=64 C=1024\", \"N=32 C=1024\"]\nagainst = \"solution\"\n"
        << "bronze = 0.125\nsilver = 0.25\ngold = 0.5\nolder = 1000\n";
    const Checked slow = check("right", "--timing-only", "SOL_FAKE_NO_ROOM=1 SOL_FAKE_SECOND_SHAPE=1");
    EXPECT_EQ(slow.verdict(), "SLOW") << slow.output;
    EXPECT_NE(in_one_line(slow.output).find("as fast as the older lesson's solution, the target is 1,000"),
              std::string::npos)
        << slow.output;
}

TEST_F(EndToEnd, AnOpOfWhichNoShapeHasRoomIsNotComparedAndNotPassed) {
    fs::create_directories(folder_ / "older");  // before `right`
    fs::create_symlink(fs::absolute("build/tests/fakes/slow.so"), folder_ / "older" / "twice.so");
    const std::string solution = "against = \"solution\"\nbronze = 0.125\nsilver = 0.25\ngold = 0.5\n";
    for (const char* asked : {"older = 2\n", "threads = 0.7\n"}) {
        target(solution + asked);
        const Checked run = check("right", "", "SOL_FAKE_NO_ROOM=1");
        EXPECT_EQ(run.status, 1) << run.output;
        EXPECT_EQ(run.verdict(), "not compared") << run.output;
        EXPECT_NE(in_one_line(run.output).find("N=64 C=1024 is not timed: it wants 3 GiB more, 1 GiB is free"),
                  std::string::npos)
            << run.output;
        EXPECT_NE(in_one_line(run.output)
                      .find("not passed: none of the judged shapes could be timed, so nothing is "
                            "compared with the"),
                  std::string::npos)
            << run.output;
        EXPECT_EQ(run.output.find("all ok"), std::string::npos) << run.output;
    }
}

TEST_F(EndToEnd, AShareOfTheMultiplyAddsIsATarget) {
    const std::string flop = "SOL_FAKE_FLOP=65536";  // a product for each float: memory takes most of the time
    target("against = \"arithmetic\"\nbronze = 0.00001\nsilver = 0.00002\ngold = 0.00003\n");
    const Checked fast = check("right", "--timing-only", flop);
    EXPECT_EQ(fast.json.at("ops").at(0).at("timing").at("medal"), "gold") << fast.output;
    EXPECT_NE(fast.output.find(" of the fp32 roof's speed (gold 0.003%)"), std::string::npos) << fast.output;
    target("against = \"arithmetic\"\nbronze = 0.5\nsilver = 0.6\ngold = 0.7\n");
    const Checked slow = check("right", "--timing-only", flop);
    EXPECT_EQ(slow.verdict(), "SLOW");
    EXPECT_NE(in_one_line(slow.output).find("of the fp32 roof's speed, bronze is 50%"), std::string::npos)
        << slow.output;
}

TEST_F(EndToEnd, AFileThatIncludesASolutionIsNotPassed) {
    fs::create_directories(folder_ / "log");
    std::ofstream(folder_ / "log/twice.d") << "build/ops/lessons/00_fake/twice.o: lessons/00_fake/twice.cpp \\\n"
                                           << " lessons/gpt2/ops.h lessons/00_fake/../../solutions/00_fake/twice.cpp\n";
    const Checked run = check("right", "--log-dir " + (folder_ / "log").string());
    EXPECT_EQ(run.status, 1) << run.output;
    EXPECT_EQ(run.verdict(), "NOT YOURS");
    EXPECT_FALSE(run.json.at("ops").at(0).contains("timing"));
    EXPECT_NE(run.output.find("it includes solutions/00_fake/twice.cpp, so it is not passed"), std::string::npos)
        << run.output;
}

TEST_F(EndToEnd, WhatIsWrongIsNotTimed) {
    EXPECT_FALSE(check("halves", "").json.at("ops").at(0).contains("timing"));
}

TEST_F(EndToEnd, ACrashDuringTimingIsAFinding) {
    const Checked run = check("exits", "--timing-only");
    EXPECT_EQ(run.status, 1);
    EXPECT_EQ(run.verdict(), "WRONG");
}

// ---- the program -----------------------------------------------------------------------------------------------

TEST_F(EndToEnd, OnlyOneCaseRunsWhenAskedFor) {
    const Checked run = check("right", "--only twice/odd");
    EXPECT_EQ(run.json.at("ops").at(0).at("cases").size(), 1U);
    EXPECT_FALSE(run.json.at("ops").at(0).contains("timing"));
}

TEST_F(EndToEnd, AResultSaysWhetherAllCasesRan) {
    const fs::path results = folder_ / "results.jsonl";
    check("right", "--no-timing --only twice/odd --results " + results.string());
    check("right", "--no-timing --results " + results.string());
    check("right", "--no-timing --gtest_filter=Twice.odd --results " + results.string());
    std::ifstream in(results);
    std::vector<bool> whole;
    for (std::string line; std::getline(in, line);) { whole.push_back(nlohmann::json::parse(line).at("all_cases")); }
    EXPECT_EQ(whole, (std::vector<bool>{false, true, false}));
}

TEST_F(EndToEnd, AFilterThatLeavesNothingIsNotAPass) {
    const Checked run = check("right", "--gtest_filter=Thrice.*");
    EXPECT_EQ(run.status, 2);
    EXPECT_NE(run.output.find("nothing was checked"), std::string::npos) << run.output;
}

TEST_F(EndToEnd, AnUnknownOpNamesThoseThereAre) {
    const Checked run = check("right", "--only thrice");
    EXPECT_EQ(run.status, 2);
    EXPECT_NE(run.output.find("it has twice"), std::string::npos) << run.output;
}

TEST_F(EndToEnd, AnUnknownCaseNamesThoseThereAre) {
    const Checked run = check("right", "--only twice/evne");
    EXPECT_EQ(run.status, 2);
    EXPECT_NE(run.output.find("it has even, odd, timing"), std::string::npos) << run.output;
}

TEST_F(EndToEnd, AnOptionThatIsUnknownOrHalfIsRefusedWithTwo) {
    for (const auto& [options, why] :
         {std::pair("--onyl twice", "check: there is no option --onyl; did you mean --only?"),
          std::pair("twice", "check: there is no option twice"), std::pair("--only", "check: --only needs an argument"),
          std::pair("--verbose=yes", "check: --verbose takes no argument")}) {
        const Checked run = check("right", options);
        EXPECT_EQ(run.status, 2) << options;
        EXPECT_NE(run.output.find(why), std::string::npos) << run.output;
    }
}

TEST_F(EndToEnd, TheOptionsAreListed) {
    const Checked run = check("right", "--help");
    EXPECT_EQ(run.status, 0);
    EXPECT_NE(run.output.find("--gtest_filter"), std::string::npos) << run.output;
    EXPECT_NE(run.output.find("  --only           OP, OP/CASE or OP/timing\n"), std::string::npos) << run.output;
}

TEST_F(EndToEnd, AnArgumentMayFollowAnEqualsSign) {
    const Checked run = check("right", "--no-timing --only=twice/odd");
    EXPECT_EQ(run.json.at("ops").at(0).at("cases").size(), 1U) << run.output;
}

TEST_F(EndToEnd, GoogleTestsFilterAndXmlWork) {
    const fs::path xml = folder_ / "out.xml";
    const Checked run =
        check("right", fmt::format("--no-timing --gtest_filter=Twice.odd --gtest_output=xml:{}", xml.string()));
    EXPECT_EQ(run.json.at("ops").at(0).at("cases").size(), 1U);
    std::stringstream text;
    text << std::ifstream(xml).rdbuf();
    EXPECT_NE(text.str().find("name=\"odd\""), std::string::npos) << text.str();
}

TEST_F(EndToEnd, ResultsAreAppendedOneLineAnOp) {
    const fs::path results = folder_ / "deep" / "results.jsonl";
    check("right", "--no-timing --results " + results.string());
    check("halves", "--no-timing --results " + results.string());
    std::ifstream in(results);
    std::vector<nlohmann::json> lines;
    for (std::string line; std::getline(in, line);) { lines.push_back(nlohmann::json::parse(line)); }
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0].at("verdict"), "ok");
    EXPECT_EQ(lines[1].at("verdict"), "WRONG");
    EXPECT_EQ(lines[1].at("op"), "twice");
}

TEST_F(EndToEnd, ResultsThatCannotBeWrittenAreAWarning) {
    const Checked run = check("right", "--no-timing --results /proc/none/results.jsonl");
    EXPECT_EQ(run.status, 0) << run.output;
    EXPECT_NE(run.output.find("warning: /proc/none/results.jsonl cannot be written"), std::string::npos) << run.output;
}

TEST_F(EndToEnd, AVerdictThatCannotBeWrittenIsAFailure) {
    const Checked run = check("right", "--no-timing --json /proc/none/verdict.json");
    EXPECT_EQ(run.status, 2);
    EXPECT_NE(run.output.find("check: /proc/none/verdict.json"), std::string::npos) << run.output;
}

TEST_F(EndToEnd, PipedOutputHasNoEscapeCodesAndFitsEightyColumns) {
    for (const std::string fake : {"right", "halves", "past_the_end", "adds_to_output", "gives_nan", "throws"}) {
        std::istringstream text(check(fake, "--no-timing --verbose").output);
        for (std::string line; std::getline(text, line);) {
            EXPECT_EQ(line.find('\033'), std::string::npos) << line;
            const bool has_path = line.find(folder_.string()) != std::string::npos;
            EXPECT_TRUE(has_path || line.size() <= 80 + 8) << line;  // a dot in the heading is two bytes
        }
    }
}

namespace {

// Gone, or a zombie that init has yet to collect; waits some time for it.
bool is_gone(pid_t process) {
    const auto gone = [process] {
        std::ifstream stat(fmt::format("/proc/{}/stat", process));
        std::string pid, name, state;
        return !(stat >> pid >> name >> state) || state == "Z";
    };
    for (int i = 0; i < 6000 && !gone(); i++) { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }
    return gone();
}

std::vector<pid_t> pids_in(const fs::path& file) {
    std::ifstream in(file);
    return {std::istream_iterator<pid_t>(in), {}};
}

}  // namespace

TEST_F(EndToEnd, WhatTheCodeUnderTestHasStartedEndsWithTheCheck) {
    const fs::path pids = folder_ / "pids";
    const Checked run = check("leaves_processes", "--no-timing", "SOL_FAKE_PIDS=" + pids.string());
    EXPECT_EQ(run.status, 0) << run.output;
    ASSERT_EQ(pids_in(pids).size(), 2u);
    for (const pid_t process : pids_in(pids)) {
        EXPECT_TRUE(is_gone(process));
        kill(process, SIGKILL);
    }
}

TEST_F(EndToEnd, WhatTheCodeUnderTestHasStartedEndsWithACheckThatStopsIt) {
    const fs::path pids = folder_ / "pids";
    const Checked run =
        check("leaves_processes", "--no-timing", "SOL_TIMEOUT_S=1 SOL_FAKE_LOOPS=1 SOL_FAKE_PIDS=" + pids.string());
    EXPECT_EQ(run.kinds("even"), Kinds{"hang"});
    ASSERT_EQ(pids_in(pids).size(), 2u);
    for (const pid_t process : pids_in(pids)) {
        EXPECT_TRUE(is_gone(process));
        kill(process, SIGKILL);
    }
}

// What tools like compute-sanitizer do in a process they do as it ends by itself: a killed one has no report.
TEST_F(EndToEnd, EveryWorkerOfARightOpEndsByItselfSoThatAToolAroundItCanWriteItsReport) {
    const fs::path log = folder_ / "tool";
    const std::string preload = "LD_PRELOAD=" + fs::absolute("build/tests/fakes/tool.so").string();
    const auto check_under_tool = [&](const std::string& options, const std::string& environment) {
        fs::remove(log);
        const Checked run =
            check("right", options, fmt::format("{} FAKE_TOOL_LOG={} {}", environment, log.string(), preload));
        EXPECT_EQ(run.status, 0) << run.output;
        return checker::read_file_if_there(log).value_or("");
    };
    EXPECT_EQ(check_under_tool("", ""), "begins\nends with 0\n");
    EXPECT_EQ(check_under_tool("--no-timing", "SOL_TIMEOUT_S=600 FAKE_TOOL_SECONDS=2.5"), "begins\nends with 0\n")
        << "where all takes longer it has longer to end";
    EXPECT_EQ(check_under_tool("--no-timing", "FAKE_TOOL_SECONDS=30"), "begins\n") << "this one is not waited for";
}

TEST_F(EndToEnd, AWorkerThatDoesNotEndByItselfIsKilledAndTheVerdictStands) {
    const Checked run = check("hangs_at_the_end");
    EXPECT_EQ(run.status, 0) << run.output;
    EXPECT_EQ(run.verdict(), "ok");
}

TEST_F(EndToEnd, TheWorkerDiesWithTheCheck) {
    const std::string line = "exec env " + command("loops", "--no-timing") + " > /dev/null 2>&1";
    const pid_t check = fork();
    ASSERT_GE(check, 0);
    if (check == 0) {
        execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
        _exit(127);
    }
    // The worker is the check's only child.
    pid_t worker = 0;
    for (int i = 0; i < 6000 && worker == 0; i++) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        std::ifstream(fmt::format("/proc/{0}/task/{0}/children", check)) >> worker;
    }
    ASSERT_GT(worker, 0);
    kill(check, SIGKILL);
    waitpid(check, nullptr, 0);
    EXPECT_TRUE(is_gone(worker));
}

int main(int argc, char** argv) {
    // The check program shares this file's tests with the test program: it must not run them.
    testing::GTEST_FLAG(filter) = "-EndToEnd.*";
    for (int i = 1; i < argc; i++) {
        if (std::string_view(argv[i]) == "--worker") {
            return fake_check(argc, argv);
        }
        if (std::string_view(argv[i]) == kFlag) {
            std::copy(argv + i + 1, argv + argc + 1, argv + i);
            return fake_check(argc - 1, argv);
        }
    }
    testing::GTEST_FLAG(filter) = "*";
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
