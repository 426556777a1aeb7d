// SPDX-License-Identifier: MIT
//
// What check.cpp files are written with: case files, inputs, outputs, lesson.toml.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "checker/base/course.h"
#include "checker/cases/lesson.h"
#include "checker/cases/lesson_toml.h"
#include "checker/cases/recorded.h"
#include "checker/judge/describe.h"
#include "checker/judge/judge.h"
#include "checker/worker/time_op.h"

using namespace checker;
namespace fs = std::filesystem;

namespace {

template <class Error, class F>
std::string message_of(F&& f) {
    try {
        f();
    } catch (const Error& e) { return e.what(); }
    return "nothing was thrown";
}

class LessonTomlFile : public testing::Test {
  protected:
    void SetUp() override { file_ = fs::path(testing::TempDir()) / ("lesson_" + std::to_string(getpid()) + ".toml"); }
    void TearDown() override { fs::remove(file_); }
    LessonToml read(const std::string& text) {
        std::ofstream(file_) << text;
        return read_lesson_toml(file_);
    }
    // What a file is refused with, without its name.
    std::string refusal(const std::string& text) {
        const std::string message = message_of<FileError>([&] { read(text); });
        return message.starts_with(file_.string()) ? message.substr(file_.string().size()) : message;
    }
    fs::path file_;
};

}  // namespace

TEST(CaseFile, GivesReferencesWithTheirFloorsAndSuspects) {
    Lesson lesson("00_test", "reference");
    const CaseFile& file = lesson.case_file("regular");
    const Reference out = file.local("h.0.ln_1", "layernorm.out");
    const auto elements = static_cast<std::size_t>(file.dim("B") * file.dim("T") * file.dim("C"));
    EXPECT_EQ(out.expected.values.size(), elements);
    EXPECT_EQ(out.expected.floor.size(), static_cast<std::size_t>(file.dim("B") * file.dim("T")));
    EXPECT_GE(out.expected.factor, 8.0);
    const auto found = std::ranges::find(out.suspects, "variance_c_minus_1", &Suspect::id);
    ASSERT_NE(found, out.suspects.end());
    EXPECT_NE(found->what.find("C-1"), std::string::npos);
    EXPECT_EQ(found->values.size(), elements);
}

TEST(CaseFile, TakesASuspectOfOneTensorOnly) {
    Lesson lesson("00_test", "reference");
    const Reference mean = lesson.case_file("regular").local("h.0.ln_1_mean", "layernorm.mean");
    EXPECT_EQ(std::ranges::find(mean.suspects, "variance_c_minus_1", &Suspect::id), mean.suspects.end());
}

TEST(CaseFile, ThatIsMissingSaysHowToGetItBack) {
    Lesson lesson("00_test", "reference");
    const std::string message = message_of<FileError>([&] { lesson.case_file("irregular"); });
    EXPECT_NE(message.find("irregular.safetensors is missing"), std::string::npos) << message;
    EXPECT_NE(message.find("git checkout"), std::string::npos) << message;
    EXPECT_NE(message.find("make reference"), std::string::npos) << message;
}

TEST(CaseFile, WithoutADimensionOrATensorNamesIt) {
    Lesson lesson("00_test", "reference");
    const CaseFile& file = lesson.case_file("regular");
    EXPECT_NE(message_of<FileError>([&] { static_cast<void>(file.dim("Q")); }).find("has no Q"), std::string::npos);
    EXPECT_NE(message_of<FileError>([&] { static_cast<void>(file.f32("param/wte.wait")); }).find("param/wte.wait"),
              std::string::npos);
}

TEST(CaseFile, IsOpenedOnce) {
    Lesson lesson("00_test", "reference");
    EXPECT_EQ(&lesson.case_file("t1"), &lesson.case_file("t1"));
}

TEST(Input, ThatDoesNotHaveItsShapeThrows) {
    const std::vector<float> values(5);
    EXPECT_THROW(input("inp", "B T", {2, 3}, values), std::logic_error);
}

TEST(Output, WhoseReferenceDoesNotHaveItsShapeThrows) {
    const std::vector<float> values(6), floor(2);
    EXPECT_NO_THROW(output("out", "B C", {2, 3}, Reference{{values, floor, 8.0, false}, {}}));
    EXPECT_THROW(output("out", "B C", {3, 3}, Reference{{values, floor, 8.0, false}, {}}), std::logic_error);
    EXPECT_THROW(output("out", "B C", {3, 2}, Reference{{values, floor, 8.0, false}, {}}), std::logic_error);
}

TEST(Buffers, RefuseNamesAndTypesThatTheCallLacks) {
    Buffers buffers;
    float value = 0;
    buffers.add("out", Element::f32, &value);
    EXPECT_EQ(buffers.f32("out"), &value);
    EXPECT_THROW(buffers.f32("in"), std::logic_error);
    EXPECT_THROW(buffers.i32("out"), std::logic_error);
    EXPECT_THROW(buffers.scratch("out"), std::logic_error);
    EXPECT_THROW(buffers.bf16("out"), std::logic_error);
    buffers.add("narrow", Element::bf16, &value);
    EXPECT_EQ(static_cast<void*>(buffers.bf16("narrow")), &value);
}

TEST(DrawnInputs, AreTheSameEveryTimeAndDifferByName) {
    const auto draw = [](const Input& in, std::uint64_t seed = 1) {
        std::vector<std::byte> bytes(in.spec.bytes());
        in.fill(bytes, seed);
        return bytes;
    };
    EXPECT_EQ(draw(normal("a", "N", {100})), draw(normal("a", "N", {100})));
    EXPECT_NE(draw(normal("a", "N", {100})), draw(normal("b", "N", {100})));
    EXPECT_NE(draw(normal("a", "N", {100}), 1), draw(normal("a", "N", {100}), 2));
    EXPECT_EQ(draw(integers("t", "N", {100}, 7)), draw(integers("t", "N", {100}, 7)));
}

TEST(DrawnInputs, StayInTheirRange) {
    const Input tokens = integers("t", "N", {1000}, 7);
    std::vector<int> values(1000);
    tokens.fill(std::as_writable_bytes(std::span(values)), 1);
    EXPECT_EQ(*std::ranges::min_element(values), 0);
    EXPECT_EQ(*std::ranges::max_element(values), 6);
    const Input probs = uniform("p", "N", {1000}, 0.5F, 1.0F);
    std::vector<float> floats(1000);
    probs.fill(std::as_writable_bytes(std::span(floats)), 1);
    EXPECT_GE(*std::ranges::min_element(floats), 0.5F);
    EXPECT_LE(*std::ranges::max_element(floats), 1.0F);
}

TEST(Declaration, IsTakenFromTheHeaderWithoutComments) {
    const std::vector<std::string> lines = declaration_of("residual", "lessons/gpt2/ops.h");
    ASSERT_FALSE(lines.empty());
    EXPECT_EQ(lines.front(), "void residual(float* out,");
    EXPECT_TRUE(lines.back().ends_with(");"));
    for (const std::string& line : lines) { EXPECT_EQ(line.find("//"), std::string::npos) << line; }
}

TEST(Declaration, OfAnUnknownFunctionIsEmpty) {
    EXPECT_TRUE(declaration_of("rmsnorm", "lessons/gpt2/ops.h").empty());
}

TEST_F(LessonTomlFile, SaysHowMuchOfACounterIsAllowed) {
    const LessonToml toml = read("[counters]\nresidual = { sectors = 1.02, requests = 1.05 }\n");
    ASSERT_TRUE(toml.counters.contains("residual"));
    EXPECT_EQ(toml.counters.at("residual").at("sectors"), 1.02);
    EXPECT_EQ(toml.counters.at("residual").at("requests"), 1.05);
    EXPECT_EQ(toml.where("counters.residual.sectors"), file_.string() + ":2: [counters.residual.sectors]");
    const std::string sectors = "needs sectors as a number from 1 on: times what is needed";
    EXPECT_EQ(refusal("[counters]\ngelu = { sectors = 0.5 }\n"), ":2: [counters.gelu] " + sectors);
    EXPECT_EQ(refusal("[counters]\ngelu = { sectors = \"2\" }\n"), ":2: [counters.gelu] " + sectors);
    EXPECT_EQ(refusal("[counters]\ngelu = 2\n"), ":2: [counters.gelu] is no table");
    EXPECT_EQ(refusal("counters = 2\n"), ":1: needs counters as a table");
}

TEST_F(LessonTomlFile, SaysWhatTheLessonIsAndWhatCardItTakes) {
    const LessonToml toml = read("title = \"tma\"\nidea = \"copies\"\nrequires = [\"sm_90a\"]\n");
    EXPECT_EQ(toml.title, "tma");
    EXPECT_EQ(toml.idea, "copies");
    EXPECT_EQ(unmet(toml, {"NVIDIA H200", 90}), "");
    EXPECT_EQ(unmet(toml, {"a rehearsal", 0}), "");
    const std::string mend = ", this needs sm_90a; the CPU device has it: make check-lesson16 DEVICE=cpu";
    LessonToml of_16 = toml;
    of_16.file = "lessons/16_tma/lesson.toml";
    EXPECT_EQ(unmet(of_16, {"Tesla T4", 75}), "Tesla T4 is sm_75" + mend);
    EXPECT_EQ(unmet(of_16, {"NVIDIA B200", 100}), "NVIDIA B200 is sm_100" + mend) << "Hopper's own instructions";
    const LessonToml newer = read("requires = [\"sm_80\"]\n");
    EXPECT_EQ(unmet(newer, {"NVIDIA B200", 100}), "");
    EXPECT_NE(unmet(newer, {"Tesla T4", 75}), "");
    EXPECT_EQ(refusal("requires = [\"hopper\"]\n"), ":1: requires hopper, which is no card such as sm_80");
    for (const std::string other : {"sm_", "sm_a", "sm_90aa", "sm_9x", "xsm_90"}) {
        EXPECT_EQ(refusal("requires = [\"" + other + "\"]\n"),
                  ":1: requires " + other + ", which is no card such as sm_80");
    }
    EXPECT_EQ(refusal("requires = \"sm_80\"\n"), ":1: needs requires as a list of strings");
    EXPECT_EQ(refusal("title = 1\n"), ":1: needs title as a string");
}

TEST_F(LessonTomlFile, SaysWhichOpsTheLessonGives) {
    EXPECT_EQ(read("given = [\"softmax\", \"predict\"]\n").given, (std::vector<std::string>{"softmax", "predict"}));
    EXPECT_TRUE(read("title = \"x\"\n").given.empty());
    EXPECT_EQ(refusal("given = \"softmax\"\n"), ":1: needs given as a list of strings");
}

TEST_F(LessonTomlFile, AnUnknownKeyIsRefusedWithTheNearest) {
    EXPECT_EQ(refusal("titel = \"x\"\n"), ":1: has the unknown key titel; did you mean title?");
    EXPECT_EQ(refusal("title = \"x\"\ntrack = \"host\"\n"),
              ":2: has the unknown key track; there is title, idea, requires, given, branch_of, target, "
              "counters, precision, ladder, beyond");
    EXPECT_EQ(refusal("[target.gelu]\nagainst = \"copy\"\nbrnze = 0.1\n"),
              ":3: [target.gelu] has the unknown key brnze; did you mean bronze?");
    EXPECT_EQ(
        refusal("[target.gelu]\nagainst = \"solutoin\"\n"),
        ":1: [target.gelu] needs against, whose speed it is a share of, not \"solutoin\"; did you mean solution?");
    EXPECT_EQ(refusal("[target.gelu]\nagainst = \"copy\"\nolder = \"ten\"\n"),
              ":3: [target.gelu] needs older as a number");
    EXPECT_EQ(refusal("[target.gelu]\nagainst = \"copy\"\nreported = [3]\n"),
              ":3: [target.gelu] needs reported as a list of strings");
}

TEST_F(LessonTomlFile, RefusesEscapedLetters) {
    for (const std::string escape : {"\\u006f", "\\U0000006f"}) {
        EXPECT_EQ(refusal("title = \"x\"\n[target.gelu]\n\"" + escape + "lder\" = 1.3\n"),
                  ":3: has an escape " + escape.substr(0, 2) + "; write the letter: make looks for keys as text");
    }
    EXPECT_EQ(read("title = \"the \\\"older\\\" one\"\n").title, "the \"older\" one");
}

TEST_F(LessonTomlFile, SaysWhetherTheLessonIsARung) {
    EXPECT_FALSE(read("title = \"x\"\n").ladder);
    EXPECT_EQ(read("[ladder]\n").ladder->random_shapes, 0);
    EXPECT_EQ(read("[ladder]\nrandom_shapes = 200\n").ladder->random_shapes, 200);
    EXPECT_EQ(refusal("[ladder]\nrandom_shapes = \"few\"\n"), ":2: [ladder] needs random_shapes as a whole number");
    EXPECT_EQ(refusal("[ladder]\nrandom_shape = 2\n"),
              ":2: [ladder] has the unknown key random_shape; did you mean random_shapes?");
}

TEST_F(LessonTomlFile, SizesBeyondWhichASolutionGoesOnAreListsOfStrings) {
    EXPECT_EQ(read("title = \"x\"\n[beyond]\ngelu = [\"N > kBlock\"]\n").title, "x");
    EXPECT_EQ(refusal("[beyond]\ngelu = \"N > kBlock\"\n"), ":2: [beyond] needs gelu as a list of strings");
    EXPECT_EQ(refusal("beyond = 3\n"), ":1: needs beyond as a table such as { gelu = [\"N > kBlock\"] }");
}

TEST_F(LessonTomlFile, SaysWhichSizesTheMatmulOfARungTakes) {
    EXPECT_TRUE(read("[ladder]\n").ladder->multiple_of.empty());
    EXPECT_EQ(read("[ladder]\nmultiple_of = { N = 16, out_stride = 4 }\n").ladder->multiple_of,
              (std::map<std::string, int>{{"N", 16}, {"out_stride", 4}}));
    EXPECT_EQ(refusal("[ladder]\nmultiple_of = 16\n"), ":2: [ladder] needs multiple_of as a table such as { C = 16 }");
    EXPECT_EQ(refusal("[ladder]\nmultiple_of = { OCC = 16 }\n"),
              ":2: [ladder] multiple_of has the unknown key OCC; did you mean OC?");
    for (const char* value : {"0", "1.5", "\"16\""}) {
        EXPECT_EQ(refusal(std::string("[ladder]\nmultiple_of = { C = ") + value + " }\n"),
                  ":2: [ladder] multiple_of needs C as a whole number from 1 on");
    }
}

TEST_F(LessonTomlFile, SaysInWhichPrecisionAnOpComputes) {
    const LessonToml toml = read("[precision]\nmatmul = \"tf32\"\nforward = \"bf16\"\n");
    EXPECT_EQ(toml.precision_of("matmul"), "tf32");
    EXPECT_EQ(toml.precision_of("forward"), "bf16");
    EXPECT_EQ(toml.precision_of("attention"), "fp32");
    EXPECT_EQ(toml.where("precision.forward"), file_.string() + ":3: [precision.forward]");
    EXPECT_EQ(refusal("[precision]\nmatmul = \"tf23\"\n"),
              ":2: [precision] needs matmul as one that there is, not \"tf23\"; did you mean tf32?");
    EXPECT_EQ(refusal("[precision]\nmatmul = 32\n"),
              ":2: [precision] needs matmul as one that there is, not \"\"; there is fp32, tf32, bf16");
    EXPECT_EQ(refusal("precision = \"tf32\"\n"), ":1: needs precision as a table such as { matmul = \"tf32\" }");
}

TEST_F(LessonTomlFile, HasItsOpsInTheOrderOfTheFile) {
    const std::string against = "against = \"copy\"\n";
    EXPECT_EQ(read("[target.softmax]\n" + against + "[target.attention]\n" + against + "[target.gelu]\n" + against).ops,
              (std::vector<std::string>{"softmax", "attention", "gelu"}));
}

TEST_F(LessonTomlFile, HasTargets) {
    const LessonToml toml = read(
        "[target.gelu]\nagainst = \"solution\"\nbronze = 0.7\nsilver = 0.8\ngold = 0.9\nshapes = "
        "[\"N=8\"]\n"
        "[target.matmul]\nagainst = \"library\"\nbronze = 0.3\nsilver = 0.6\ngold = 0.8\nolder = 10\nthreads = 0.7\n"
        "shapes = [\"N=8 C=4\", \"N=9 C=5\"]\n");
    EXPECT_EQ(toml.targets.at("gelu").against, Baseline::solution);
    EXPECT_EQ(toml.targets.at("gelu").shares.bronze, 0.7);
    EXPECT_EQ(toml.targets.at("gelu").older.gold, 0);
    EXPECT_EQ(toml.targets.at("matmul").against, Baseline::library);
    EXPECT_EQ(toml.targets.at("matmul").shares.gold, 0.8);
    EXPECT_EQ(toml.targets.at("matmul").older.bronze, 10);
    EXPECT_EQ(toml.targets.at("matmul").older.gold, 10);
    EXPECT_EQ(toml.targets.at("matmul").threads, 0.7);
    EXPECT_EQ(toml.targets.at("matmul").shapes, (std::vector<std::string>{"N=8 C=4", "N=9 C=5"}));
}

TEST_F(LessonTomlFile, AsksForMoreThanTheOlderSolutionsSpeedFromAMedalOn) {
    const std::string target = "[target.attention]\nagainst = \"arithmetic\"\n";
    const Target attention = read(target + "older = { silver = 1.3 }\n").targets.at("attention");
    EXPECT_EQ(attention.against, Baseline::arithmetic);
    EXPECT_EQ(attention.older.bronze, 0);
    EXPECT_EQ(attention.older.silver, 1.3);
    EXPECT_EQ(attention.older.gold, 1.3);
    EXPECT_EQ(refusal(target + "older = { sliver = 1.3 }\n"),
              ":3: [target.attention] older has the unknown key sliver; did you mean silver?");
    EXPECT_EQ(refusal(target + "older = { silver = \"more\" }\n"),
              ":3: [target.attention] older needs silver as a number");
    EXPECT_EQ(refusal(target + "older = {}\n"),
              ":3: [target.attention] older asks for nothing: it is a number, or { silver = 1.3 }");
}

TEST_F(LessonTomlFile, AGapIsHeldToMicrosecondsAtItsOwnShapes) {
    const std::string target =
        "[target.predict]\nagainst = \"busy\"\nbronze = 0.9\nsilver = 0.95\ngold = 0.97\nshapes = [\"T=1024\"]\n";
    const Target predict =
        read(target + "gap = { shapes = [\"T=64\"], bronze = 4.0, silver = 2.0, gold = 1.3 }\n").targets.at("predict");
    EXPECT_EQ(predict.against, Baseline::busy);
    EXPECT_EQ(predict.shapes, (std::vector<std::string>{"T=1024", "T=64"}));
    EXPECT_NEAR(predict.gap.gold, 1.3e-6, 1e-12);
    EXPECT_TRUE(predict.judges_gap("T=64"));
    EXPECT_FALSE(predict.judges_gap("T=1024"));
    EXPECT_EQ(refusal(target + "gap = { shapes = [\"T=64\"], bronze = 1.0, silver = 2.0, gold = 1.3 }\n"),
              ":7: [target.predict] gap needs shapes, and bronze, silver and gold, falling above 0");
    EXPECT_EQ(
        refusal("[target.gelu]\nagainst = \"copy\"\ngap = { shapes = [\"N=1\"], bronze = 3, silver = 2, gold = 1 }\n"),
        ":3: [target.gelu] gap is of what is against \"busy\" alone");
}

TEST_F(LessonTomlFile, HoldsWhatTensorCoresComputeToNoRoofOfFp32) {
    EXPECT_EQ(refusal("[target.matmul]\nagainst = \"arithmetic\"\n[precision]\nmatmul = \"tf32\"\n"),
              ":1: [target.matmul] is against the roof of fp32, and [precision] says tf32");
}

TEST_F(LessonTomlFile, NamesShapesThatAreReportedOnly) {
    const std::string medals = "bronze = 0.7\nsilver = 0.8\ngold = 0.9\n";
    const Target target =
        read("[target.gelu]\nagainst = \"copy\"\n" + medals + "shapes = [\"N=8\"]\nreported = [\"N=9\", \"N=10\"]\n")
            .targets.at("gelu");
    EXPECT_EQ(target.reported, (std::vector<std::string>{"N=9", "N=10"}));
    EXPECT_TRUE(target.judges("N=8"));
    EXPECT_FALSE(target.judges("N=10"));
    // Where none is judged, no share of it earns a medal.
    EXPECT_FALSE(read("[target.gelu]\nagainst = \"copy\"\nreported = [\"N=9\"]\n").targets.at("gelu").judges("N=9"));
    EXPECT_FALSE(read("[target.gelu]\nagainst = \"copy\"\n").targets.at("gelu").judges("N=9"));
}

TEST_F(LessonTomlFile, WithAMisspeltTargetIsRefused) {
    EXPECT_NE(message_of<FileError>([&] { read("[target.gelu]\nagainst = \"solutoin\"\n"); }).find("target.gelu"),
              std::string::npos);
    const std::string shares = "bronze = 0.7\nsilver = 0.8\ngold = 0.9\n", shapes = "shapes = [\"N=8\"]\n";
    EXPECT_NO_THROW(read("[target.gelu]\nagainst = \"copy\"\n" + shares + shapes));
    EXPECT_EQ(read("[target.gelu]\nagainst = \"read\"\n" + shares + shapes).targets.at("gelu").against, Baseline::read);
    EXPECT_THROW(read("[target.gelu]\nagainst = \"copy\"\n" + shapes), FileError);
    EXPECT_THROW(read("[target.gelu]\nagainst = \"copy\"\n" + shares), FileError);
    EXPECT_THROW(read("[target.gelu]\nagainst = \"copy\"\nratio = 1.5\n" + shares + shapes), FileError);
    EXPECT_NO_THROW(read("[target.gelu]\nagainst = \"older\"\n" + shares + shapes));
    EXPECT_THROW(read("[target.gelu]\nagainst = \"older\"\nolder = 2\n" + shares + shapes), FileError);
    EXPECT_THROW(read("[target.gelu]\nagainst = \"copy\"\nbronze = 0.7\nsilver = 0.6\ngold = 0.9\n" + shapes),
                 FileError);
}

TEST_F(LessonTomlFile, HasTargetsByComputeCapability) {
    const std::string target =
        "[target.matmul]\nagainst = \"library\"\nbronze = 0.7\nsilver = 0.8\ngold = 0.9\nshapes = [\"N=8\"]\n";
    const auto by = [&](const std::string& table) { return target + "by_capability = { " + table + " }\n"; };
    const Target matmul =
        read(by("9 = { bronze = 0.35, silver = 0.45, gold = 0.55 }, 12 = { bronze = 1, silver = 2, gold = 3 }"))
            .targets.at("matmul");
    for (const auto& [capability, bronze] :
         std::map<int, double>{{0, 0.7}, {80, 0.7}, {89, 0.7}, {90, 0.35}, {100, 0.7}, {120, 1}}) {
        EXPECT_EQ(on_card(matmul, Gpu{"a card", capability}).shares.bronze, bronze) << capability;
    }
    const Target a100 =
        read(by("8 = { bronze = 1, silver = 2, gold = 3 }, \"8.0\" = { bronze = 4, silver = 5, gold = 6 }"))
            .targets.at("matmul");
    EXPECT_EQ(on_card(a100, Gpu{"a card", 80}).shares.bronze, 4);
    EXPECT_EQ(on_card(a100, Gpu{"a card", 86}).shares.bronze, 1);
    EXPECT_EQ(on_card(matmul, Gpu{"a card", 90}).shares.gold, 0.55);
    EXPECT_EQ(refusal(by("9 = { bronze = 0.5, silver = 0.4, gold = 0.9 }")),
              ":7: [target.matmul] by_capability 9 needs bronze, silver and gold, rising shares above 0");
    EXPECT_EQ(refusal(by("9x = { bronze = 0.1, silver = 0.4, gold = 0.9 }")),
              ":7: [target.matmul] by_capability 9x is no compute capability, such as \"9.0\", and no first number of "
              "one, such as 9");
    EXPECT_EQ(refusal(by("9 = 0.5")), ":7: [target.matmul] by_capability 9 is no table");
    EXPECT_EQ(
        refusal("[target.matmul]\nagainst = \"library\"\nbronze = 0.7\nshapes = [\"N=8\"]\nof_recorded = { bronze "
                "= 0.8, silver = 0.88, gold = 0.95 }\nby_capability = { 9 = { bronze = 0.1, silver = 0.4, gold = "
                "0.9 } }\n"),
        ":1: [target.matmul] needs by_capability or of_recorded, not both");
}

TEST_F(LessonTomlFile, MeasuresMedalsByWhatTheSolutionReachedOnACard) {
    const std::string target = "[target.matmul]\nagainst = \"library\"\nbronze = 0.7\nshapes = [\"N=8\"]\n";
    const std::string of_recorded = "of_recorded = { bronze = 0.8, silver = 0.88, gold = 0.95 }\n";
    const Target matmul = read(target + of_recorded).targets.at("matmul");
    EXPECT_EQ(matmul.shares.bronze, 0.7);
    EXPECT_EQ(matmul.of_recorded.bronze, 0.8);
    EXPECT_EQ(matmul.of_recorded.gold, 0.95);
    EXPECT_EQ(refusal(target + "silver = 0.8\n" + of_recorded),
              ":1: [target.matmul] needs bronze above 0 and no silver or gold, which of_recorded says");
    EXPECT_EQ(refusal(target + "of_recorded = { bronze = 0.8, silver = 0.7, gold = 0.95 }\n"),
              ":5: [target.matmul] of_recorded needs bronze, silver and gold, rising shares up to 1");
    EXPECT_EQ(refusal(target + "of_recorded = 0.8\n"),
              ":5: [target.matmul] needs of_recorded as a table such as { bronze = 0.8, … }");
}

TEST_F(LessonTomlFile, IsOfABranchOfAnEarlierLesson) {
    const fs::path lessons = fs::path(testing::TempDir()) / ("branches_" + std::to_string(getpid()));
    file_ = lessons / "18_new/lesson.toml";
    for (const char* name : {"10_old", "18_new", "19_newer"}) {
        fs::create_directories(lessons / name);
        std::ofstream(lessons / name / "lesson.toml") << "title = \"x\"\n";
    }
    EXPECT_EQ(read("title = \"x\"\n").branch_of, "");
    EXPECT_EQ(read("title = \"x\"\nbranch_of = \"10_old\"\n").branch_of, "10_old");
    for (const char* other : {"19_newer", "18_new", "11_missing"}) {
        EXPECT_EQ(refusal("branch_of = \"" + std::string(other) + "\"\n"),
                  ":1: needs branch_of as an earlier lesson, not \"" + std::string(other) + "\"");
    }
    for (const char* line : {"branch_of=\"10_old\"", "'branch_of' = \"10_old\"", "branch_of = \"10_old\"  # so"}) {
        EXPECT_EQ(refusal(std::string(line) + "\n"),
                  ":1: needs the line 'branch_of = \"10_old\"' and no other: make looks for it as text");
    }
    fs::remove_all(lessons);
}

TEST(Branch, IsComparedWithItsBaseAndServesNoOtherLesson) {
    const fs::path here = fs::current_path(),
                   course = fs::path(testing::TempDir()) / ("course_" + std::to_string(getpid()));
    const auto touch = [&](const fs::path& file, const std::string& text = "") {
        fs::create_directories((course / file).parent_path());
        std::ofstream(course / file) << text;
    };
    for (const std::string lesson : {"01_first", "10_old", "11_library", "18_branch", "19_new"}) {
        touch("lessons/" + lesson + "/lesson.toml", lesson == "18_branch" ? "branch_of = \"10_old\"\n" : "");
        touch("solutions/" + lesson + "/matmul.cu");
        touch("impl/" + lesson + "/matmul.so");
    }
    touch("solutions/01_first/forward.cu");
    fs::current_path(course);
    const auto older = [&](const std::string& lesson) {
        return older_implementation("impl/" + lesson, "matmul").parent_path().filename();
    };
    EXPECT_EQ(older("18_branch"), "10_old");
    EXPECT_EQ(older("19_new"), "11_library");
    EXPECT_EQ(older("11_library"), "10_old");
    EXPECT_EQ(newest_solution("18_branch", "matmul"), "solutions/18_branch/matmul.cu");
    fs::remove_all("solutions/19_new");
    EXPECT_EQ(newest_solution("19_new", "matmul"), "solutions/11_library/matmul.cu");
    EXPECT_TRUE(is_step("11_library"));
    EXPECT_FALSE(is_step("18_branch"));
    fs::current_path(here);
    fs::remove_all(course);
}

TEST_F(LessonTomlFile, ThatIsNoTomlIsNamedWithItsLine) {
    const std::string message = message_of<FileError>([&] { read("title = \"x\"\nidea = maybe\n"); });
    EXPECT_NE(message.find(":2:"), std::string::npos) << message;
}

// ---- medals by what the solution reached on a card -------------------------------------------------------------

// Reports as `make gpu-report` writes them, in a folder of their own.
class RecordedTimes : public testing::Test {
  protected:
    void SetUp() override { std::filesystem::create_directory(folder_); }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    // Of lesson 08's matmul at N=8 and N=9.
    void report(const std::string& gpu, const std::string& capability, double at_8, double at_9,
                const std::string& status = "ok", bool rehearsal = false) {
        const auto timed = [](const char* shape, double share) {
            return Json{{"shape", shape}, {"of_speed_of", Json{{"library", Json{{"share", share}}}}}};
        };
        const Json item{{"status", status},
                        {"result", Json{{"shapes", Json::array({timed("N=8", at_8), timed("N=9", at_9)})}}}};
        const Json timings{{"items", Json{{"lesson08/matmul", item}}}};
        const Json all{{"gpu", gpu},
                       {"rehearsal", rehearsal},
                       {"card", Json{{"compute_capability", capability}}},
                       {"parts", Json{{"timings", timings}}}};
        std::ofstream(folder_ / (gpu + ".json")) << all.dump();
    }
    std::optional<RecordedShare> on(const std::string& card, int capability, const std::string& op = "matmul") const {
        return recorded_share(folder_, {card, capability}, "08", op, target_);
    }

    std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / ("recorded_times_test." + std::to_string(getpid()));
    Target target_{.against = Baseline::library,
                   .shares = {.bronze = 0.55},
                   .of_recorded = {.bronze = 0.8, .silver = 0.88, .gold = 0.95},
                   .older = {},
                   .shapes = {"N=8", "N=9"}};
};

TEST_F(RecordedTimes, AreTheLeastShareOfTheShapesThatAreJudged) {
    report("A", "8.6", 0.8, 0.75);
    EXPECT_EQ(on("A", 86)->share, 0.75);
    target_.shapes = {"N=8"};
    EXPECT_EQ(on("A", 86)->share, 0.8);
    target_.shapes = {"N=10"};
    EXPECT_FALSE(on("A", 86)) << "this shape was not timed";
}

TEST_F(RecordedTimes, OfAnotherCardCountWhereItsComputeCapabilityIsTheSame) {
    report("A", "8.6", 0.8, 0.8);
    report("B", "8.6", 0.7, 0.7);
    report("C", "8.9", 0.6, 0.6);
    EXPECT_EQ(on("A", 86)->share, 0.8) << "the card's own";
    EXPECT_EQ(on("D", 86)->card, "B") << "the least of its compute capability";
    EXPECT_FALSE(on("D", 90));
    EXPECT_FALSE(on("A", 86, "gelu"));
}

TEST_F(RecordedTimes, AreNotThoseOfARehearsalNorOfWhatFailedNorOfACpu) {
    report("A", "8.6", 0.8, 0.8, "failed");
    report("B", "8.6", 0.8, 0.8, "ok", true);
    std::ofstream(folder_ / "cpu.json") << "{\"cpu\": \"x\", \"rehearsal\": false}";
    std::ofstream(folder_ / "half.json") << "{";
    EXPECT_FALSE(on("A", 86));
    EXPECT_FALSE(recorded_share(folder_ / "nowhere", {"A", 86}, "08", "matmul", target_));
}

TEST_F(RecordedTimes, OfACardWithoutAReportLeaveBronze) {
    const Target target = on_card(target_, on("A", 86));
    EXPECT_EQ(target.shares.bronze, 0.55);
    EXPECT_EQ(speed_of({0.99, {0.98, 1.0}}, target.shares).medal, Medal::bronze);
    EXPECT_EQ(why_bronze_only({"A", 86}), "no silver or gold: no report of a card of sm_86 yet: make gpu-report");
}

TEST_F(RecordedTimes, SetTheMedalsOfTheirCard) {
    report("A", "8.6", 0.8, 0.8);
    const Target target = on_card(target_, on("A", 86));
    EXPECT_EQ(target.shares.bronze, 0.55);
    EXPECT_DOUBLE_EQ(target.shares.silver, 0.88 * 0.8);
    EXPECT_DOUBLE_EQ(target.shares.gold, 0.95 * 0.8);
    report("A", "8.6", 0.6, 0.6);
    EXPECT_DOUBLE_EQ(on_card(target_, on("A", 86)).shares.bronze, 0.8 * 0.6) << "it can be reached there too";
}

// ---- two runs of one call in words -----------------------------------------------------------------------------

namespace {

Content content(const std::vector<float>& values) {
    return {encode(values, Element::f32)};
}

// out (T=2, C=2) and mean (T=2), with a suspect that speaks of both.
struct TwoOutputs {
    std::vector<float> out{1, 2, 3, 4}, mean{1, 2}, floor{1e-6F, 1e-6F}, mean_floor{1e-6F};
    std::vector<float> out_doubled{2, 4, 6, 8}, mean_doubled{2, 4};
    Call call;
    TwoOutputs() {
        call.outputs.push_back(
            output("mean", "T", {2}, Reference{{mean, mean_floor, 8, false}, {{"doubled", "doubled", mean_doubled}}}));
        call.outputs.push_back(
            output("out", "T C", {2, 2}, Reference{{out, floor, 8, false}, {{"doubled", "doubled", out_doubled}}}));
    }
    CallVerdict verdict(const std::vector<float>& got_mean, const std::vector<float>& got_out) const {
        const std::vector<Content> values{content(got_mean), content(got_out)};
        return describe_call(call, values, values, [] { return true; });
    }
};

std::vector<std::string> kinds(const CallVerdict& verdict) {
    std::vector<std::string> result;
    for (const Finding& finding : verdict.findings) { result.push_back(finding.kind); }
    return result;
}

}  // namespace

TEST(CallInWords, RightOutputsHaveNoFindings) {
    const TwoOutputs two;
    EXPECT_TRUE(two.verdict(two.mean, two.out).ok);
}

TEST(CallInWords, WhereTwoOrdersDifferThereWasARaceOrAVariableHasNoValue) {
    const TwoOutputs two;
    const std::vector<Content> first{content(two.mean), content(two.out)};
    const std::vector<Content> second{content(two.mean), content(two.out_doubled)};
    const auto reason = [&](bool raced) {
        const CallVerdict verdict = describe_call(
            two.call, first, second, [] { return true; }, "", true, raced);
        return verdict.findings.at(0).details.at(0);
    };
    EXPECT_NE(reason(true).find("overwrites what another one writes"), std::string::npos) << reason(true);
    EXPECT_NE(reason(false).find("is read before it has a value"), std::string::npos) << reason(false);
}

TEST(CallInWords, ASuspectMustFitEveryOutputItSpeaksOf) {
    const TwoOutputs two;
    EXPECT_EQ(kinds(two.verdict(two.mean_doubled, two.out_doubled)), (std::vector<std::string>{"mismatch", "suspect"}));
    EXPECT_EQ(kinds(two.verdict(two.mean, two.out_doubled)), std::vector<std::string>{"mismatch"});
}

TEST(CallInWords, WrongElementsOfADiagonalAreNamedAsThat) {
    const auto where = [](long below) {
        std::vector<float> expected(2 * 6 * 6, 1.0F), floor(2 * 6, 1e-6F), got = expected;
        for (long b = 0; b < 2; b++) {
            for (long t = below; t < 6; t++) { got[static_cast<std::size_t>((b * 6 + t) * 6 + t - below)] = 9; }
        }
        Call call;
        call.outputs.push_back(output("att", "B T T/s", {2, 6, 6}, Reference{{expected, floor, 8, false}, {}}));
        const std::vector<Content> values{content(got)};
        const CallVerdict verdict = describe_call(call, values, values, [] { return true; });
        return verdict.findings.at(0).details.back();
    };
    EXPECT_EQ(where(0), "where\tevery wrong element has s=t");
    EXPECT_EQ(where(2), "where\tevery wrong element has t=2..5, s=t-2");
}

TEST(CallInWords, ValuesInWrongPlacesAreNamedWithTheirDistance) {
    std::vector<float> expected(24);
    for (std::size_t i = 0; i < expected.size(); i++) { expected[i] = 1.0F + static_cast<float>(i * i); }
    const std::vector<float> floor(6, 1e-6F);
    Call call;
    call.outputs.push_back(output("out", "B T C", {2, 3, 4}, Reference{{expected, floor, 8, false}, {}}));
    std::vector<float> got = expected;
    std::ranges::rotate(got, got.begin() + 8);  // by two rows
    const std::vector<Content> values{content(got), content(got)};
    const CallVerdict verdict =
        describe_call(call, std::span(values).first(1), std::span(values).last(1), [] { return true; });
    ASSERT_EQ(kinds(verdict), (std::vector<std::string>{"mismatch", "displaced"}));
    EXPECT_EQ(verdict.findings[1].text, "out[b=0, t=0, c=0] holds what belongs at out[b=0, t=2, c=0]");
    EXPECT_EQ(verdict.findings[1].details,
              (std::vector<std::string>{"\tso do 16 of 24 wrong elements: 2 rows further on",
                                        "\tso do 8 of 24 wrong elements: 4 rows further back"}));
}

namespace {

// A call with an output of one element for each of `names`, and its verdict where the first `wrong` of them are.
CallVerdict verdict_with(const std::vector<std::string>& names, std::size_t wrong, bool is_model) {
    const std::vector<float> right{1}, floor{1e-6F};
    Call call;
    call.is_model = is_model;
    std::vector<Content> values;
    for (const std::string& name : names) {
        call.outputs.push_back(output(name, "N", {1}, Reference{{right, floor, 8, false}, {}}));
        values.push_back(content({values.size() < wrong ? 2.0F : 1.0F}));
    }
    return describe_call(call, values, values, [] { return true; });
}

}  // namespace

TEST(CallInWords, NamesAnOpsOutputsHoweverManyItHas) {
    const CallVerdict verdict = verdict_with({"dqkv", "datt", "dpreatt", "dscale", "dbias"}, 2, false);
    EXPECT_FALSE(verdict.of_model);
    EXPECT_EQ(verdict.findings.at(0).text.find("1 of 1 element of dqkv is wrong"), 0U) << verdict.findings.at(0).text;
    EXPECT_EQ(verdict.findings.at(0).details.back(), "also\tdatt is wrong too; dpreatt and dscale and dbias are right");
}

TEST(CallInWords, NamesAModelsFirstDivergingTensor) {
    const CallVerdict verdict = verdict_with({"encoded", "logits", "losses"}, 2, true);
    EXPECT_TRUE(verdict.of_model);
    EXPECT_EQ(verdict.findings.at(0).text.find("first diverging tensor: encoded, 1 of 1 element is wrong"), 0U)
        << verdict.findings.at(0).text;
    EXPECT_EQ(verdict.findings.at(0).details.back(), "also\t1 of the 2 other tensors are wrong too");
}

TEST(CallInWords, TheFirstWrongOutputIsShownAndTheOthersNamed) {
    const TwoOutputs two;
    const CallVerdict verdict = two.verdict(two.mean, two.out_doubled);
    EXPECT_NE(verdict.findings.front().text.find("4 of 4 elements of out are wrong"), std::string::npos);
    EXPECT_EQ(verdict.findings.front().details.back(), "also\tmean is right");
}
