// SPDX-License-Identifier: MIT
#include "checker/judge/verdict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "checker/base/text.h"
#include "checker/cases/recorded.h"
#include "checker/tests/output.h"

using namespace checker;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

CaseReport right_case(const std::string& name) {
    return {.name = name, .shape = "B=2 T=8 C=64", .ok = true, .budget_used = 0.19};
}

CaseReport wrong_case(const std::string& name) {
    CaseReport c{.name = name, .shape = "B=2 T=8 C=64", .ok = false, .budget_used = 806};
    c.where = "h.0.ln_1";
    c.calls = 5;
    c.calls_wrong = 5;
    c.findings.push_back(
        {"mismatch",
         "16 of 16 elements of rstd are wrong, worst off by 8.1e-3",
         {"first\trstd[b=0, t=0]   got 0.31592   expected 0.31842", "also\tout is wrong too; mean is right"}});
    c.findings.push_back(
        {.kind = "suspect", .text = "the variance was divided by C-1, not by C", .id = "variance_c_minus_1"});
    return c;
}

CaseReport untouched_case(const std::string& name) {
    CaseReport c{.name = name, .shape = "B=2 T=8 C=64", .ok = false, .untouched = true, .budget_used = kInf};
    c.findings.push_back({"untouched", "writes nothing: every output is as it was before the call", {}});
    return c;
}

OpReport op(const std::string& name, std::vector<CaseReport> cases) {
    OpReport report{.op = name, .file = "lessons/01_layers/" + name + ".cpp"};
    report.cases = std::move(cases);
    return report;
}

TimingReport timing(Verdict verdict) {
    const double share = verdict == Verdict::slow ? 0.31 : 0.84;
    ShapeTiming shape{
        .shape = "N=4096",
        .seconds = {.median = 4.1e-3, .p10 = 4e-3, .p90 = 4.2e-3, .interval = {4e-3, 4.2e-3}, .samples = 21},
        .bytes = 32768,
        .share = {{Baseline::solution, {share, {share - 0.02, share + 0.02}}}, {Baseline::copy, {0.91, {0.90, 0.92}}}},
        .verdict = verdict};
    if (verdict == Verdict::ok) {
        shape.medal = Medal::silver;
    }
    if (verdict == Verdict::slow || verdict == Verdict::impossible) {
        shape.findings.push_back({"slow", "31% of the solution's speed, bronze is 67%"});
    }
    return {.against = Baseline::solution, .library = {}, .target = {0.67, 0.8, 0.9}, .shapes = {shape}, .notes = {}};
}

// What a case has taken of a counter: with the sentence of the CPU device.
CounterResult counted_of(const std::string& counter, double value, double needed, double at_most,
                         const std::string& most = "") {
    const std::map<std::string, std::string> takes{{"bytes_asked", "asks for {} bytes of global memory"},
                                                   {"bytes_moved", "moves {} bytes of global memory"},
                                                   {"requests", "makes {} requests to global memory"},
                                                   {"sectors", "moves {} sectors of global memory"},
                                                   {"excess_wavefronts", "loses {} wavefronts of shared memory"}};
    return {counter, takes.at(counter), value, needed, at_most, most};
}

LessonReport lesson(std::vector<OpReport> ops) {
    return {.lesson = "01_layers", .subject = "lessons", .ops = std::move(ops), .seconds = 0.12};
}

const Next kNext{"make check-lesson01", "make hint-lesson01", {"make diff-lesson01   yours beside the solution"}};
const Terminal kPiped{};
const Terminal kUnicode{.unicode = true};

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) { lines.push_back(line); }
    return lines;
}

bool has_line(const std::string& text, const std::string& wanted) {
    const std::vector<std::string> lines = lines_of(text);
    return std::ranges::find(lines, wanted) != lines.end();
}

// Every kind of verdict at once.
LessonReport mixed() {
    OpReport slow = op("gelu", {right_case("regular")});
    slow.timing = timing(Verdict::slow);
    OpReport stub = op("residual", {wrong_case("regular")});
    stub.is_stub = true;
    return lesson({op("encoder", {right_case("regular"), right_case("odd")}),
                   op("layernorm", {wrong_case("regular"), wrong_case("odd"), right_case("t1")}), slow, stub,
                   op("matmul", {untouched_case("regular")})});
}

}  // namespace

TEST(Verdict, SaysFirstWhatWasTested) {
    EXPECT_EQ(lines_of(verdict_text(mixed(), kNext, kUnicode)).front(),
              "lesson 01 · layers · your files in lessons/01_layers · CPU");
    EXPECT_EQ(lines_of(verdict_text(mixed(), kNext, kPiped)).front(),
              "lesson 01 - layers - your files in lessons/01_layers - CPU");
}

TEST(Verdict, HasOneLineForAnOpThatIsRight) {
    EXPECT_TRUE(has_line(verdict_text(mixed(), kNext, kPiped),
                         "  encoder    ok      2 shapes, at most 19% of the error budget used"))
        << verdict_text(mixed(), kNext, kPiped);
}

TEST(Verdict, ShowsTheFirstWrongShapeAndCountsTheOthers) {
    const std::string text = verdict_text(mixed(), kNext, kPiped);
    EXPECT_TRUE(has_line(text, "  layernorm  WRONG   lessons/01_layers/layernorm.cpp")) << text;
    EXPECT_NE(text.find("rstd[b=0, t=0]   got 0.31592   expected 0.31842"), std::string::npos) << text;
    EXPECT_NE(text.find("fits      the variance was divided by C-1, not by C"), std::string::npos) << text;
    EXPECT_NE(text.find("1 other shape wrong too, 1 shape ok"), std::string::npos) << text;
}

TEST(Verdict, DoesNotSayWhichMistakeValuesResembleWhereWorkWasInAnotherStream) {
    CaseReport c = wrong_case("regular");
    c.findings = {{"stream", "cublasSgemm is not in ctx.stream: when that is done, it has not run"},
                  {"suspect", "the bias was not added"}};
    const LessonReport report = lesson({op("matmul", {c})});
    const std::string text = verdict_text(report, kNext, kPiped);
    EXPECT_NE(text.find("finding   cublasSgemm is not in ctx.stream"), std::string::npos) << text;
    EXPECT_EQ(text.find("fits"), std::string::npos) << text;
    EXPECT_NE(text.find("and 1 further finding: "), std::string::npos) << text;
    const std::string verbose = verdict_text(report, kNext, {.verbose = true});
    EXPECT_NE(verbose.find("fits      the bias was not added"), std::string::npos) << verbose;
}

TEST(Verdict, SaysOfEachWrongOpWhatItFits) {
    const LessonReport report = lesson(
        {op("encoder", {untouched_case("regular"), right_case("odd")}), op("layernorm", {wrong_case("regular")})});
    const std::string text = verdict_text(report, kNext, kPiped);
    EXPECT_TRUE(has_line(text, "    fits      the variance was divided by C-1, not by C   (all elements agree)"))
        << text;
}

TEST(Verdict, SaysWhatAnotherShapeFitsUnlessAThirdOneRefutesIt) {
    CaseReport crash = wrong_case("regular");
    crash.findings = {{"out_of_bounds", "read past the end of inp"}};
    CaseReport refuting = wrong_case("t1");
    refuting.findings.pop_back();
    LessonReport report = lesson({op("layernorm", {crash, wrong_case("odd"), refuting})});
    std::string text = verdict_text(report, kNext, kPiped);
    EXPECT_NE(text.find("read past the end of inp"), std::string::npos) << text;
    EXPECT_NE(text.find("(all elements agree at"), std::string::npos) << text;
    EXPECT_NE(text.find("B=2 T=8 C=64 (odd))"), std::string::npos) << text;
    report.ops.front().cases.back().refuted = {"variance_c_minus_1"};
    text = verdict_text(report, kNext, kPiped);
    EXPECT_EQ(text.find("fits"), std::string::npos) << text;
}

TEST(Verdict, SaysWhereTheValuesOfWrongElementsBelong) {
    CaseReport c = wrong_case("regular");
    c.findings = {{"mismatch", "8 of 16 elements of out are wrong, worst off by 2"},
                  {"displaced", "out[n=0, o=0] holds what belongs at out[n=2, o=0]", {"\t8 of 8 wrong elements"}}};
    const std::string text = verdict_text(lesson({op("matmul", {c})}), kNext, kPiped);
    EXPECT_TRUE(has_line(text, "    moved     out[n=0, o=0] holds what belongs at out[n=2, o=0]")) << text;
    EXPECT_TRUE(has_line(text, "              8 of 8 wrong elements")) << text;
    EXPECT_EQ(text.find("further finding"), std::string::npos) << text;
}

TEST(Verdict, DoesNotCountAsAFurtherFindingWhatTheFirstSays) {
    CaseReport c = wrong_case("regular");
    c.findings = {{"nonfinite", "62 of 64 elements of lse are wrong, 8 of them NaN or infinite"},
                  {"mismatch", "62 of 64 elements of lse are wrong"}};
    const std::string text = verdict_text(lesson({op("attention", {c})}), kNext, kPiped);
    EXPECT_TRUE(has_line(text, "    finding   62 of 64 elements of lse are wrong, 8 of them NaN or infinite")) << text;
    EXPECT_EQ(text.find("further finding"), std::string::npos) << text;
    c.findings.push_back({"race", "is used by two threads"});
    EXPECT_NE(verdict_text(lesson({op("attention", {c})}), kNext, kPiped).find("and 1 further finding"),
              std::string::npos);
}

TEST(Verdict, ShowsTheFirstWrongShapeThatSaysMoreThanWhichValuesAreWrong) {
    OpReport report = op("layernorm", {wrong_case("regular"), wrong_case("odd"), wrong_case("t1")});
    for (CaseReport& c : report.cases) {
        std::erase_if(c.findings, [](const Finding& finding) { return finding.kind != "mismatch"; });
    }
    EXPECT_NE(verdict_text(lesson({report}), kNext, kPiped).find("(regular)"), std::string::npos);
    report.cases[1].findings = {{.kind = "uninitialised", .text = "reads what nobody wrote"}};
    report.cases[2].findings = {{.kind = "race", .text = "is used by two threads"}};
    const std::string text = verdict_text(lesson({report}), kNext, kPiped);
    EXPECT_NE(text.find("(odd)"), std::string::npos) << text;
    EXPECT_EQ(text.find("(regular)"), std::string::npos) << text;
    EXPECT_NE(text.find("reads what nobody wrote"), std::string::npos) << text;
    EXPECT_NE(text.find("2 other shapes wrong too"), std::string::npos) << text;
}

TEST(Verdict, CallsAStubAndAFileThatWritesNothingNotWrittenYet) {
    const std::string text = verdict_text(mixed(), kNext, kPiped);
    EXPECT_TRUE(has_line(text, "  residual   not written yet   lessons/01_layers/residual.cpp")) << text;
    EXPECT_TRUE(has_line(text, "  matmul     not written yet   lessons/01_layers/matmul.cpp")) << text;
}

TEST(Verdict, NamesTheHelperThatIsNotWrittenYetInsteadOfTheFileThatIncludesIt) {
    OpReport report = op("layernorm", {wrong_case("regular")});
    report.unwritten_helper = "lessons/01_layers/sum.cuh";
    std::string text = verdict_text(lesson({report}), kNext, kPiped);
    EXPECT_TRUE(has_line(text, "  layernorm  not written yet   lessons/01_layers/sum.cuh")) << text;
    EXPECT_TRUE(has_line(text, "next    edit lessons/01_layers/sum.cuh, then: make check-lesson01")) << text;
    report.is_stub = true;
    text = verdict_text(lesson({report}), kNext, kPiped);
    EXPECT_TRUE(has_line(text, "  layernorm  not written yet   lessons/01_layers/layernorm.cpp")) << text;
    report = op("layernorm", {right_case("regular")});
    report.unwritten_helper = "lessons/01_layers/sum.cuh";
    EXPECT_EQ(report.verdict(), Verdict::ok) << "it does not use it";
}

TEST(Verdict, SaysOfAWrongFileWhichHelpersOfTheLearnerItIncludes) {
    OpReport report = op("layernorm", {wrong_case("regular")});
    report.helpers = {"lessons/01_layers/sum.cuh"};
    const std::string line = "    with      lessons/01_layers/sum.cuh, yours too";
    EXPECT_TRUE(has_line(verdict_text(lesson({report}), kNext, kPiped), line));
    report.cases = {right_case("regular")};
    EXPECT_FALSE(has_line(verdict_text(lesson({report}), kNext, kPiped), line));
}

TEST(Verdict, SaysWhereASolutionsHelperStandsInForTheLearners) {
    OpReport report = op("layernorm", {right_case("regular")});
    report.stand_ins = {"with solutions/01_layers/sum.cuh: lessons/01_layers/sum.cuh is not written yet"};
    for (const CaseReport& one : {right_case("regular"), wrong_case("regular")}) {
        report.cases = {one};
        EXPECT_NE(verdict_text(lesson({report}), kNext, kPiped).find("with solutions/01_layers/sum.cuh: "),
                  std::string::npos);
    }
}

TEST(Verdict, KeepsSlowApartFromWrong) {
    const std::string text = verdict_text(mixed(), kNext, kPiped);
    EXPECT_NE(text.find("SLOW    correct, not yet fast: 4.10 ms, 31% of the solution's"), std::string::npos) << text;
}

TEST(Verdict, SendsToTheWrongFileBeforeTheSlowAndTheUnwritten) {
    const std::string text = verdict_text(mixed(), kNext, kPiped);
    EXPECT_TRUE(has_line(text, "next    edit lessons/01_layers/layernorm.cpp, then: make check-lesson01")) << text;
    EXPECT_TRUE(has_line(text, "stuck?  make hint-lesson01")) << text;
}

TEST(Verdict, SendsToTheFileThatDoesNotCompileBeforeTheWrongOne) {
    LessonReport report = mixed();
    report.ops[4].cases[0].untouched = false;
    report.ops[4].cases[0].findings = {{"not_compiled", "does not compile; x.log has what the compiler says", {}}};
    const std::string text = verdict_text(report, kNext, kPiped);
    EXPECT_TRUE(has_line(text, "next    edit lessons/01_layers/matmul.cpp, then: make check-lesson01")) << text;
    EXPECT_TRUE(has_line(text, "  layernorm  WRONG   16 of 16 elements of rstd are wrong, worst off by 8.1e-3"))
        << text;
}

TEST(Verdict, KeepsACommandInOnePiece) {
    const Next next{"make check-lesson01 SOLUTION=1", "", {}};
    LessonReport report = mixed();
    report.ops[1].file = "lessons/01_layers/a_very_long_name_of_a_file.cpp";
    EXPECT_TRUE(has_line(verdict_text(report, next, kPiped), "        make check-lesson01 SOLUTION=1"));
}

TEST(Verdict, OfAStubThatWasOnlyToBeTimedIsNotWrittenYet) {
    OpReport stub = op("gelu", {});
    stub.is_stub = true;
    EXPECT_EQ(stub.verdict(), Verdict::not_written);
    EXPECT_FALSE(lesson({stub}).ok());
}

TEST(Verdict, NamesWhatComesNextWhenAllIsRight) {
    const std::string text = verdict_text(lesson({op("encoder", {right_case("regular")})}), kNext, kPiped);
    EXPECT_NE(text.find("all ok"), std::string::npos);
    EXPECT_TRUE(has_line(text, "next    make diff-lesson01   yours beside the solution")) << text;
    EXPECT_EQ(text.find("stuck?"), std::string::npos);
}

TEST(Verdict, TooCloseToTellIsNeitherOkNorSlow) {
    OpReport close = op("gelu", {right_case("regular")});
    close.timing = timing(Verdict::no_verdict);
    const LessonReport report = lesson({close});
    EXPECT_TRUE(report.ok());
    const std::string text = verdict_text(report, kNext, kPiped);
    EXPECT_NE(text.find("no verdict,"), std::string::npos) << text;
    EXPECT_EQ(text.find("SLOW"), std::string::npos);
}

TEST(Verdict, IsNoneAgainstALibraryThatIsNotThere) {
    OpReport alone = op("gelu", {right_case("regular")});
    alone.timing = timing(Verdict::no_verdict);
    alone.timing.against = Baseline::library;
    alone.timing.library = "cuBLAS";
    const LessonReport report = lesson({alone});
    EXPECT_TRUE(report.ok());
    const std::string text = verdict_text(report, kNext, kPiped);
    EXPECT_TRUE(has_line(text, "        time    4.10 ms, cuBLAS's speed unknown (bronze 67%): no verdict")) << text;
    EXPECT_EQ(text.find("too close"), std::string::npos) << text;
}

TEST(Verdict, OfATimeHeldToTheGpusWorkSaysHowMuchItWorksAndHowLongItsGapsAre) {
    OpReport predict = op("predict", {right_case("regular")});
    const auto shape = [](const std::string& name, double share, double gap, bool by_gap, Medal medal) {
        ShapeTiming result{.shape = name, .seconds = {}, .share = {}, .gap_judged = by_gap};
        result.seconds.median = 4e-3;
        result.share = {{Baseline::busy, {share, {share, share}}}, {Baseline::older, {1.5, {1.5, 1.5}}}};
        result.verdict = Verdict::ok;
        result.medal = medal;
        result.gap.emplace().median = gap;
        return result;
    };
    predict.timing = {
        .against = Baseline::busy,
        .library = {},
        .target = {0.9, 0.95, 0.97},
        .older = {1, 1, 1},
        .gap = {4e-6, 2e-6, 1.3e-6},
        .shapes = {shape("T=1024", 0.96, 2.5e-6, false, Medal::silver), shape("T=64", 0.6, 1.24e-6, true, Medal::gold)},
        .notes = {}};
    const std::string text = in_one_line(verdict_text(lesson({predict}), kNext, kPiped));
    EXPECT_NE(text.find("silver 4.00 ms at T=1024, of which the GPU works 96% (gold 97%)"), std::string::npos) << text;
    EXPECT_NE(text.find("4.00 ms at T=64, gaps of 1.24 us for each of the GPU's nodes (gold 1.30 us)"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("1.50 times as fast as the older lesson's solution at T=64"), std::string::npos) << text;
    LessonReport asked = lesson({predict});
    asked.times_asked = true;
    const std::string table = verdict_text(asked, kNext, kPiped);
    EXPECT_TRUE(has_line(table, "    times in ms  median    p10    p90  GPU works  gap, us")) << table;
    EXPECT_TRUE(has_line(table, "    T=64           4.00   0.00   0.00        60%     1.24")) << table;
    asked.ops.front().timing.shapes.resize(1);
    asked.ops.front().timing.shapes.front().share.erase(Baseline::busy);
    asked.ops.front().timing.shapes.front().verdict = Verdict::no_verdict;
    EXPECT_NE(in_one_line(verdict_text(asked, kNext, kPiped))
                  .find("4.00 ms, of which nobody says how much the GPU works (bronze 90%)"),
              std::string::npos);
    const nlohmann::json json = nlohmann::json::parse(to_json(lesson({predict})));
    const nlohmann::json& timed = json.at("ops").at(0).at("timing").at("shapes").at(1);
    EXPECT_NEAR(timed.at("gap_us").get<double>(), 1.24, 1e-9);
    EXPECT_NEAR(timed.at("of_speed_of").at("busy").at("share").get<double>(), 0.6, 1e-9);
}

TEST(Verdict, NamesTheMedalAndTheNextOne) {
    OpReport fast = op("gelu", {right_case("regular")});
    fast.timing = timing(Verdict::ok);
    const std::string text = verdict_text(lesson({fast}), kNext, kPiped);
    EXPECT_TRUE(has_line(text, "        silver  4.10 ms, 84% of the solution's speed (gold 90%)")) << text;
}

TEST(Verdict, SaysThatNoiseKeepsAMedalLow) {
    OpReport fast = op("gelu", {right_case("regular")});
    fast.timing = timing(Verdict::ok);
    fast.timing.shapes.front().share[Baseline::solution] = {0.95, {0.82, 1.1}};
    const std::string text = verdict_text(lesson({fast}), kNext, kPiped);
    EXPECT_NE(text.find("silver  4.10 ms, 95% of the solution's speed (gold 90%); at least\n"), std::string::npos)
        << text;
}

TEST(Verdict, OfAFileThatIncludesItsSolutionIsNotYours) {
    OpReport copy = op("gelu", {right_case("regular")});
    copy.included = "solutions/01_layers/gelu.cpp";
    const LessonReport report = lesson({op("encoder", {right_case("regular")}), copy});
    EXPECT_FALSE(report.ok());
    const std::string text = verdict_text(report, kNext, kPiped);
    EXPECT_NE(text.find("NOT YOURS it includes solutions/01_layers/gelu.cpp"), std::string::npos) << text;
    EXPECT_NE(text.find("1 ok, 1 NOT YOURS of 2 ops"), std::string::npos) << text;
    EXPECT_NE(text.find("edit lessons/01_layers/gelu.cpp"), std::string::npos) << text;
}

TEST(Verdict, SaysWhichMedalTheOlderSolutionsSpeedWithholds) {
    OpReport fast = op("gelu", {right_case("regular")});
    fast.timing = timing(Verdict::ok);
    fast.timing.older = {.bronze = 0, .silver = 1.3, .gold = 1.3};
    ShapeTiming& shape = fast.timing.shapes.front();
    shape.share[Baseline::older] = {1.1, {1.05, 1.15}};
    shape.medal = Medal::bronze;
    const std::string text = verdict_text(lesson({fast}), kNext, kPiped);
    EXPECT_TRUE(has_line(text, "        bronze  4.10 ms, 84% of the solution's speed (silver 80%)")) << text;
    EXPECT_TRUE(has_line(text, "            1.10 times as fast as the older lesson's solution (silver 1.3)")) << text;
    shape.share[Baseline::older] = {1.5, {1.45, 1.55}};
    shape.medal = Medal::silver;
    EXPECT_TRUE(has_line(verdict_text(lesson({fast}), kNext, kPiped),
                         "            1.50 times as fast as the older lesson's solution"));
}

TEST(Verdict, NamesNoMedalThatNothingEarns) {
    OpReport fast = op("matmul", {right_case("regular")});
    fast.timing = timing(Verdict::ok);
    constexpr double kNever = std::numeric_limits<double>::infinity();
    fast.timing.target = {.bronze = 0.7, .silver = kNever, .gold = kNever};
    fast.timing.shapes.front().medal = Medal::bronze;
    fast.timing.notes = {why_bronze_only({"a card", 86})};
    const std::string text = verdict_text(lesson({fast}), kNext, kPiped);
    EXPECT_TRUE(has_line(text, "          bronze  4.10 ms, 84% of the solution's speed (bronze 70%)")) << text;
    EXPECT_TRUE(has_line(text, "            no silver or gold: no report of a card of sm_86 yet: make gpu-report"))
        << text;
    EXPECT_TRUE(
        nlohmann::json::parse(to_json(lesson({fast}))).at("ops").at(0).at("timing").at("target").at("gold").is_null());
}

TEST(Verdict, GivesATargetAsTheLessonHasIt) {
    OpReport fast = op("gelu", {right_case("regular")});
    fast.timing = timing(Verdict::ok);
    fast.timing.target = {.bronze = 0.1, .silver = 0.115, .gold = 0.855};
    const std::string text = verdict_text(lesson({fast}), kNext, kPiped);
    EXPECT_NE(text.find("(gold 85.5%)"), std::string::npos) << text;
}

TEST(Verdict, OfARateAboveTheRoofIsImpossibleAndNoPass) {
    OpReport report = op("gelu", {right_case("regular")});
    report.timing = timing(Verdict::impossible);
    EXPECT_FALSE(lesson({report}).ok());
    EXPECT_NE(verdict_text(lesson({report}), kNext, kPiped).find("IMPOSSIBLE"), std::string::npos);
}

TEST(Verdict, HasATableOfAllTimesWhereTheyWereAskedFor) {
    OpReport fast = op("gelu", {});
    fast.timing = timing(Verdict::ok);
    LessonReport report = lesson({fast});
    EXPECT_EQ(verdict_text(report, kNext, kPiped).find("p10"), std::string::npos);
    report.times_asked = true;
    report.roof.emplace();
    report.roof->copy_one = 1.2e10;
    report.roof->fma_one = 1.74e11;
    const std::string text = verdict_text(report, kNext, kPiped);
    EXPECT_TRUE(has_line(text, "    times in ms  median    p10    p90    GB/s  copy solution")) << text;
    EXPECT_TRUE(has_line(text, "    N=4096         4.10   4.00   4.20 0.00799   91%      84%")) << text;
    EXPECT_NE(text.find("174 GFLOP/s of multiply-adds, 12 GB/s of copies"), std::string::npos) << text;
}

TEST(Verdict, OfAnOpThatThereWasNoRoomToTimeNamesItAndCountsWhatWasTimed) {
    OpReport large = op("residual", {});
    large.timing.notes = {"N=201326592 is not timed: it wants 0.75 GiB more of the card's memory",
                          "N=65536 is not timed: it wants 0.25 GiB more of the card's memory"};
    OpReport fast = op("gelu", {});
    fast.timing = timing(Verdict::ok);
    LessonReport report = lesson({large, fast});
    report.times_asked = true;
    const std::string text = verdict_text(report, kNext, kPiped);
    EXPECT_NE(text.find("  residual  no time N=201326592 is not timed: it wants"), std::string::npos) << text;
    EXPECT_NE(text.find("                    N=65536 is not timed: it wants"), std::string::npos) << text;
    EXPECT_NE(text.find("\nresult  1 of 2 ops timed; took "), std::string::npos) << text;
    EXPECT_EQ(text.find("all ok"), std::string::npos) << text;

    report.ops[1].timing = timing(Verdict::slow);
    EXPECT_NE(verdict_text(report, kNext, kPiped).find("\nresult  1 SLOW, 1 not timed of 2 ops; "), std::string::npos)
        << verdict_text(report, kNext, kPiped);
    report.ops = {large};
    EXPECT_NE(verdict_text(report, kNext, kPiped).find("\nresult  0 of 1 op timed; "), std::string::npos);
}

TEST(Verdict, OfSeveralShapesIsThatOfTheWorst) {
    OpReport report = op("matmul", {right_case("regular")});
    report.timing = timing(Verdict::ok);
    ShapeTiming slow = timing(Verdict::slow).shapes.front();
    slow.shape = "N=999";
    report.timing.shapes.insert(report.timing.shapes.begin(), slow);
    EXPECT_EQ(report.verdict(), Verdict::slow);
    EXPECT_NE(verdict_text(lesson({report}), kNext, kPiped).find("at N=999"), std::string::npos);
}

TEST(Verdict, OfAShapeThatIsOnlyReportedCountsForNothing) {
    OpReport report = op("matmul", {right_case("regular")});
    report.timing = timing(Verdict::ok);
    ShapeTiming slow = timing(Verdict::slow).shapes.front();
    slow.shape = "N=999";
    slow.judged = false;
    slow.verdict = Verdict::no_verdict;
    report.timing.shapes.push_back(slow);
    EXPECT_EQ(report.verdict(), Verdict::ok);
    LessonReport all = lesson({report});
    all.times_asked = true;
    const std::string text = verdict_text(all, kNext, kPiped);
    EXPECT_TRUE(has_line(text, "          silver  4.10 ms, 84% of the solution's speed (gold 90%)")) << text;
    EXPECT_NE(text.find("N=999 "), std::string::npos) << text;
    EXPECT_EQ(nlohmann::json::parse(to_json(all)).at("ops")[0].at("timing").at("shapes")[1].at("judged"), false);

    all.ops[0].timing.shapes.erase(all.ops[0].timing.shapes.begin());
    EXPECT_NE(verdict_text(all, kNext, kPiped).find("4.10 ms, reported only\n"), std::string::npos);
}

TEST(Verdict, OfAShapeThatIsOnlyReportedIsWrongWhereItsResultIs) {
    OpReport report = op("matmul", {right_case("regular")});
    report.timing = timing(Verdict::ok);
    ShapeTiming wrong = timing(Verdict::wrong).shapes.front();
    wrong.judged = false;
    report.timing.shapes.push_back(wrong);
    EXPECT_EQ(report.verdict(), Verdict::wrong);
}

TEST(Verdict, FitsEightyColumnsWhateverTheFindingsSay) {
    LessonReport report = mixed();
    report.ops[1].cases[0].findings[0].text =
        std::string(40, 'x') + " " + std::string(60, 'y') +
        " and many more words "
        "that go on and on until no terminal of eighty columns could hold them in one line";
    report.ops[1].printed = std::string(500, 'p') + "\n";
    for (const bool verbose : {false, true}) {
        for (const std::string& line : lines_of(verdict_text(report, kNext, {.verbose = verbose}))) {
            EXPECT_LE(line.size(), 80U) << line;
        }
    }
}

TEST(Verdict, FitsOneScreen) {
    EXPECT_LE(lines_of(verdict_text(mixed(), kNext, kPiped)).size(), 24U);
}

TEST(Verdict, HasNoEscapeCodesWithoutColour) {
    EXPECT_EQ(verdict_text(mixed(), kNext, kPiped).find('\033'), std::string::npos);
}

TEST(Verdict, IsPlainAsciiWithoutUnicode) {
    const std::string text = verdict_text(mixed(), kNext, kPiped);
    EXPECT_TRUE(std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) << text;
}

TEST(Verdict, InColourIsTheSameText) {
    std::string text = verdict_text(mixed(), kNext, {.colour = true});
    EXPECT_NE(text.find('\033'), std::string::npos);
    for (std::size_t i = text.find('\033'); i != std::string::npos; i = text.find('\033')) {
        text.erase(i, text.find('m', i) + 1 - i);
    }
    EXPECT_EQ(text, verdict_text(mixed(), kNext, kPiped));
}

TEST(Verdict, ShowsWhatTheCodeUnderTestPrintedButNothingThatMovesTheCursor) {
    LessonReport report = mixed();
    report.ops[1].printed = "one\none\ntwo\033[2J\nthree\nfour\nfive\n";
    const std::string text = verdict_text(report, kNext, kPiped);
    EXPECT_TRUE(has_line(text, "    printed   | one")) << text;
    EXPECT_TRUE(has_line(text, "              | two [2J")) << text;
    EXPECT_TRUE(has_line(text, "              | and more")) << text;
}

TEST(Verdict, WrapsANoteOfTheDevice) {
    LessonReport report = mixed();
    report.ops[1].printed =
        "simt: note: matmul.cu:138: mma.sync.m16n8k8 (tf32) gets floats that nobody has rounded to TF32: what TF32 has "
        "no bits for is truncated\nmine\n";
    const std::string text = verdict_text(report, kNext, kPiped);
    EXPECT_TRUE(has_line(text, "    printed   | simt: note: matmul.cu:138: mma.sync.m16n8k8 (tf32) gets floats"))
        << text;
    EXPECT_TRUE(has_line(text, "              | that nobody has rounded to TF32: what TF32 has no bits for is"))
        << text;
    EXPECT_TRUE(has_line(text, "              | truncated")) << text;
    EXPECT_TRUE(has_line(text, "              | mine")) << text;
}

TEST(Verdict, ShowsTheDevicesNoteOnceWhereTheOpIsRight) {
    LessonReport report = mixed();
    ASSERT_EQ(report.ops[0].verdict(), Verdict::ok);
    report.ops[0].printed = "mine\nsimt: note: a.cu:5: is truncated\nsimt: note: a.cu:9: is truncated\n";
    const std::string text = verdict_text(report, kNext, kPiped);
    EXPECT_TRUE(has_line(text, "    note: a.cu:5: is truncated")) << text;
    EXPECT_EQ(text.find("a.cu:9"), std::string::npos) << text;
    EXPECT_EQ(text.find("mine"), std::string::npos) << text;
}

TEST(Verdict, CutsALongPrintedLineBetweenCharacters) {
    LessonReport report = mixed();
    for (int i = 0; i < 100; i++) { report.ops[1].printed += "é"; }
    const std::string text = verdict_text(report, kNext, kUnicode);
    std::string shown = "    printed   | ";
    for (int i = 0; i < 64; i++) { shown += "é"; }
    EXPECT_TRUE(has_line(text, shown)) << text;
}

TEST(Verdict, SaysHowFarEstimatesLieFromWhatWasMeasured) {
    LessonReport report = mixed();
    report.estimates_are = "91% of 151 published times";
    EXPECT_NE(verdict_text(report, kNext, {}).find(report.estimates_are), std::string::npos);
}

TEST(Verdict, ShowsEveryWrongShapeWhenVerbose) {
    const std::string text = verdict_text(mixed(), kNext, {.verbose = true});
    EXPECT_NE(text.find("(odd)"), std::string::npos) << text;
}

TEST(Verdict, OfAKernelThatAsksForMoreBytesThanItNeedsIsSlow) {
    OpReport report = op("residual", {right_case("regular")});
    report.cases[0].counted = {counted_of("bytes_asked", 1200, 1200, 1.02)};
    EXPECT_EQ(report.verdict(), Verdict::ok);
    EXPECT_TRUE(has_line(verdict_text(lesson({report}), kNext, kPiped),
                         "            ok      asks for no more bytes than are needed"))
        << verdict_text(lesson({report}), kNext, kPiped);
    report.cases[0].counted[0].value = 2000;
    EXPECT_EQ(report.verdict(), Verdict::slow);
    EXPECT_FALSE(lesson({report}).ok());
    const std::string text = verdict_text(lesson({report}), kNext, kPiped);
    EXPECT_NE(text.find("asks for 2,000"), std::string::npos) << text;
    EXPECT_NE(text.find("edit lessons/01_layers/residual.cpp"), std::string::npos) << text;
}

TEST(Verdict, OfAKernelThatMissesATargetOnCountersNamesTheLineOfThatCounter) {
    OpReport report = op("residual", {right_case("regular"), right_case("head64")});
    report.cases[1].counted = {counted_of("requests", 96, 96, 1.05, "residual.cu:12: 96 requests"),
                               counted_of("sectors", 3072, 384, 1.02, "residual.cu:14: 2,048 sectors")};
    EXPECT_EQ(report.verdict(), Verdict::slow);
    const std::string text = verdict_text(lesson({report}), kNext, kPiped);
    EXPECT_NE(text.find("it moves 3,072\n"), std::string::npos) << text;
    EXPECT_NE(text.find("sectors of global memory, 8.00 times the 384"), std::string::npos) << text;
    EXPECT_TRUE(has_line(text, "    most    residual.cu:14: 2,048 sectors")) << text;
    EXPECT_EQ(text.find("residual.cu:12"), std::string::npos) << text;
    report.cases[1].counted[1].value = 390;
    EXPECT_EQ(report.verdict(), Verdict::ok);
    const std::string right = verdict_text(lesson({report}), kNext, kPiped);
    EXPECT_NE(right.find("times what is needed: requests 1.00, sectors 1.02"), std::string::npos) << right;
}

TEST(Verdict, OfCountersIsInWordsAndSaysWhatIsNotNeededAtAll) {
    OpReport report = op("matmul", {right_case("square")});
    report.cases[0].counted = {counted_of("bytes_moved", 106, 100, 1.1), counted_of("excess_wavefronts", 0, 0, 1.0)};
    const std::string text = in_one_line(verdict_text(lesson({report}), kNext, kPiped));
    EXPECT_NE(text.find("times what is needed: bytes moved 1.06; no wavefronts lost to bank conflicts"),
              std::string::npos)
        << text;
}

TEST(Verdict, OfATargetMissedByLessThanTheDigitsShowNamesTheMost) {
    OpReport report = op("layernorm", {right_case("row768")});
    report.cases[0].counted = {counted_of("bytes_asked", 200'704, 196'736, 1.02)};
    const std::string text = in_one_line(verdict_text(lesson({report}), kNext, kPiped));
    EXPECT_NE(text.find("1.02 times the 196,736 that are needed; at most 200,670 are asked for"), std::string::npos)
        << text;
}

TEST(Verdict, OfErrorsSmallerThanThePrecisionsIsSlow) {
    const Finding finding{"too_accurate", "TF32 is not active: your error is 290 times smaller than TF32's"};
    OpReport report = op("matmul", {right_case("shown"), right_case("small")});
    report.cases[0].shows_precision = true;
    EXPECT_EQ(report.verdict(), Verdict::ok);
    report.cases[1].findings = {finding};
    EXPECT_EQ(report.verdict(), Verdict::slow);
    EXPECT_FALSE(lesson({report}).ok());
    const std::string text = verdict_text(lesson({report}), kNext, kPiped);
    EXPECT_NE(in_one_line(text).find("SLOW correct, not yet fast: at " + report.cases[1].shape + " " + finding.text),
              std::string::npos)
        << text;
    report.library_chooses = true;
    EXPECT_EQ(report.verdict(), Verdict::ok) << "a GPU's library took a kernel without tensor cores for the small one";
    EXPECT_EQ(verdict_text(lesson({report}), kNext, kPiped).find("SLOW"), std::string::npos);
    report.cases[0].shows_precision = false;
    EXPECT_EQ(report.verdict(), Verdict::slow) << "none shows it";
}

TEST(Verdict, OfWavefrontsOfWhichNoneAreNeededTakesNone) {
    OpReport report = op("matmul", {right_case("counted")});
    report.cases[0].counted = {counted_of("excess_wavefronts", 0, 0, 1)};
    EXPECT_EQ(report.verdict(), Verdict::ok);
    report.cases[0].counted[0].value = 1;
    EXPECT_EQ(report.verdict(), Verdict::slow);
    const std::string text = verdict_text(lesson({report}), kNext, kPiped);
    EXPECT_NE(text.find("loses 1 wavefronts"), std::string::npos) << text;
    EXPECT_EQ(text.find("    most    "), std::string::npos) << "no line was named: " << text;
}

TEST(Findings, TravelAsJson) {
    const std::vector<Finding> findings{
        {.kind = "host_pointer", .text = "reads \"4\" bytes\xff", .details = {"at\tx.cu:7"}}};
    const std::vector<Finding> back = findings_from_json(findings_to_json(findings));
    ASSERT_EQ(back.size(), 1U);
    EXPECT_EQ(back[0].kind, "host_pointer");
    EXPECT_EQ(back[0].details, findings[0].details);
    EXPECT_THROW(findings_from_json("[{"), std::exception);
}

TEST(TerminalOfStdout, IsPlainWhenPiped) {
    testing::internal::CaptureStdout();  // stdout is a file now
    const Terminal terminal = Terminal::of_stdout(false);
    testing::internal::GetCapturedStdout();
    EXPECT_FALSE(terminal.colour);
}

TEST(TerminalOfStdout, UsesUnicodeWhereTheLocaleHasIt) {
    setenv("LC_ALL", "de_DE.UTF-8", 1);
    EXPECT_TRUE(Terminal::of_stdout(false).unicode);
    setenv("LC_ALL", "C", 1);
    EXPECT_FALSE(Terminal::of_stdout(false).unicode);
    unsetenv("LC_ALL");
}

TEST(Json, SaysWhatTheVerdictSays) {
    const nlohmann::json json = nlohmann::json::parse(to_json(mixed()));
    EXPECT_EQ(json.at("lesson"), "01");
    EXPECT_EQ(json.at("ok"), false);
    EXPECT_EQ(json.at("ops").at(1).at("verdict"), "WRONG");
    EXPECT_EQ(json.at("ops").at(1).at("cases").at(0).at("findings").at(1).at("id"), "variance_c_minus_1");
    EXPECT_EQ(json.at("ops").at(2).at("timing").at("verdict"), "SLOW");
    EXPECT_EQ(json.at("ops").at(3).at("verdict"), "not written yet");
    EXPECT_TRUE(json.at("ops").at(4).at("cases").at(0).at("budget_used").is_null());
}

TEST(Json, SurvivesBytesThatAreNotUtf8) {
    LessonReport report = mixed();
    report.ops[1].cases[0].findings[0].text = "threw an exception: \xff\xfe";
    EXPECT_TRUE(nlohmann::json::accept(to_json(report)));
}

TEST(Numbers, HaveThousandsSeparatorsWhenCounted) {
    EXPECT_EQ(format_count(0), "0");
    EXPECT_EQ(format_count(999), "999");
    EXPECT_EQ(format_count(1024), "1,024");
    EXPECT_EQ(format_count(-1234567), "-1,234,567");
    EXPECT_EQ(format_count(1, "shape"), "1 shape");
    EXPECT_EQ(format_count(2048, "element"), "2,048 elements");
}

TEST(Numbers, HaveAtMostThreeSignificantDigits) {
    EXPECT_EQ(significant(0.0081), "0.0081");
    EXPECT_EQ(significant(3.14159e-6), "3.14e-6");
    EXPECT_EQ(significant(806.2), "806");
    EXPECT_EQ(significant(54321.0), "54,300");
    EXPECT_EQ(significant(1.5), "1.5");
    EXPECT_EQ(significant(1.25e9), "1.25e9");
}

TEST(Numbers, OfTimesHaveThreeDigitsAlways) {
    EXPECT_EQ(milliseconds(4.1e-3), "4.10 ms");
    EXPECT_EQ(milliseconds(0.3049), "305 ms");
    EXPECT_EQ(milliseconds(22.34e-3), "22.3 ms");
    EXPECT_EQ(milliseconds(20.3e-6), "20.3 us");
    EXPECT_EQ(milliseconds(2.5), "2.50 s");
    EXPECT_EQ(milliseconds(0.09999e-3), "100 us");
    EXPECT_EQ(times(1.0), "1.00 times");
    EXPECT_EQ(times(kInf), "more than a million times");
}

TEST(Numbers, AreShownWithEnoughDigitsToDiffer) {
    EXPECT_EQ(format_distinct(0.0F, 2.0F), (std::pair<std::string, std::string>("0", "2.0000")));
    EXPECT_EQ(format_distinct(2.39F, 2.39F).first, "2.3900");
    EXPECT_EQ(format_distinct(-0.31592F, -0.31842F), (std::pair<std::string, std::string>("-0.31592", "-0.31842")));
    const auto [left, right] = format_distinct(1.0F, 1.0000001F);
    EXPECT_NE(left, right);
    EXPECT_EQ(format_distinct(-std::numeric_limits<float>::quiet_NaN(), 1.0F).first, "nan");
}
