// SPDX-License-Identifier: MIT
//
// The course as its users meet it: stubs, solutions, what make prints and refuses. Commands that write run in a copy of what
// `make course-reads` names, build/course_test/tree: the first lessons, which are the generator's stubs there whatever a
// learner has written here. Nothing else of the course can matter to those tests. What holds of every lesson is looked at
// here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <span>

#include "checker/base/files.h"
#include "checker/base/stub.h"
#include "checker/cases/budget.h"
#include "checker/cases/lesson_toml.h"

namespace {

namespace fs = std::filesystem;
using checker::Finished;
using checker::read_file;
using testing::AssertionFailure;
using testing::AssertionResult;
using testing::AssertionSuccess;

const fs::path kTree = "build/course_test/tree";
const fs::path kHere = ".";

Finished run(const std::string& command, const fs::path& root = kTree) {
    return checker::run_command(fmt::format(
        "cd {} && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES -u MAKECMDGOALS NO_COLOR=1 {} 2>&1 "
        "</dev/null",
        root.string(), command));
}

AssertionResult contains(const Finished& finished, const std::string& text) {
    if (finished.output.find(text) != std::string::npos) {
        return AssertionSuccess();
    }
    return AssertionFailure() << "`" << text << "` is not in:\n" << finished.output;
}

AssertionResult exits(const Finished& finished, int status) {
    if (finished.status == status) {
        return AssertionSuccess();
    }
    return AssertionFailure() << "exit status " << finished.status << ":\n" << finished.output;
}

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t n = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) { n++; }
    return n;
}

// The lessons by folder name, and their ops: what `ls` shows.
std::vector<std::string> lessons(const fs::path& root = kTree) {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(root / "solutions")) {
        names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
}

std::vector<std::string> ops(const std::string& lesson) {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator("solutions/" + lesson)) {
        if (entry.path().extension() == ".cpp" || entry.path().extension() == ".cu") {
            names.push_back(entry.path().stem().string());
        }
    }
    std::ranges::sort(names);
    return names;
}

// Those that the learner writes.
std::vector<std::string> exercises(const std::string& lesson) {
    std::vector<std::string> names = ops(lesson);
    std::erase_if(names, [&](const std::string& op) {
        const fs::path host = fs::path("solutions") / lesson / (op + ".cpp");
        const std::string solution = checker::read_file(fs::exists(host) ? host : host.parent_path() / (op + ".cu"));
        return solution.find("// >>> given\n") != std::string::npos;
    });
    return names;
}

std::string number(const std::string& lesson) {
    return lesson.substr(0, 2);
}

// Below lessons/ and solutions/.
std::string file_of(const std::string& lesson, const std::string& op) {
    const std::string kernel = lesson + "/" + op + ".cu";
    return fs::exists("solutions/" + kernel) ? kernel : lesson + "/" + op + ".cpp";
}

// The headers that the learner writes: "13_cooperative_groups/warp_reduce.cuh".
std::vector<std::string> helpers(const std::string& lesson) {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator("solutions/" + lesson)) {
        if (entry.path().extension() == ".cuh") {
            names.push_back(entry.path().lexically_relative("solutions"));
        }
    }
    return names;
}

bool on_device(const std::string& lesson) {
    return std::ranges::any_of(ops(lesson),
                               [&](const std::string& op) { return file_of(lesson, op).ends_with(".cu"); });
}

// What the lesson's check program says of it.
nlohmann::json described(const std::string& lesson) {
    return nlohmann::json::parse(run(fmt::format("build/check/lesson{} --describe", number(lesson)), kHere).output);
}

bool is_branch(const std::string& lesson) {
    return read_file("lessons/" + lesson + "/lesson.toml").find("\nbranch_of = ") != std::string::npos;
}

// The file that serves each op by `step`: the newest on its track; the host's forward where the device has none.
std::map<std::string, std::string> served_at(const std::string& step) {
    std::map<std::string, std::string> newest, host;
    for (const std::string& lesson : lessons(kHere)) {
        if (is_branch(lesson)) {
            continue;
        }
        for (const std::string& op : ops(lesson)) {
            if (!on_device(lesson)) {
                host[op] = file_of(lesson, op);
            }
            if (lesson <= step && on_device(lesson) == on_device(step)) {
                newest[op] = file_of(lesson, op);
            }
        }
    }
    newest.try_emplace("forward", host.at("forward"));
    return newest;
}

// The lessons that give a whole model: one that serves each op that lesson 02 does.
std::vector<std::string> steps(const fs::path& root) {
    std::vector<std::string> found = lessons(root);
    std::erase_if(found, [](const std::string& lesson) {
        if (is_branch(lesson)) {
            return true;
        }
        const auto served = served_at(lesson);
        return !std::ranges::all_of(served_at("02_forward"), [&](const auto& op) { return served.contains(op.first); });
    });
    return found;
}

void write_solved(const std::string& lesson, const std::string& op) {
    const std::string file = file_of(lesson, op);
    checker::write_file(kTree / "lessons" / file,
                        checker::extract(read_file("solutions/" + file), file, checker::Text::solution));
}

void write_stub(const std::string& lesson, const std::string& op) {
    const std::string file = file_of(lesson, op);
    const std::string stub = checker::extract(read_file("solutions/" + file), file, checker::Text::stub);
    // What is the stub already keeps its time, and so its object, which came with the copy.
    if (checker::read_file_if_there(kTree / "lessons" / file) != stub) {
        checker::write_file(kTree / "lessons" / file, stub);
    }
}

class Course : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        fs::remove_all(kTree);
        fs::create_directories(kTree);
        const Finished copied = checker::run_command(
            "git ls-files -z --cached --others --exclude-standard -- $(env -u MAKEFLAGS make -s course-reads) | "
            "xargs -0 sh -c 'for f; do [ -e \"$f\" ] && echo \"$f\"; done' sh | tar cf - -T - | tar xf - -C " +
            kTree.string() +
            " && tar cf - --exclude=build/course_test --exclude=build/wrong --exclude=build/local_test "
            "--exclude=build/new_lesson_test --exclude=build/tests --exclude=build/nvcc --exclude=build/sass "
            "--exclude=build/tune build | tar xf - -C " +
            kTree.string() + " && if [ -e .deps ]; then ln -s \"$PWD/.deps\" " + kTree.string() + "/.deps; fi");
        ASSERT_EQ(copied.status, 0) << copied.output;
        ASSERT_EQ(
            run("git init --quiet && git add -A && git -c user.name=t -c user.email=t@example.org commit -qm tree")
                .status,
            0);
        std::string targets;
        for (const std::string& lesson : lessons()) {
            targets += " build/check/lesson" + number(lesson);
            for (const std::string& op : ops(lesson)) {
                write_stub(lesson, op);
                targets += fmt::format(" build/impl/lessons/{0}/{1}.so build/impl/solutions/{0}/{1}.so", lesson, op);
            }
        }
        const Finished built = run("make" + targets);
        ASSERT_EQ(built.status, 0) << built.output;
    }

    // The copy takes 2 GB. It stays if a test has failed.
    static void TearDownTestSuite() {
        if (!testing::UnitTest::GetInstance()->Failed()) {
            fs::remove_all(kTree);
        }
    }
    void TearDown() override {
        for (const auto& [lesson, op] : touched_) { write_stub(lesson, op); }
        fs::remove_all(kTree / "results");
    }

    // A lesson file of the copy that this test writes; TearDown makes it the stub again.
    fs::path touch(const std::string& lesson, const std::string& op) {
        touched_.emplace_back(lesson, op);
        return kTree / "lessons" / file_of(lesson, op);
    }

  private:
    std::vector<std::pair<std::string, std::string>> touched_;
};

}  // namespace

// ---- stubs and solutions -------------------------------------------------------------------------------------------

// forward.cpp only calls ops: the device's first whole model is made with it, and the check there judges it.
TEST_F(Course, AFileThatServesBothTracksIsCheckedOnBoth) {
    const Finished solution = run("make check-lesson05 SOLUTION=1 ONLY=forward/regular");
    EXPECT_TRUE(exits(solution, 0));
    EXPECT_TRUE(std::regex_search(solution.output, std::regex("forward +ok"))) << solution.output;

    touch("02_forward", "forward");
    EXPECT_FALSE(std::regex_search(run("make check-lesson05").output, std::regex("\\n  forward "))) << "it is a stub";
    EXPECT_TRUE(contains(run("make check-lesson05 ONLY=forward"), "not written yet   lessons/02_forward/forward.cpp"));

    write_solved("02_forward", "forward");
    EXPECT_TRUE(exits(run("make check-lesson05 ONLY=forward"), 0));
    std::string text = read_file(kTree / "lessons/02_forward/forward.cpp");
    text.replace(text.find("if (targets) {"), 14, "if (targets && targets[0] >= 0) {");
    checker::write_file(kTree / "lessons/02_forward/forward.cpp", text);
    EXPECT_TRUE(exits(run("make check-lesson02 ONLY=forward/regular"), 0));
    const Finished wrong = run("make check-lesson05 ONLY=forward/regular");
    EXPECT_NE(wrong.status, 0);
    EXPECT_TRUE(contains(wrong, "host code touches the device's memory"));
    EXPECT_TRUE(contains(wrong, "at        lessons/02_forward/forward.cpp:"));
    EXPECT_FALSE(contains(checker::Finished{0, read_file(kTree / "results/results.jsonl")},
                          "\"lesson\":\"05\",\"op\":\"forward\""))
        << "it is lesson 02's exercise";
}

TEST(EveryLesson, HasProgramsThatRunWithoutAFinding) {
    std::map<std::string, Finished> programs;
    for (const std::string& lesson : lessons(kHere)) {
        for (const fs::directory_entry& entry : fs::directory_iterator("lessons/" + lesson)) {
            if (entry.path().extension() == ".cu" &&
                !fs::exists("solutions" / entry.path().lexically_relative("lessons"))) {
                const Finished finished = run("make run FILE=" + entry.path().string(), kHere);
                EXPECT_TRUE(exits(finished, 0)) << entry.path();
                programs[lesson + "/" + entry.path().stem().string()] = finished;
            }
        }
    }
    EXPECT_GE(programs.size(), 1U);
    // What times something on a card has compared its values here, and gives no times.
    EXPECT_TRUE(
        contains(programs["17_cuda_graphs/l2_persistence"], "out is right with the window on and off; this device"));
    EXPECT_TRUE(
        contains(programs["12_cublaslt_fusion/algorithms"], "algorithms, the same outputs\nthis device has no times"));
    EXPECT_TRUE(
        contains(programs["17_cuda_graphs/layouts"], "both ways give the same outputs; this device has no times"));
}

TEST(EveryLesson, HasProgramsThatAreCompiledForACardWhereOneIsAskedFor) {
    const Finished transpose = run("make -n run FILE=lessons/06_coalescing/transpose.cu DEVICE=gpu V=1", kHere);
    EXPECT_TRUE(contains(transpose, "lessons/06_coalescing/transpose.cu -o build/gpu/run/transpose"));
    EXPECT_FALSE(contains(transpose, "cublas"));
    const Finished precision = run("make -n run FILE=lessons/11_tf32/precision.cu DEVICE=gpu V=1", kHere);
    EXPECT_TRUE(std::regex_search(precision.output, std::regex("-o build/gpu/run/precision .*cublas")));
    EXPECT_TRUE(contains(run("make -n run FILE=lessons/06_coalescing/transpose.cu DEVICE=tpu", kHere),
                         "DEVICE=tpu: it is cpu (the CPU device) or gpu"));
}

// Here, not in the copy: a file that differs must be a learner's edit, so the committed one must be the stub.
TEST(CourseFiles, EveryLessonFileIsTheStubOfItsSolution) {
    for (const std::string& lesson : lessons(kHere)) {
        std::vector<std::string> files = helpers(lesson);
        for (const std::string& op : ops(lesson)) { files.push_back(file_of(lesson, op)); }
        for (const std::string& name : files) {
            const std::string stub = checker::extract(read_file("solutions/" + name), name, checker::Text::stub);
            const bool untouched = checker::read_file_if_there("lessons/" + name) == stub;
            EXPECT_TRUE(untouched ||
                        checker::run_command("git show HEAD:lessons/" + name + " 2>/dev/null").output == stub)
                << "lessons/" << name << " is not the stub of solutions/" << name << ": make stubs";
        }
    }
}

TEST(CourseFiles, EveryOpFileDefinesOnlyFunctionsOfTheSeam) {
    std::set<std::string> seam;
    const std::string header = read_file("lessons/gpt2/ops.h");
    const std::regex declaration(R"((?:^|\n)(?:void|std::size_t) (\w+)\()");
    for (std::sregex_iterator match(header.begin(), header.end(), declaration), end; match != end; ++match) {
        seam.insert((*match)[1]);
    }
    ASSERT_GE(seam.size(), 12u);
    for (const std::string& lesson : lessons(kHere)) {
        for (const std::string& op : ops(lesson)) {
            const std::string object = fmt::format("build/ops/solutions/{}/{}.o", lesson, op);
            const Finished nm = checker::run_command("nm -C --defined-only --extern-only " + object + " 2>&1");
            ASSERT_TRUE(exits(nm, 0)) << object;
            std::istringstream lines(nm.output);
            std::set<std::string> defined;
            std::string address, type, name;
            while (lines >> address >> type && std::getline(lines >> std::ws, name)) {
                const std::string function = name.substr(0, name.find('('));
                // Weak instantiations of the standard library's templates, and references to its runtime's symbols, are
                // the same in every object.
                const bool library =
                    (type == "W" || type == "V") &&
                    (name.find("std::") != std::string::npos || name.starts_with("DW.ref.__") ||
                     name.find("simt::") != std::string::npos || name.find("checker::") != std::string::npos);
                EXPECT_TRUE(library || seam.contains(function))
                    << object << " exports " << name << "; put it into an unnamed namespace";
                defined.insert(function);
            }
            EXPECT_TRUE(defined.contains(op)) << object << " does not define " << op;
        }
    }
}

TEST(CourseFiles, ForACardALessonThatCallsCublasNeedsItsHeaders) {
    if (checker::run_command("command -v nvcc").status != 0) {
        GTEST_SKIP() << "nvcc is not there";
    }
    for (const char* command : {"sass-lesson11", "time-lesson11", "check-lesson11 DEVICE=gpu"}) {
        const Finished refused = run(fmt::format("make {} CUBLAS=/nowhere", command), kHere);
        EXPECT_NE(refused.status, 0);
        EXPECT_TRUE(
            contains(refused, "lesson 11 calls cuBLAS, and nvcc has no cublas_v2.h: CUBLAS=DIR names a folder"));
        EXPECT_EQ(count(refused.output, "\n"), 1U) << refused.output;
    }
    EXPECT_TRUE(exits(run("make -n check-lesson11 CUBLAS=/nowhere", kHere), 0)) << "the CPU device has its own";
}

TEST(CourseFiles, AreFormatted) {
    const Finished version = checker::run_command("clang-format --version 2>&1");
    if (!std::regex_search(version.output, std::regex("version 14\\."))) {
        GTEST_SKIP() << "clang-format 14 is not there, and other versions format otherwise";
    }
    const Finished format = checker::run_command(
        "git ls-files -z --cached --others --exclude-standard '*.cpp' '*.h' '*.cu' '*.cuh' ':!:checker/simt/tests' | "
        "xargs -0 sh -c 'for f; do [ -e \"$f\" ] && echo \"$f\"; done' sh | "
        "xargs clang-format --dry-run -Werror 2>&1 | grep error: | sort -u -t: -k1,1");
    EXPECT_EQ(format.output, "") << "make format";
}

// ---- the generator -------------------------------------------------------------------------------------------------

TEST_F(Course, StubsLeavesAnEditedFileAloneUnlessForced) {
    const fs::path gelu = touch("01_layers", "gelu");
    checker::write_file(gelu, "// my work\n");
    const Finished refused = run("make stubs");
    EXPECT_NE(refused.status, 0);
    EXPECT_TRUE(contains(refused, "lessons/01_layers/gelu.cpp: edited"));
    EXPECT_EQ(read_file(gelu), "// my work\n");
    EXPECT_TRUE(exits(run("make stubs FORCE=1"), 0));
    EXPECT_NE(read_file(gelu), "// my work\n");
}

TEST_F(Course, StubsFollowsAChangedSolutionWhereTheLessonIsUntouched) {
    const fs::path gelu = touch("01_layers", "gelu");
    const fs::path solution = kTree / "solutions/01_layers/gelu.cpp";
    const std::string text = read_file(solution);
    checker::write_file(solution, text + "// one line more\n");
    const Finished stubs = run("build/tools/stubs");
    checker::write_file(solution, text);
    EXPECT_TRUE(exits(stubs, 0));
    EXPECT_TRUE(read_file(gelu).ends_with("// one line more\n"));
}

TEST_F(Course, StubsWritesTheStubOfAKernelFile) {
    const fs::path solution = kTree / "solutions/01_layers/gelu.cu";
    const fs::path stub = kTree / "lessons/01_layers/gelu.cu";
    checker::write_file(solution, "// >>> solution\n//~ // TODO\nkernel<<<1, 32>>>(out);\n// <<< solution\n");
    const Finished stubs = run("build/tools/stubs");
    fs::remove(solution);
    EXPECT_TRUE(exits(stubs, 0));
    EXPECT_EQ(checker::read_file_if_there(stub), "// TODO\n");
    fs::remove(stub);
}

TEST_F(Course, StubsCheckNamesTheDriftedFileAndLine) {
    const fs::path gelu = touch("01_layers", "gelu");
    checker::write_file(gelu, "// SPDX-License-Identifier: MIT\n// changed by hand\n");
    const Finished check = run("build/tools/stubs --check");
    EXPECT_TRUE(exits(check, 1));
    EXPECT_TRUE(contains(check, "lessons/01_layers/gelu.cpp:2: not the stub of solutions/01_layers/gelu.cpp"));
}

// ---- check ---------------------------------------------------------------------------------------------------------

TEST_F(Course, CheckNamesTheFilesAndTheNextCommandAndFails) {
    for (const char* command : {"make check-lesson01", "make check-lesson1"}) {
        const Finished check = run(command);
        EXPECT_NE(check.status, 0);
        EXPECT_TRUE(contains(check, "lessons/01_layers/layernorm.cpp"));
        EXPECT_TRUE(contains(check, "make check-lesson01"));
        EXPECT_TRUE(contains(check, "make hint-lesson01"));
    }
}

TEST_F(Course, CheckOfASolvedFileSucceeds) {
    touch("01_layers", "gelu");
    write_solved("01_layers", "gelu");
    EXPECT_TRUE(contains(run("make check-lesson01 ONLY=gelu"), "ok"));
}

TEST_F(Course, AFileThatIncludesItsSolutionIsNotPassed) {
    checker::write_file(touch("01_layers", "gelu"), "#include \"../../solutions/01_layers/gelu.cpp\"\n");
    const Finished check = run("make check-lesson01 ONLY=gelu");
    EXPECT_NE(check.status, 0);
    EXPECT_TRUE(contains(check, "NOT YOURS it includes solutions/01_layers/gelu.cpp, so it is not passed"));
    EXPECT_TRUE(contains(check, "edit lessons/01_layers/gelu.cpp, then: make check-lesson01"));
    EXPECT_EQ(check.output.find("of the solution's speed"), std::string::npos) << check.output;
}

TEST_F(Course, CheckOfOneRightShapeNamesTheOthers) {
    touch("01_layers", "gelu");
    write_solved("01_layers", "gelu");
    const Finished one = run("make check-lesson01 ONLY=gelu/t1");
    EXPECT_TRUE(exits(one, 0));
    EXPECT_TRUE(contains(one, "next    make check-lesson01 ONLY=gelu   all its shapes"));
}

TEST_F(Course, CheckCompilesOnlyTheFileThatWasEdited) {
    run("make check-lesson01");
    write_solved("01_layers", "gelu");
    checker::write_file(touch("01_layers", "gelu"), read_file(kTree / "lessons/01_layers/gelu.cpp") + "// edited\n");
    const Finished check = run("make check-lesson01 V=1");
    EXPECT_EQ(count(check.output, " -c "), 1u) << check.output;
    EXPECT_TRUE(contains(check, "-c lessons/01_layers/gelu.cpp"));
    EXPECT_EQ(count(run("make check-lesson01 V=1").output, " -c "), 0u);
}

TEST_F(Course, CheckShowsTheCompilersErrorsAndStillJudgesTheOtherFiles) {
    checker::write_file(touch("01_layers", "gelu"), "#include \"lessons/gpt2/ops.h\"\nvoid gelu(float* out {\n}\n");
    touch("01_layers", "residual");
    write_solved("01_layers", "residual");
    const Finished check = run("make check-lesson01");
    EXPECT_NE(check.status, 0);
    EXPECT_TRUE(contains(check, "lessons/01_layers/gelu.cpp:2:"));
    EXPECT_TRUE(contains(check, "does not compile"));
    EXPECT_TRUE(std::regex_search(check.output, std::regex("residual +ok"))) << check.output;
}

TEST_F(Course, CheckShowsTheFirstOfManyCompilersErrorsAndWhereTheRestIs) {
    std::string text;
    for (int i = 0; i < 60; i++) { text += fmt::format("unknown_{} x{};\n", i, i); }
    checker::write_file(touch("01_layers", "gelu"), text);
    const Finished check = run("make check-lesson01 ONLY=gelu");
    EXPECT_TRUE(contains(check, "'unknown_0' does not name a type") ||
                contains(check, "‘unknown_0’ does not name a type"));
    EXPECT_EQ(check.output.find("unknown_59"), std::string::npos) << check.output;
    EXPECT_TRUE(contains(check, " more lines in build/ops/lessons/01_layers/gelu.log\n"));
}

TEST_F(Course, WhereNothingCanBeWrittenNoOlderObjectSpeaksForTheFile) {
    touch("01_layers", "gelu");
    write_solved("01_layers", "gelu");
    ASSERT_TRUE(contains(run("make check-lesson01 ONLY=gelu"), "ok"));
    const fs::path log = kTree / "build/ops/lessons/01_layers/gelu.log";
    fs::remove(log);
    fs::create_directories(log / "in_the_way");  // a folder cannot be written to, not even by root
    checker::write_file(kTree / "lessons/01_layers/gelu.cpp", "void gelu(float* out {\n}\n");
    const Finished check = run("make check-lesson01 ONLY=gelu");
    EXPECT_TRUE(exits(check, 2));
    EXPECT_TRUE(contains(check, "gelu.log"));
    EXPECT_FALSE(std::regex_search(check.output, std::regex("gelu +ok"))) << check.output;
    fs::remove_all(log);
}

TEST_F(Course, CheckTellsTheLinkersErrorOfAFunctionThatNobodyDefines) {
    checker::write_file(touch("01_layers", "gelu"),
                        "#include \"lessons/gpt2/ops.h\"\nfloat tanh_of(float);\n"
                        "void gelu(float* out, const float* inp, int, Context&) { out[0] = tanh_of(inp[0]); }\n");
    const Finished check = run("make check-lesson01 ONLY=gelu");
    EXPECT_NE(check.status, 0);
    EXPECT_TRUE(contains(check, "tanh_of"));
}

TEST_F(Course, CheckSaysHowToGetADeletedFileBack) {
    fs::remove(touch("01_layers", "gelu"));
    const Finished check = run("make check-lesson01");
    EXPECT_TRUE(exits(check, 2));
    EXPECT_TRUE(contains(check, "make reset-lesson01 ONLY=gelu"));
    EXPECT_TRUE(exits(run("make reset-lesson01 ONLY=gelu"), 0));
    EXPECT_TRUE(fs::exists(kTree / "lessons/01_layers/gelu.cpp"));
}

// ---- what make refuses ---------------------------------------------------------------------------------------------

TEST_F(Course, EveryRefusalIsOneLineThatSaysWhatIsThereAndExitsWith2) {
    const struct {
        const char *command, *says;
    } rows[] = {
        {"make check-lesson77", "there is no lesson 77; the lessons are 01 02"},
        {"make check-lesson", "which lesson? For example: make check-lesson01"},
        {"make hint-lesson0", "there is no lesson 0"},
        {"make check-lesson01 ONLY=layernrom", "lesson 01 has no layernrom; it has: encoder gelu layernorm residual"},
        {"make check-lesson01 DEVICE=gpu", "lesson 01 is plain C++ for the CPU"},
        {"make gpt2 STEP=99", "STEP=99: no step; these lessons give a whole model: 02"},
        {"make gpt2 STEP=01", "STEP=01: no step"},
        {"make gpt2 BASE=foo", "BASE=foo: it is solutions (the default) or lessons"},
        {"make gpt2 STEP=02 DEVICE=gpu", "step 02 is plain C++ for the CPU"},
        {"make gpu-report PART=foo", "PART=foo: it is one of checks"},
        {"make profile-lesson77", "there is no lesson 77; the lessons are 01 02"},
        {"make profile-lesson", "which lesson? For example: make profile-lesson05"},
        {"make sanitize-lesson01", "lesson 01 is plain C++ for the CPU; the lessons with kernels are 04 05"},
        {"make sanitize-lesson5 ONLY=gelu", "lesson 05 has no gelu; it has: attention"},
    };
    for (const auto& row : rows) {
        const Finished refused = run(row.command);
        EXPECT_TRUE(exits(refused, 2)) << row.command;
        EXPECT_TRUE(contains(refused, row.says)) << row.command;
        EXPECT_EQ(count(refused.output, "\n"), 1u) << refused.output;
    }
}

TEST_F(Course, TheCpuIsAcceptedAsADeviceWhereALessonRunsOnItAnyway) {
    EXPECT_TRUE(exits(run("make -n check-lesson01 DEVICE=cpu"), 0));
}

TEST_F(Course, WhatALessonIsToBeatIsBuiltWithIt) {
    const fs::path beaten = kTree / "build/impl/solutions/02_forward/matmul.so";
    fs::remove(beaten);
    EXPECT_TRUE(contains(run("make -n check-lesson03"), "-o build/impl/solutions/02_forward/matmul.so"));
    EXPECT_TRUE(exits(run("make build/check/lesson03"), 0));
    EXPECT_TRUE(fs::exists(beaten));
}

TEST_F(Course, LinksTheWholeStepUnlessAnOpIsChosen) {
    const std::string model = "build/impl/solutions/03_cpu_matmul/model.so";
    fs::remove(kTree / model);
    EXPECT_TRUE(contains(run("make -n check-lesson03 SOLUTION=1"), "-o " + model));
    EXPECT_EQ(run("make -n check-lesson03 SOLUTION=1 ONLY=matmul").output.find(model), std::string::npos);
    EXPECT_EQ(run("make -n check-lesson01 SOLUTION=1").output.find("model.so"), std::string::npos) << "it is no step";
}

TEST_F(Course, HelpListsEveryCommandThatThePagesName) {
    const Finished help = run("make");
    EXPECT_TRUE(exits(help, 0));
    EXPECT_EQ(run("make help").output, help.output);
    std::set<std::string> named;
    const std::regex command(R"(make ((?:[a-z0-9]+-)*[a-z0-9N]+))");
    for (const char* page : {"README.md", "COMMANDS.md", "CONTRIBUTING.md", "AGENTS.md"}) {
        const std::string text = checker::read_file_if_there(page).value_or("");
        // Commands are in code: between backticks or in a fenced block.
        const std::regex code("```[^`]*```|`[^`\n]*`");
        for (std::sregex_iterator match(text.begin(), text.end(), code), end; match != end; ++match) {
            const std::string snippet = match->str();
            for (std::sregex_iterator make(snippet.begin(), snippet.end(), command); make != end; ++make) {
                named.insert((*make)[1]);
            }
        }
    }
    EXPECT_TRUE(named.contains("start"));
    const std::regex lesson("lesson(\\d+|NN)");
    const std::string list = std::regex_replace(help.output, lesson, "lesson01");
    for (const std::string& name : named) {
        const std::string listed = std::regex_replace(name, lesson, "lesson01");
        EXPECT_TRUE(std::regex_search(list, std::regex("  make " + listed + "\\b")))
            << name << " is not in make's list";
    }
    std::istringstream lines(help.output);
    for (std::string line; std::getline(lines, line);) { EXPECT_LE(line.size(), 80u) << line; }
}

TEST_F(Course, TheCompiledHeaderOfTheTestsIsMadeAnewWhereGoogleTestHasChanged) {
    const std::string depends_on = read_file(kTree / "build/obj/tests.d");
    std::smatch header;
    ASSERT_TRUE(std::regex_search(depends_on, header, std::regex("\\S+/gtest/gtest\\.h"))) << depends_on;
    const std::string make = "make --dry-run V=1 build/obj/tests.h.gch";
    EXPECT_EQ(count(run(make).output, "-x c++-header"), 0u);
    EXPECT_EQ(count(run(make + " --what-if=" + header.str()).output, "-x c++-header"), 1u);
}

// That build/tools/lessons says of a lesson what its check program says, but for what only that knows.
void expect_outline(const nlohmann::json& outline, nlohmann::json about) {
    std::map<std::string, nlohmann::json> ops;
    for (nlohmann::json op : about.at("ops")) {
        op.erase("file");
        op.erase("cases");
        for (nlohmann::json& shape : op.at("shapes")) {
            shape.erase("bytes");
            shape.erase("flop");
        }
        ops[op.at("op")] = op;
    }
    ASSERT_EQ(outline.at("ops").size(), ops.size());
    for (const nlohmann::json& op : outline.at("ops")) { EXPECT_EQ(op, ops[op.at("op")]); }
    about.at("ops") = outline.at("ops");
    about.erase("counters");
    EXPECT_EQ(outline, about);
}

TEST(EveryLesson, DescribesItselfAsItsFilesAre) {
    std::vector<std::string> whole;
    const nlohmann::json all = nlohmann::json::parse(run("build/tools/lessons", kHere).output);
    ASSERT_EQ(all.size(), lessons(kHere).size());
    for (std::size_t i = 0; i < all.size(); i++) {
        const std::string lesson = lessons(kHere)[i];
        const nlohmann::json about = described(lesson);
        expect_outline(all[i], about);
        EXPECT_EQ(about.at("name"), lesson);
        EXPECT_EQ(about.at("track"), on_device(lesson) ? "device" : "host");
        EXPECT_FALSE(about.at("title").get<std::string>().empty()) << lesson;
        EXPECT_EQ(about.at("counters").empty(), !on_device(lesson));
        if (about.at("step")) {
            whole.push_back(lesson);
        }
        std::vector<std::string> names;
        const std::string toml = read_file("lessons/" + lesson + "/lesson.toml");
        for (const nlohmann::json& op : about.at("ops")) {
            const std::string name = op.at("op");
            names.push_back(name);
            EXPECT_TRUE(fs::exists(op.at("file").get<std::string>())) << op.at("file");
            EXPECT_FALSE(op.at("cases").empty()) << lesson << " " << name;
            EXPECT_NE(toml.find("[target." + name + "]"), std::string::npos) << lesson << " " << name;
            for (const nlohmann::json& shape : op.at("shapes")) {
                EXPECT_NE(toml.find("\"" + shape.at("shape").get<std::string>() + "\""), std::string::npos) << shape;
            }
            for (const auto& [counter, at_most] : op.at("counters").items()) {
                EXPECT_NE(toml.find(counter + " = "), std::string::npos) << counter;
            }
        }
        std::vector<std::string> written = about.at("given");
        std::ranges::copy(exercises(lesson), std::back_inserter(written));
        std::ranges::sort(written);
        EXPECT_EQ(written, ops(lesson)) << lesson;
        for (const std::string& op : ops(lesson)) {
            EXPECT_EQ(std::ranges::count(names, op), 1) << lesson << " " << op;
        }
        for (const std::string& op : names) { EXPECT_TRUE(served_at(lesson).contains(op)) << lesson << " " << op; }
    }
    EXPECT_EQ(whole, steps(kHere));
}

// ---- gpt2 ----------------------------------------------------------------------------------------------------------

// What serves each op, as make prints it.
std::map<std::string, std::string> served_in(const std::string& output) {
    std::map<std::string, std::string> served;
    const std::regex line("\n?  (\\w+) +(\\S+\\.(?:cpp|cu))\\b");
    for (std::sregex_iterator match(output.begin(), output.end(), line), end; match != end; ++match) {
        served[(*match)[1]] = (*match)[2];
    }
    return served;
}

std::map<std::string, std::string> solutions_at(const std::string& step) {
    std::map<std::string, std::string> newest;
    for (const auto& [op, file] : served_at(step)) { newest[op] = "solutions/" + file; }
    return newest;
}

TEST_F(Course, MakeSaysWhichFilesServeAStep) {
    for (const std::string& step : steps(kTree)) {
        const Finished gpt2 = run("make gpt2 STEP=" + number(step));
        ASSERT_TRUE(exits(gpt2, 0));
        EXPECT_EQ(served_in(gpt2.output), solutions_at(step)) << gpt2.output;
        EXPECT_EQ(fs::read_symlink(kTree / "build/gpt2"), "gpt2-" + number(step));
    }
}

TEST(EachStep, IsServedByTheNewestFileOfEachOpUpToIt) {
    for (const std::string& step : steps(kHere)) {
        std::string names;
        for (const auto& [op, file] : solutions_at(step)) { names += op + " "; }
        const Finished served =
            run(fmt::format("awk -f scripts/served.awk -v ops='{}' build/gpt2-{}.map", names, number(step)), kHere);
        ASSERT_TRUE(exits(served, 0));
        EXPECT_EQ(served_in(served.output), solutions_at(step)) << served.output;
    }
}

// The precision of the whole model at a step: that of the newest lesson up to it that names one.
std::string precision_at(const std::string& step) {
    std::string precision = "fp32";
    for (const std::string& lesson : lessons(kHere)) {
        const checker::LessonToml toml = checker::read_lesson_toml(kHere / "lessons" / lesson / "lesson.toml");
        if (lesson <= step && toml.precision.contains("forward")) {
            precision = toml.precision_of("forward");
        }
    }
    return precision;
}

// Teacher-forced: every step sees the same tokens. Logits differ by rounding only; where the two best of the reference
// are closer than that, the best may differ.
TEST(EachStep, GivesTheSameLogits) {
    constexpr std::size_t kTokens = 72, kVocabulary = 256;  // more than a tile of fused attention
    std::string text = read_file("README.md").substr(0, kTokens);
    std::string ids;
    for (const char c : text) { ids += std::string{c, '\0', '\0', '\0'}; }
    const fs::path folder = "build/course_test/logits";
    checker::write_file(folder / "ids", ids);
    std::vector<std::vector<float>> logits;
    const std::vector<std::string> steps = ::steps(kHere);
    for (const std::string& step : steps) {
        const std::string out = folder / number(step);
        ASSERT_TRUE(exits(
            run(fmt::format("build/gpt2-{} --logits {} {}", number(step), (folder / "ids").string(), out), kHere), 0));
        const std::string bytes = read_file(out);
        ASSERT_EQ(bytes.size(), kTokens * kVocabulary * sizeof(float)) << step;
        logits.emplace_back(kTokens * kVocabulary);
        std::memcpy(logits.back().data(), bytes.data(), bytes.size());
    }
    ASSERT_GE(steps.size(), 3U);
    const float largest = std::ranges::max(logits[0], {}, [](float x) { return std::abs(x); });
    const checker::Budgets budgets = checker::Budgets::read("reference/cases/budgets.json");
    for (std::size_t s = 1; s < steps.size(); s++) {
        // What fp32 storage keeps against transformers, and so many times it as the precision may lose more.
        const double looser = budgets.chained("logits", precision_at(steps[s])) / budgets.chained("logits", "fp32");
        const float budget = 2e-5F * std::abs(largest) * static_cast<float>(looser);
        for (std::size_t t = 0; t < kTokens; t++) {
            const std::span reference = std::span(logits[0]).subspan(t * kVocabulary, kVocabulary);
            const std::span row = std::span(logits[s]).subspan(t * kVocabulary, kVocabulary);
            for (std::size_t v = 0; v < kVocabulary; v++) {
                ASSERT_NEAR(row[v], reference[v], budget) << steps[s] << " " << t;
            }
            const auto best = std::ranges::max_element(row) - row.begin();
            EXPECT_GE(reference[static_cast<std::size_t>(best)], std::ranges::max(reference) - 2 * budget) << steps[s];
        }
    }
}

// Each of another predict: the logits of one row, as text is written, agree with those of all rows.
TEST(EachStep, WritesTheTokensThatItsLogitsName) {
    constexpr std::size_t kPrompt = 62, kWritten = 4, kVocabulary = 256;  // from a bucket of 64 into the next one
    const std::string prompt = read_file("README.md").substr(0, kPrompt);
    std::string listed;
    for (const char c : prompt) { listed += fmt::format("{},", int{c}); }
    listed.pop_back();
    const fs::path folder = "build/course_test/written";
    int programs = 0;
    for (const std::string& step : steps(kHere)) {
        if (!fs::exists("solutions/" + step + "/predict.cu")) {
            continue;
        }
        programs++;
        const std::string program = "build/gpt2-" + number(step);
        const Finished written =
            run(fmt::format("{} --tokens-in {} --tokens {} --temperature 0", program, listed, kWritten), kHere);
        ASSERT_TRUE(exits(written, 0));
        const std::string text = written.output.substr(written.output.find(prompt), kPrompt + kWritten);
        std::string ids;
        for (const char c : text) { ids += std::string{c, '\0', '\0', '\0'}; }
        checker::write_file(folder / "ids", ids);
        ASSERT_TRUE(exits(run(fmt::format("{0} --logits {1}/ids {1}/logits", program, folder.string()), kHere), 0));
        const std::string bytes = read_file(folder / "logits");
        ASSERT_EQ(bytes.size(), text.size() * kVocabulary * sizeof(float)) << step;
        std::vector<float> logits(text.size() * kVocabulary);
        std::memcpy(logits.data(), bytes.data(), bytes.size());
        for (std::size_t t = kPrompt; t < text.size(); t++) {
            const std::span row = std::span(logits).subspan((t - 1) * kVocabulary, kVocabulary);
            EXPECT_EQ(std::ranges::max_element(row) - row.begin(), int{text[t]}) << step << " " << t;
        }
    }
    EXPECT_GE(programs, 2);
}

TEST_F(Course, TheLearnersFilesServeTheModelOnlyWhereTheyPass) {
    touch("01_layers", "gelu");
    write_solved("01_layers", "gelu");
    const Finished gpt2 = run("make gpt2 STEP=02 BASE=lessons");
    EXPECT_TRUE(exits(gpt2, 0));
    EXPECT_TRUE(std::regex_search(gpt2.output, std::regex("gelu +lessons/01_layers/gelu.cpp"))) << gpt2.output;
    EXPECT_TRUE(std::regex_search(
        gpt2.output,
        std::regex("layernorm +solutions/01_layers/layernorm.cpp\n +yours of lesson 01 is not written yet\n")))
        << gpt2.output;
    const Finished text = run("build/gpt2 --prompt The --tokens 4");
    EXPECT_TRUE(exits(text, 0));
}

TEST_F(Course, TheLearnersKernelsServeTheModelOnTheCpuDeviceOnlyWhereTheyPass) {
    touch("04_first_kernel", "gelu");
    write_solved("04_first_kernel", "gelu");
    checker::write_file(touch("04_first_kernel", "residual"), "no kernel\n");
    const Finished gpt2 = run("make gpt2 STEP=05 BASE=lessons");
    EXPECT_TRUE(exits(gpt2, 0));
    for (const char* serves :
         {"gelu +lessons/04_first_kernel/gelu.cu",
          "residual +solutions/04_first_kernel/residual.cu\n +yours of lesson 04 does not pass: make check-lesson04\n",
          "encoder +solutions/04_first_kernel/encoder.cu"}) {
        EXPECT_TRUE(std::regex_search(gpt2.output, std::regex(serves))) << gpt2.output;
    }
    EXPECT_TRUE(exits(run("build/gpt2 --prompt The --tokens 2"), 0));
}

// ---- reset, hint, diff, progress, watch -------------------------------------------------------------------------------

TEST_F(Course, ResetKeepsTheLearnersVersionAndRestoresTheStub) {
    const fs::path gelu = touch("01_layers", "gelu");
    const std::string stub = read_file(gelu);
    checker::write_file(gelu, "// my work\n");
    const Finished reset = run("make reset-lesson01 ONLY=gelu");
    EXPECT_TRUE(exits(reset, 0));
    EXPECT_EQ(read_file(gelu), stub);
    std::smatch kept;
    ASSERT_TRUE(std::regex_search(reset.output, kept, std::regex("results/kept/\\S+/lessons/01_layers/gelu\\.cpp")))
        << reset.output;
    EXPECT_EQ(read_file(kTree / kept.str()), "// my work\n");
}

TEST_F(Course, ResetTwiceWithinASecondKeepsBothVersions) {
    const fs::path gelu = touch("01_layers", "gelu");
    for (const char* text : {"// first\n", "// second\n"}) {
        checker::write_file(gelu, text);
        EXPECT_TRUE(exits(run("build/tools/stubs --reset solutions/01_layers/gelu.cpp"), 0));
    }
    std::set<std::string> kept;
    for (const fs::directory_entry& file : fs::recursive_directory_iterator(kTree / "results/kept")) {
        if (file.is_regular_file()) {
            kept.insert(read_file(file.path()));
        }
    }
    EXPECT_EQ(kept, (std::set<std::string>{"// first\n", "// second\n"}));
}

TEST_F(Course, ResetOfAnUntouchedStubKeepsNothing) {
    EXPECT_TRUE(contains(run("make reset-lesson01 ONLY=gelu"), "is the untouched stub already"));
    EXPECT_FALSE(fs::exists(kTree / "results/kept"));
}

// The script, without make, which takes longer than what it starts: in a folder that has its own results.
TEST(EveryLesson, HasHintsThatAreShownOneMoreEachTimeUntilThereAreNoMore) {
    const fs::path folder = "build/course_test/hints";
    fs::remove_all(folder);
    fs::create_directories(folder);
    for (const char* part : {"lessons", "scripts"}) { fs::create_symlink(fs::absolute(part), folder / part); }
    for (const std::string& lesson : lessons(kHere)) {
        std::vector<std::string> names = exercises(lesson);
        for (const fs::path helper : helpers(lesson)) { names.push_back(helper.stem()); }
        for (const std::string& op : names) {
            const std::string script = fmt::format("scripts/hint.sh {} {}", lesson, op);
            const Finished first = run(script, folder);
            EXPECT_TRUE(exits(first, 0));
            std::smatch total;
            ASSERT_TRUE(std::regex_search(first.output, total, std::regex("hint 1 of (\\d+)")))
                << script << first.output;
            const int hints = std::stoi(total[1]);
            EXPECT_GE(hints, 3) << script;
            EXPECT_EQ(first.output.find("Hint 2"), std::string::npos) << first.output;
            for (int i = 2; i <= hints; i++) {
                EXPECT_TRUE(contains(run(script, folder), fmt::format("hint {} of {}", i, hints)));
            }
            EXPECT_TRUE(contains(run(script, folder), "no more hints"));
        }
    }
}

TEST(EveryLesson, HasNoHintForAnOpThatItGivesAndSaysWhy) {
    const Finished hint = run("make hint-lesson05 ONLY=softmax", kHere);
    EXPECT_TRUE(exits(hint, 0));
    EXPECT_TRUE(contains(hint, "softmax is given in lesson 05: there is nothing to write"));
}

TEST_F(Course, HintTakesTheOpThatIsAskedForElseTheFirstExerciseThatDoesNotPass) {
    EXPECT_TRUE(contains(run("make hint-lesson01 ONLY=gelu"), "gelu · hint 1 of"));
    EXPECT_TRUE(contains(run("make hint-lesson1 ONLY=gelu"), "gelu · hint 2 of"));
    touch("01_layers", "encoder");
    write_solved("01_layers", "encoder");
    run("make check-lesson01 ONLY=encoder");
    EXPECT_TRUE(contains(run("make hint-lesson01"), "layernorm · hint 1 of"));
    EXPECT_TRUE(contains(run("make hint-lesson01"), "layernorm · hint 2 of"));
}

// Of a folder whose results say what passes.
TEST(Hint, SaysThatEveryExercisePassesOnceItDoes) {
    const fs::path folder = "build/course_test/passed";
    fs::remove_all(folder);
    fs::create_directories(folder / "build/tools");
    for (const char* part : {"lessons", "scripts"}) { fs::create_symlink(fs::absolute(part), folder / part); }
    checker::write_file(folder / "results/results.jsonl", "");
    const fs::path progress = folder / "build/tools/progress";
    checker::write_file(progress, "#!/bin/sh\nprintf '%s\\n' encoder layernorm gelu residual\n");
    fs::permissions(progress, fs::perms::owner_all);
    const Finished all = run("scripts/hint.sh 01_layers ''", folder);
    EXPECT_TRUE(exits(all, 0));
    EXPECT_TRUE(contains(all, "every exercise passes"));
    EXPECT_EQ(all.output.find("Hint"), std::string::npos) << all.output;
    EXPECT_TRUE(contains(run("scripts/hint.sh 01_layers gelu", folder), "gelu · hint 1 of"));
}

TEST_F(Course, DiffShowsTheSolutionOnlyOnceYoursPasses) {
    const Finished before = run("make diff-lesson01 ONLY=gelu");
    EXPECT_NE(before.status, 0);
    EXPECT_TRUE(contains(before, "yours does not pass yet"));
    EXPECT_EQ(before.output.find("tanh("), std::string::npos) << before.output;

    touch("01_layers", "gelu");
    write_solved("01_layers", "gelu");
    checker::write_file(kTree / "lessons/01_layers/gelu.cpp",
                        read_file(kTree / "lessons/01_layers/gelu.cpp") + "// mine\n");
    const Finished after = run("make diff-lesson01 ONLY=gelu");
    EXPECT_TRUE(exits(after, 0));
    EXPECT_TRUE(contains(after, "-// mine"));
    EXPECT_EQ(after.output.find(">>> solution"), std::string::npos) << after.output;
}

TEST_F(Course, ProgressCountsWhatPassesAndSeesLaterEdits) {
    std::size_t count = 0;
    for (const std::string& lesson : lessons()) { count += exercises(lesson).size(); }
    EXPECT_TRUE(contains(run("make progress"), fmt::format("0 of {} exercises pass", count)));
    touch("01_layers", "gelu");
    write_solved("01_layers", "gelu");
    run("build/check/lesson01 --only gelu --no-timing --results results/results.jsonl");
    EXPECT_TRUE(contains(run("make progress"), "not checked yet"));
    run("make check-lesson01 ONLY=gelu && make check-lesson02");
    const Finished progress = run("make progress");
    EXPECT_TRUE(contains(progress, fmt::format("1 of {} exercises pass", count)));
    checker::write_file(kTree / "lessons/01_layers/gelu.cpp", "// something else\n");
    EXPECT_TRUE(contains(run("make progress"), "edited since"));
}

// Each step waits for the one before, however long that takes: a save once the first check has spoken, an end once the
// second has.
TEST_F(Course, WatchChecksNowAndAgainOnSave) {
    touch("01_layers", "gelu");
    checker::write_file(kTree / "results/watch", "");
    const Finished watch = run(
        "sh -c 'make watch-lesson01 ONLY=gelu >>results/watch 2>&1 & watch=$!; "
        "checked() { while kill -0 $watch && [ $(grep -c \"watching lessons/01_layers\" results/watch) -lt $1 ]; do "
        "sleep 0.1; done; }; "
        "checked 1; echo \"// saved\" >>lessons/01_layers/gelu.cpp; checked 2; "
        "kill $(ps -o pid= --ppid $watch); wait $watch; cat results/watch'");
    EXPECT_EQ(count(watch.output, "watching lessons/01_layers"), 2u) << watch.output;
}

// ---- wrong solutions -----------------------------------------------------------------------------------------------

TEST_F(Course, AVerdictOfAWrongSolutionIsTakenAgainOnceAnythingThatItComesFromHasChanged) {
    ASSERT_TRUE(exits(run("make build/tools/wrong build/wrong/commands"), 0));
    const auto is_kept = [] {
        const Finished row =
            run("SOL_FRESH= build/tools/wrong --gtest_filter=WrongSolutions_01_layers.constant_rounded "
                "--gtest_output=xml:results/row.xml");
        EXPECT_TRUE(exits(row, 0));
        return read_file(kTree / "results/row.xml").find("unchanged") != std::string::npos;
    };
    EXPECT_FALSE(is_kept());
    EXPECT_TRUE(is_kept());
    for (const auto& [file, added] : std::map<std::string, std::string>{
             {"solutions/01_layers/gelu.cpp", "// more\n"},
             {"lessons/gpt2/ops.h", "// more\n"},
             {"lessons/01_layers/lesson.toml", "# more\n"},
             {"reference/cases/budgets.json", "\n"},
             {"build/check/lesson01", "more"},
             {"build/impl/solutions/01_layers/encoder.so", "more"},
             {"build/ops/solutions/01_layers/encoder.o", "more"},
             {"build/flags", "more"},
         }) {
        const std::string before = read_file(kTree / file);
        const auto permissions = fs::status(kTree / file).permissions();
        checker::write_file(kTree / file, before + added);
        fs::permissions(kTree / file, permissions);
        EXPECT_FALSE(is_kept()) << file;
        EXPECT_TRUE(is_kept()) << file;
        checker::write_file(kTree / file, before);
        fs::permissions(kTree / file, permissions);
    }
    const std::string rows = read_file(kTree / "solutions/01_layers/wrong.toml");
    checker::write_file(
        kTree / "solutions/01_layers/wrong.toml",
        std::regex_replace(rows, std::regex("(id = \"constant_rounded\"\n[^\\[]*case = )\"[a-z0-9_]+\""), "$1\"odd\"",
                           std::regex_constants::format_first_only));
    EXPECT_FALSE(is_kept());
    checker::write_file(kTree / "solutions/01_layers/wrong.toml", rows);
}

// ---- setting up ----------------------------------------------------------------------------------------------------

namespace {

// A root without headers, whose os-release says this.
fs::path root_of(const std::string& os_release) {
    const fs::path root = fs::absolute("build/course_test/root");
    fs::remove_all(root);
    checker::write_file(root / "etc/os-release", os_release);
    return root;
}

// setup.sh under that root, where nothing is unpacked either.
Finished set_up(const fs::path& root, const std::string& options = "", const std::string& variables = "") {
    return checker::run_command(
        fmt::format("unset CXX; {2} SETUP_ROOT={0} SETUP_DEPS={0}/deps PATH={0}/bin:$PATH scripts/setup.sh {1} 2>&1",
                    root.string(), options, variables));
}

}  // namespace

TEST(Setup, PrintsTheListAndStopsOnASystemWhosePackagesItDoesNotKnow) {
    const Finished setup = set_up(root_of("ID=void\n"));
    EXPECT_TRUE(exits(setup, 1));
    EXPECT_TRUE(contains(setup, "nothing was installed"));
    EXPECT_TRUE(contains(setup, "libgtest-dev"));
}

TEST(Setup, InstallsByDnfAndPacmanWhatTheyCallThePackages) {
    for (const auto& [os_release, tool, command] : std::vector<std::array<std::string, 3>>{
             {"ID=fedora\n", "dnf",
              "--quiet --assumeyes install openblas-devel boost-devel json-devel cli11-devel fmt-devel "
              "tomlplusplus-devel\n"},
             {"ID=rocky\nID_LIKE=\"rhel centos fedora\"\n", "dnf",
              "--quiet --assumeyes install openblas-devel boost-devel json-devel cli11-devel fmt-devel "
              "tomlplusplus-devel\n"},
             {"ID=manjaro\nID_LIKE=arch\n", "pacman",
              "-S --noconfirm --needed blas-openblas boost nlohmann-json cli11 fmt tomlplusplus\n"}}) {
        const fs::path root = root_of(os_release);
        checker::write_file(root / "usr/include/gtest/gtest.h", "");
        checker::write_file(root / "bin" / tool, "#!/bin/sh\necho \"$@\" >> " + (root / "log").string() + "\n");
        checker::write_file(root / "bin/sudo", "#!/bin/sh\nexec \"$@\"\n");
        for (const std::string& program : {tool, std::string("sudo")}) {
            fs::permissions(root / "bin" / program, fs::perms::owner_all);
        }
        const Finished setup = set_up(root);
        EXPECT_TRUE(exits(setup, 0));
        EXPECT_TRUE(contains(setup, "reads command lines"));
        EXPECT_EQ(read_file(root / "log"), command);
    }
}

TEST(Setup, InstallsExactlyWhatIsMissingOnADebianLikeSystemAndSaysWhy) {
    const fs::path root = root_of("ID=neon\nID_LIKE=\"ubuntu debian\"\n");
    checker::write_file(root / "usr/include/gtest/gtest.h", "");
    checker::write_file(root / "bin/apt-get", "#!/bin/sh\necho \"$@\" >> " + (root / "log").string() + "\n");
    checker::write_file(root / "bin/sudo", "#!/bin/sh\nexec \"$@\"\n");
    for (const char* tool : {"bin/apt-get", "bin/sudo"}) { fs::permissions(root / tool, fs::perms::owner_all); }
    const Finished setup = set_up(root);
    EXPECT_TRUE(exits(setup, 0));
    EXPECT_TRUE(contains(setup, "reads command lines"));
    const std::string calls = read_file(root / "log");
    EXPECT_NE(calls.find("update\n"), std::string::npos) << calls;
    EXPECT_NE(
        calls.find(
            "--no-install-recommends libopenblas-dev libboost-context-dev nlohmann-json3-dev libcli11-dev libfmt-dev "
            "libtomlplusplus-dev\n"),
        std::string::npos)
        << calls;
}

TEST(Setup, RefusesACompilerThatIsTooOldAndTakesTheOneThatIsNamed) {
    const fs::path root = root_of("ID=debian\n");
    for (const auto& [program, version] : {std::pair("g++", "9.4.0"), std::pair("g++-11", "11.4.0")}) {
        checker::write_file(root / "bin" / program, fmt::format("#!/bin/sh\necho {}\n", version));
        fs::permissions(root / "bin" / program, fs::perms::owner_all);
    }
    for (const char* options : {"", "--check", "--local"}) {
        const Finished old = set_up(root, options);
        EXPECT_TRUE(exits(old, 1));
        EXPECT_TRUE(
            contains(old, "g++ 9.4.0 is too old; 11 or newer is needed: apt-get install g++-11, then make CXX="));
        EXPECT_EQ(count(old.output, "\n"), 1u);
    }
    EXPECT_TRUE(contains(set_up(root, "--check", "CXX=g++-11"), "missing: libgtest-dev"));
}

TEST(Setup, DoesNothingWhenEverythingIsThere) {
    const Finished setup = checker::run_command("scripts/setup.sh 2>&1");
    EXPECT_TRUE(exits(setup, 0));
    EXPECT_EQ(setup.output, "");
}

TEST(Setup, CheckInstallsNothingAndNamesTheCommand) {
    const Finished check = set_up(root_of("ID=debian\n"), "--check");
    EXPECT_TRUE(exits(check, 1));
    EXPECT_TRUE(contains(check, "Install with: make setup"));
    EXPECT_EQ(count(check.output, "\n"), 1u);
}

TEST(Doctor, NamesCompilerProcessorMemoryAndGpuAndSucceedsHere) {
    const Finished doctor = checker::run_command("scripts/doctor.sh 2>&1");
    EXPECT_TRUE(exits(doctor, 0));
    for (const char* row : {"g++", "cpu", "vectors", "memory", "disk", "nvcc", "gpu", "libgtest", "python3"}) {
        EXPECT_TRUE(std::regex_search(
            doctor.output, std::regex("\n  " + std::regex_replace(std::string(row), std::regex("\\+"), "\\+") + " ")))
            << row << " is not in:\n"
            << doctor.output;
    }
}
