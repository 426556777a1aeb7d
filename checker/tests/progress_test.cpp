// SPDX-License-Identifier: MIT
//
// What `make progress` and `make hint-lessonNN` make of the recorded verdicts, in a small tree of two lessons.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "checker/base/course.h"
#include "checker/base/files.h"
#include "checker/tests/output.h"

namespace {

namespace fs = std::filesystem;

class Progress : public testing::Test {
  protected:
    void SetUp() override {
        fs::remove_all(kTree);
        fs::create_directories(kTree);
        fs::create_directory_symlink(fs::absolute("build"), kTree / "build");
        for (const char* file : {"01_first/add.cpp", "01_first/scale.cpp", "02_second/add.cu"}) {
            for (const char* side : {"lessons", "solutions"}) {
                checker::write_file(kTree / side / file, fmt::format("// {}\n", file));
            }
        }
        checker::write_file(kTree / "solutions/02_second/forward.cpp", "// >>> given\n");
        checker::write_file(kTree / "solutions/01_first/wrong.toml", "");
        checker::write_file(kTree / "lessons/ladder/lesson.toml", "title = \"ladder\"\n");
        checker::write_file(kTree / "lessons/01_first/README.md",
                            "## Hints\n### add\n<details><summary>Hint 1: of add</summary>a</details>\n"
                            "### scale\n<details><summary>Hint 1: of scale</summary>s</details>\n");
    }

    // What a check of the learner's file of an op of lesson 01 would append, as the file is now.
    void note(const std::string& op, const std::string& verdict, bool all_cases, const std::string& more = "") const {
        const std::string file = fmt::format("lessons/01_first/{}.cpp", op);
        std::ofstream(kTree / "results.jsonl", std::ios::app) << fmt::format(
            R"({{"lesson":"01","op":"{}","subject":"lessons","file":"{}","fnv1a64":"{}","cases":5,"all_cases":{},"verdict":"{}"{}}})"
            "\n",
            op, file, checker::fnv1a64(checker::read_file(kTree / file)), all_cases, verdict, more);
        fs::create_directories(kTree / "results");
        fs::copy_file(kTree / "results.jsonl", kTree / "results/results.jsonl", fs::copy_options::overwrite_existing);
    }

    static std::string run(const std::string& command) {
        return shell(fmt::format("cd {} && {}", kTree.string(), command)).output;
    }
    static std::string progress() { return run(fs::absolute("build/tools/progress").string()); }
    static std::string hint() { return run(fs::absolute("scripts/hint.sh").string() + " 01_first"); }

    static const inline fs::path kTree = "build/progress_test";
};

}  // namespace

TEST_F(Progress, ListsLessonsAndTheirExercisesOnly) {
    EXPECT_EQ(progress(),
              "lesson 01 · first\n  add               not checked yet\n  scale             not checked yet\n"
              "lesson 02 · second\n  add               not checked yet\n0 of 3 exercises pass\n");
}

TEST_F(Progress, CountsWhatPassesOnAllCases) {
    note("add", "ok", true);
    EXPECT_TRUE(contains(progress(), "  add               ok                not timed yet\n")) << progress();
    EXPECT_TRUE(contains(progress(), "1 of 3 exercises pass\n")) << progress();
}

TEST_F(Progress, NamesWhatALessonNoLongerHas) {
    checker::write_file(kTree / "lessons/01_first/exp.cpp", "// exp\n");
    note("exp", "ok", true);
    fs::remove(kTree / "lessons/01_first/exp.cpp");
    EXPECT_TRUE(contains(progress(), "  rebuilt since you did exp: CHANGELOG.md says what became of it\nlesson 02"))
        << progress();
    EXPECT_FALSE(contains(run(fs::absolute("build/tools/progress").string() + " --passed 01_first"), "rebuilt"));
}

TEST_F(Progress, OfSomeCasesDoesNotPass) {
    note("add", "ok", false);
    EXPECT_TRUE(contains(progress(), "  add               some shapes ok    make check-lesson01 ONLY=add\n"))
        << progress();
    EXPECT_TRUE(contains(progress(), "0 of 3 exercises pass\n")) << progress();
}

TEST_F(Progress, OfAllCasesStandsWhenSomeAreCheckedAgain) {
    note("add", "ok", true);
    note("add", "ok", false, R"(,"timing":{"share":0.5,"medal":"silver","against":"solution","library":""})");
    EXPECT_TRUE(contains(progress(), "  add               ok                silver, 50% of the solution's speed\n"))
        << progress();
    note("add", "WRONG", false);
    EXPECT_TRUE(contains(progress(), "  add               WRONG\n")) << progress();
}

TEST_F(Progress, OfAnEditedFileAsksForACheck) {
    note("add", "ok", true);
    checker::write_file(kTree / "lessons/01_first/add.cpp", "// mine\n");
    EXPECT_TRUE(contains(progress(), "edited since; make check-lesson01\n")) << progress();
    note("add", "ok", false);
    EXPECT_TRUE(contains(progress(), "some shapes ok"))
        << "the verdict on all cases was another text's: " << progress();
}

TEST_F(Progress, OfATextThatCameBackIsThatOfTheText) {
    note("add", "ok", true);
    const std::string right = checker::read_file(kTree / "lessons/01_first/add.cpp");
    checker::write_file(kTree / "lessons/01_first/add.cpp", "// an experiment\n");
    note("add", "WRONG", true);
    EXPECT_TRUE(contains(progress(), "  add               WRONG\n")) << progress();
    checker::write_file(kTree / "lessons/01_first/add.cpp", right);
    EXPECT_TRUE(contains(progress(), "  add               ok                not timed yet\n")) << progress();
}

TEST_F(Progress, ShowsTheBestMedalOfTheSameText) {
    const auto timed = [](const char* verdict, const char* medal, double share) {
        return fmt::format(R"(,"timing":{{"share":{},"verdict":"{}","medal":"{}","against":"solution","library":""}})",
                           share, verdict, medal);
    };
    const std::string gold = "  add               ok                gold, 95% of the solution's speed\n";
    note("add", "ok", true, timed("ok", "silver", 0.82));
    note("add", "ok", true, timed("ok", "gold", 0.95));
    note("add", "ok", true, timed("ok", "bronze", 0.7));
    EXPECT_TRUE(contains(progress(), gold)) << progress();
    note("add", "no verdict", true, timed("no verdict", "", 3.71));  // a share that cannot be
    EXPECT_TRUE(contains(progress(), gold)) << progress();
    note("add", "SLOW", true, timed("SLOW", "", 0.4));  // beside other work
    EXPECT_TRUE(contains(progress(), gold)) << progress();
    note("add", "SLOW", true);  // by what a device counts
    EXPECT_TRUE(contains(progress(), "  add               SLOW              gold")) << progress();

    checker::write_file(kTree / "lessons/01_first/add.cpp", "// slower\n");
    note("add", "SLOW", true, timed("SLOW", "", 0.4));
    EXPECT_TRUE(contains(progress(), "  add               SLOW              40% of the solution's speed\n"))
        << progress();
}

TEST_F(Progress, WithoutAVerdictOnSpeedIsAStateOfItsOwn) {
    note("add", "no verdict", true,
         R"(,"timing":{"share":0.7,"medal":"","verdict":"no verdict","against":"solution"})");
    EXPECT_TRUE(contains(progress(), "  add               no verdict        70% of the solution's speed\n"))
        << progress();
    EXPECT_TRUE(contains(progress(), "1 of 3 exercises pass, 1 of them without a verdict on its speed\n"))
        << progress();
}

TEST_F(Progress, SkipsLinesThatAreNoResultsWithANote) {
    for (const char* garbage : {"5", "{\"file\":5}", "\x01\xff", "{\"file\":\"lessons/01_first/add.cpp\",\"verd"}) {
        std::ofstream(kTree / "results.jsonl", std::ios::app) << garbage << "\n";
    }
    note("add", "ok", true);
    const std::string said = progress();
    EXPECT_TRUE(
        contains(said, "note: results/results.jsonl: 4 of 5 lines skipped, not a result of a check: line 1, 2, 3, 4\n"))
        << said;
    EXPECT_TRUE(contains(said, "  add               ok                not timed yet\n")) << said;
}

TEST_F(Progress, OfAHelperIsThatOfTheOpsOfItsLessonWhichIncludeIt) {
    const fs::path helper = kTree / "lessons/01_first/sum.cuh";
    checker::write_file(kTree / "solutions/01_first/sum.cuh", "// >>> solution\n//~ // TODO\nsum\n// <<< solution\n");
    checker::write_file(helper, "// TODO\n");
    checker::write_file(kTree / "lessons/01_first/add.cpp", "#include \"sum.cuh\"\n");
    const auto note_add = [&](const std::string& text) {
        checker::write_file(helper, text);
        checker::write_file(kTree / "text", "#include \"sum.cuh\"\n" + text);
        fs::rename(kTree / "lessons/01_first/add.cpp", kTree / "kept");
        fs::rename(kTree / "text", kTree / "lessons/01_first/add.cpp");
        note("add", "ok", true);  // as the check notes it: a digest of both texts
        fs::rename(kTree / "kept", kTree / "lessons/01_first/add.cpp");
    };
    EXPECT_TRUE(contains(progress(), "lesson 01 · first\n  sum               not written yet\n")) << progress();
    note_add("// mine\n");
    EXPECT_TRUE(contains(progress(), "  sum               ok\n  add               ok")) << progress();
    EXPECT_TRUE(contains(progress(), "2 of 4 exercises pass\n")) << progress();
    checker::write_file(helper, "// mine, edited\n");
    EXPECT_TRUE(contains(progress(), "  sum               not known yet     in add\n")) << progress();
    EXPECT_TRUE(contains(progress(), "  add               ok                edited since; make check-lesson01\n"))
        << progress();
}

TEST_F(Progress, AlignsTheNamesAlsoBesideALongOne) {
    for (const char* side : {"lessons", "solutions"}) {
        checker::write_file(kTree / side / "01_first/residual_layernorm.cpp", "// a name of 18 letters\n");
    }
    EXPECT_TRUE(contains(progress(),
                         "  add                 not checked yet\n"
                         "  residual_layernorm  not checked yet\n"))
        << progress();
}

TEST_F(Progress, SeesAHelperThatAHelperIncludes) {
    checker::write_file(kTree / "solutions/01_first/sum.cuh", "// >>> solution\n//~ // TODO\nsum\n// <<< solution\n");
    checker::write_file(kTree / "solutions/02_second/sums.cuh", "// >>> solution\n//~ // TODO\n// <<< solution\n");
    checker::write_file(kTree / "lessons/01_first/sum.cuh", "// mine\n");
    checker::write_file(kTree / "lessons/02_second/sums.cuh", "#include \"01_first/sum.cuh\"\n");
    checker::write_file(kTree / "lessons/02_second/add.cu", "#include \"sums.cuh\"\n");
    const fs::path here = fs::current_path();
    fs::current_path(kTree);
    const std::set<std::string> helpers = checker::helpers_of("lessons/02_second/add.cu");
    const std::string before = checker::exercise_digest("lessons/02_second/add.cu");
    checker::write_file("lessons/01_first/sum.cuh", "// edited\n");
    const std::string after = checker::exercise_digest("lessons/02_second/add.cu");
    fs::current_path(here);
    EXPECT_EQ(helpers, (std::set<std::string>{"01_first/sum.cuh", "02_second/sums.cuh"}));
    EXPECT_NE(before, after);
}

TEST_F(Progress, OfAHintIsOfTheFileAsItIsNow) {
    note("add", "ok", true);
    EXPECT_TRUE(contains(hint(), "Hint 1: of scale")) << hint();
    const std::string right = checker::read_file(kTree / "lessons/01_first/add.cpp");
    checker::write_file(kTree / "lessons/01_first/add.cpp", "// an experiment\n");
    EXPECT_TRUE(contains(hint(), "Hint 1: of add")) << "nobody has checked this text: " << hint();
    note("add", "WRONG", true);
    checker::write_file(kTree / "lessons/01_first/add.cpp", right);
    EXPECT_TRUE(contains(hint(), "of scale")) << "the last verdict is another text's: " << hint();
}

TEST_F(Progress, OfAHintIsTheSame) {
    note("add", "ok", false);
    EXPECT_TRUE(contains(hint(), "Hint 1: of add")) << hint();
    note("add", "ok", true);
    note("add", "ok", false);
    EXPECT_TRUE(contains(hint(), "Hint 1: of scale")) << hint();
    note("add", "WRONG", false);
    EXPECT_TRUE(contains(hint(), "of add")) << hint();
}
