// SPDX-License-Identifier: MIT
//
// Every row of solutions/NN_name/wrong.toml is a mistake put into the solution. Each is compiled, linked as an
// implementation and checked on its one failing case; the check must reject it for the reason that the row expects.
// One GoogleTest case a row; with --table FILE the rows and the kinds of finding are also written as a Markdown table, and
// what the check said into build/wrong/messages.txt.
//
// With --device gpu the rows of the device's lessons are checked on a GPU, which sees less than the CPU device: what a row's
// outputs need not show is not asked there (`not_asked`). What is asked and not rejected is written down (--json FILE) after
// each row: a run that is killed keeps what it has found.
//
// make writes build/wrong/commands (under build/gpu, or build/dry for its rehearsal, as well): `compile.cpp FLAGS…`,
// `compile.cu FLAGS…`, `link.…`, for each op of each lesson `NN_name/OP OTHER OBJECTS…`, and `compilers.… FILES…`.
//
// Each solution passes its lesson's check, its stub and the newest older solution of the op do not. What a lesson gives has
// neither.
//
// A row that was caught is not compiled and checked again as long as nothing has changed that its verdict comes from: its
// key (checker/base/kept.h) has the contents of all of it, and what the row expects. So it is with the others.
#include <fmt/format.h>
#include <fnmatch.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <future>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include "checker/base/course.h"
#include "checker/base/files.h"
#include "checker/base/kept.h"
#include "checker/base/stub.h"
#include "checker/cases/lesson_toml.h"
#include "checker/program/register_test.h"
#include "checker/worker/time_op.h"

namespace {

namespace fs = std::filesystem;
using checker::has_kernels;
using nlohmann::json;

// Where the commands, the check programs and the wrong solutions lie: build, build/gpu or build/dry.
fs::path root = "build";

bool on_gpu() {
    return root != "build";
}

struct Edit {
    std::string find, replace;
};

struct Row {
    std::string lesson;  // 01_layers
    std::string id, what, file, source, test_case, reason;
    std::vector<Edit> edits;    // none: the text is that of `source`
    std::string place;          // solutions/01_layers/wrong.toml:12
    std::string judged = "";    // the op that a helper is judged with
    std::string cpu_only = "";  // why a card may not see it

    std::string op() const { return judged.empty() ? fs::path(file).stem().string() : judged; }
    fs::path solution() const {
        return judged.empty() ? checker::newest_solution(lesson, op()) : fs::path("solutions") / lesson / file;
    }
    fs::path source_name() const {
        return judged.empty() ? fs::path(file) : checker::newest_solution(lesson, judged).filename();
    }
    fs::path folder() const { return root / "wrong" / lesson / id; }
    bool slow() const { return test_case == "timing"; }
    // Returns true if the row is of the whole step, whose library is named by its case as an op's is by the op.
    bool of_model() const { return test_case == "model"; }
    std::string judged_as() const { return of_model() ? test_case : op(); }
};

struct Caught {
    bool caught = false;
    std::string shown;  // what the learner reads when it is caught, or why the row fails
    bool ran = false;   // there is a verdict
    bool rejected = false;
    std::vector<std::string> others = {};  // reasons found that were not expected
};

// `find` and `replace` of the row, or each of its `edits`.
std::vector<Edit> edits_of(const toml::table& entry) {
    const auto edit = [](const toml::table& table) {
        return Edit{table["find"].value_or(std::string()), table["replace"].value_or(std::string())};
    };
    std::vector<Edit> edits;
    if (const toml::array* list = entry["edits"].as_array()) {
        for (const toml::node& node : *list) { edits.push_back(node.is_table() ? edit(*node.as_table()) : Edit{}); }
    }
    if (entry.contains("find")) {
        edits.push_back(edit(entry));
    }
    return edits;
}

std::vector<Row> read_rows(const fs::path& file) {
    const auto refuse = [](const std::string& place, const std::string& what) {
        throw std::runtime_error(fmt::format("{}: {}", place, what));
    };
    const auto place_of = [&](const toml::source_region& source) {
        return fmt::format("{}:{}", file.string(), source.begin.line);
    };
    toml::table table;
    try {
        table = toml::parse_file(file.string());
    } catch (const toml::parse_error& error) { refuse(place_of(error.source()), std::string(error.description())); }
    const toml::array* list = table["wrong"].as_array();
    if (!list) {
        refuse(file.string(), "no [[wrong]] rows");
    }
    std::vector<Row> rows;
    for (const toml::node& node : *list) {
        const toml::table& entry = *node.as_table();
        const auto text = [&](const char* key) { return entry[key].value_or(std::string()); };
        Row row{.lesson = file.parent_path().filename().string(),
                .id = text("id"),
                .what = text("what"),
                .file = text("file"),
                .source = text("source"),
                .test_case = text("case"),
                .reason = text("reason"),
                .edits = edits_of(entry),
                .place = place_of(node.source()),
                .judged = text("op"),
                .cpu_only = text("cpu_only")};
        for (const char* key : {"id", "what", "file", "case", "reason"}) {
            if (text(key).empty()) {
                refuse(row.place, fmt::format("the row has no `{}`", key));
            }
        }
        if (row.file.ends_with(".cuh") == row.judged.empty()) {
            refuse(row.place, row.id + ": `op` goes with a helper, and names the op that it is judged with");
        }
        const bool blank = std::ranges::any_of(row.edits, [](const Edit& edit) { return edit.find.empty(); });
        if (blank || row.edits.empty() == row.source.empty() || (entry.contains("find") && entry.contains("edits"))) {
            refuse(row.place, row.id + " needs one of `find`, `edits` with a `find` each, and `source`");
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

std::vector<Row> all_rows() {
    std::vector<Row> rows;
    for (const auto& [lesson, files] : checker::solution_files()) {
        if (const fs::path file = fs::path("solutions") / lesson / "wrong.toml"; fs::exists(file)) {
            std::ranges::move(read_rows(file), std::back_inserter(rows));
        }
    }
    return rows;
}

// Kinds of findings that only the CPU device has, and why a card's outputs may be right all the same.
const std::map<std::string, std::string> kOfCpuDevice = {
    {"race", "a race may go well"},
    {"stream", "the other stream's work may be done in time"},
    {"collective", "what is not defined may be right"},
    {"use_after_free", "what was freed may still be there"},
    {"host_pointer", "a card may share the host's memory"},
    {"device_memory", "the host may share the card's memory"},
    {"host_work", "the result is right"},
    {"leak", "the result is right"},
    {"unchecked_launch", "the launch was not refused"},
};

// Why the row is not asked of a card, or of its rehearsal; empty: it is, and must be rejected.
std::string not_asked(const Row& row) {
    if (!on_gpu() || !row.cpu_only.empty()) {
        return on_gpu() ? row.cpu_only : "";
    }
    if (const auto found = kOfCpuDevice.find(row.reason); found != kOfCpuDevice.end()) {
        return found->second;
    }
    if (row.test_case.starts_with("huge")) {
        return "the case is judged by some of its blocks";
    }
    if (row.reason == "slow" && !row.slow()) {
        return "what it asks for is counted on the CPU device";
    }
    if (root == "build/dry" && (row.slow() || row.reason == "misaligned")) {
        return row.slow() ? "a rehearsal has no times" : "a processor may take such an address, where a GPU faults";
    }
    return "";
}

using Commands = std::map<std::string, std::string>;

Commands read_commands() {
    Commands commands;
    std::istringstream lines(checker::read_file(root / "wrong/commands"));
    for (std::string line; std::getline(lines, line);) {
        const std::size_t space = line.find(' ');
        commands[line.substr(0, space)] = space == std::string::npos ? "" : line.substr(space + 1);
    }
    return commands;
}

// The wrong solution's text. Throws where an edit does not apply exactly once.
std::string wrong_text(const Row& row) {
    if (!row.source.empty()) {
        return checker::read_file(fs::path("solutions") / row.lesson / row.source);
    }
    const fs::path solution = row.solution();
    std::string text = checker::read_file(solution);
    for (const Edit& edit : row.edits) {
        const std::size_t first = text.find(edit.find);
        if (first == std::string::npos || first != text.rfind(edit.find)) {
            throw std::runtime_error(fmt::format(
                "{}: {}: `{}` is {}", row.place, row.id, edit.find,
                first == std::string::npos ? fmt::format("not in {}; write it as it is there", solution.string())
                                           : fmt::format("in {} more than once; make it longer", solution.string())));
        }
        text.replace(first, edit.find.size(), edit.replace);
    }
    return text;
}

// What is compiled: the row's text, and for a helper's the op's solution beside it, which includes it.
std::map<fs::path, std::string> texts_of(const Row& row, const std::string& text) {
    std::map<fs::path, std::string> texts{{row.file, text}};
    if (!row.judged.empty()) {
        texts[row.source_name()] = checker::read_file(checker::newest_solution(row.lesson, row.judged));
    }
    return texts;
}

fs::path check_program(const std::string& lesson) {
    return root / ("check/lesson" + checker::lesson_number(lesson));
}

// What every verdict of a lesson comes from beside the object that is judged.
void add_check(checker::Key& key, const std::string& lesson) {
    key.lasting_file(fs::read_symlink("/proc/self/exe"));
    key.lasting_file(check_program(lesson));
    key.lasting_file(fs::path("lessons") / lesson / "lesson.toml");
    key.folder(root / "impl/solutions" / lesson);
    key.folder("reference/cases");
    key.lasting_file("reference/dump/budget.toml");
}

// The verdict's key, from what the row is compiled of and checked with; the files that the last compilation read are in
// its depfile. Without an implementation there is no verdict to keep.
std::string key_of(const Row& row, const Commands& commands, const std::string& text) {
    const fs::path stem = row.folder() / row.op();
    checker::Key key;
    for (const std::string& part : {row.id, row.file, row.test_case, row.reason}) { key.text(part); }
    for (const auto& [file, content] : texts_of(row, text)) { key.text(content); }
    const std::string extension = row.source_name().extension().string();
    for (const char* command : {"compile", "link"}) { key.text(commands.at(command + extension)); }
    key.words(commands.at("compilers" + extension));
    key.words(commands.at(row.lesson + "/" + row.op()));
    key.depfile(fs::path(stem) += ".d");
    add_check(key, row.lesson);
    return key.value();
}

fs::path stamp_of(const Row& row) {
    return row.folder() / "kept.json";
}

// build/wrong/LESSON/ID/OP.so, or model.so, which is linked from the same objects
void build(const Row& row, const Commands& commands, const std::string& text) {
    const std::string op = row.op();
    const fs::path source = row.folder() / row.source_name();
    fs::remove(stamp_of(row));
    for (const auto& [file, content] : texts_of(row, text)) { checker::write_file(row.folder() / file, content); }
    const std::string stem = (row.folder() / op).string();
    const std::string extension = has_kernels(row.lesson) ? ".cu" : ".cpp";  // a shared file is C++ among kernels
    for (const std::string& command :
         {fmt::format(
              "{} -Isolutions/{} -MMD -MP -MF {}.d -c {} -o {}.o",  // the lesson's helpers, where none lies beside
              commands.at("compile" + source.extension().string()), row.lesson, stem, source.string(), stem),
          fmt::format("{} -o {}.so {}.o {}", commands.at("link" + extension), (row.folder() / row.judged_as()).string(),
                      stem, commands.at(row.lesson + "/" + op))}) {
        const checker::Finished finished = checker::run_command(command + " 2>&1");
        if (finished.status != 0) {
            throw std::runtime_error(
                fmt::format("{}: {}: does not compile\n{}\n{}", row.place, row.id, command, finished.output));
        }
    }
}

// Removes what build() made. A kept verdict needs only the depfile, and all the rows' objects take more than a GB.
void remove_objects(const fs::path& folder) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() == ".o" || entry.path().extension() == ".so") {
            fs::remove(entry.path());
        }
    }
}

// What the findings say about the reason that the row expects; `others` collects what was found instead.
Caught find_reason(const Row& row, const json& findings, std::vector<std::string>& others) {
    for (const json& finding : findings) {
        const std::string kind = finding.at("kind");
        const std::string id = finding.at("id");
        const std::string reason = kind == "suspect" ? "suspect:" + id : kind;
        if (reason == row.reason) {
            return {true, finding.at("text"), true, true};
        }
        others.push_back(reason);
    }
    return {};
}

// Runs the check of `lesson` on the implementations in `folder`; the verdict is null where it wrote none.
struct Checked {
    checker::Finished finished;
    json verdict;
};
Checked run_check(const std::string& lesson, const std::string& folder, const std::string& options, int limit_s,
                  const std::string& verdict_file, const std::string& environment = "") {
    fs::remove(verdict_file);
    Checked checked;
    checked.finished = checker::run_command(fmt::format(
        "SOL_TIMEOUT_S={0} {7} {1} --subject {2} --impl-dir {2} --reference-dir {3}/impl/solutions/{4} {5} "
        "--json {6} 2>&1",
        limit_s, check_program(lesson).string(), folder, root.string(), lesson, options, verdict_file, environment));
    if (const std::optional<std::string> text = checker::read_file_if_there(verdict_file)) {
        checked.verdict = json::parse(*text);
    }
    return checked;
}

// Seconds that a call may take: what is to hang is not waited for long, what is only slow must not pass for it.
int limit_of(const Row& row) {
    constexpr int kJudged = 60, kHangs = 3;
    return on_gpu() || row.reason != "hang" ? kJudged : kHangs;
}

Caught run_check(const Row& row) {
    const std::string folder = row.folder().string();
    const auto [finished, verdict] =
        run_check(row.lesson, folder,
                  fmt::format("--only {} {}", row.of_model() ? row.test_case : row.op() + '/' + row.test_case,
                              row.slow() ? "" : "--no-timing"),
                  limit_of(row), folder + "/verdict.json");
    if (verdict.is_null()) {
        return {false, "the check wrote no verdict:\n" + finished.output};
    }
    if (finished.status == 0) {
        return {false, "the check passed it:\n" + finished.output, true};
    }
    std::vector<std::string> others;
    if (row.of_model()) {
        if (Caught caught = find_reason(row, verdict.at("model").at("cases").at(0).at("findings"), others);
            caught.caught) {
            return caught;
        }
    }
    for (const json& op : verdict.at("ops")) {
        if (op.at("op") != row.op()) {
            continue;
        }
        if (row.reason == "slow" && op.at("verdict") == "SLOW" && !row.slow()) {
            return {true, "right, but it takes more of the device than is needed", true, true};
        }
        if (row.slow() && op.contains("timing")) {
            if (op.at("timing").at("verdict") == "SLOW" && row.reason == "slow") {
                return {true, "right, but slower than the target", true, true};
            }
            others.push_back(op.at("timing").at("verdict"));
        }
        for (const json& one : op.at("cases")) {
            if (one.at("case") != row.test_case) {
                continue;
            }
            if (Caught caught = find_reason(row, one.at("findings"), others); caught.caught) {
                return caught;
            }
        }
    }
    return {false,
            fmt::format("expected the reason {}, found: {}\n{}", row.reason,
                        others.empty() ? "none" : fmt::format("{}", fmt::join(others, ", ")), finished.output),
            true, finished.status == 1, others};
}

// Compiles the rows that will run and have no verdict kept, as many at a time as half the processors, at least two, and
// ahead of the tests that want them: a check uses one processor.
class Builds {
  public:
    explicit Builds(std::vector<Row> rows) : rows_(std::move(rows)), commands_(read_commands()), done_(rows_.size()) {
        for (auto& done : done_) { ready_.push_back(done.get_future()); }
    }

    void start() {
        for (unsigned int thread = 0; thread < std::max(2U, std::thread::hardware_concurrency() / 2); thread++) {
            threads_.emplace_back([this] {
                for (std::size_t i = next_++; i < rows_.size(); i = next_++) { build_row(i); }
            });
        }
    }
    const std::vector<Row>& rows() const { return rows_; }

    // What the learner read when the row was caught before, and nothing has changed since; else nothing, and the row is
    // built. Throws what the build threw.
    std::optional<std::string> kept_or_built(std::size_t row) { return ready_[row].get(); }
    void keep(std::size_t row, const std::string& shown) const {
        if (!on_gpu()) {
            checker::keep(stamp_of(rows_[row]), key_of(rows_[row], commands_, wrong_text(rows_[row])), shown);
        }
    }

  private:
    void build_row(std::size_t i) {
        try {
            const Row& row = rows_[i];
            if (!commands_.contains(row.lesson + "/" + row.op())) {
                throw std::runtime_error(
                    fmt::format("{}: {}: {} is no op of lesson {}", row.place, row.id, row.op(), row.lesson));
            }
            const std::string text = wrong_text(row);
            std::optional<std::string> kept;
            if (!on_gpu()) {
                kept = checker::kept(stamp_of(row), key_of(row, commands_, text));
            }
            if (!kept) {
                build(row, commands_, text);
            }
            done_[i].set_value(std::move(kept));
        } catch (...) { done_[i].set_exception(std::current_exception()); }
    }

    std::vector<Row> rows_;
    Commands commands_;
    std::vector<std::promise<std::optional<std::string>>> done_;
    std::vector<std::future<std::optional<std::string>>> ready_;
    std::atomic<std::size_t> next_ = 0;
    std::vector<std::jthread> threads_;
};

using CaughtRows = std::map<std::string, Caught>;  // by lesson and id

void test_row(Builds& builds, std::size_t number, CaughtRows& all_caught) {
    const Row& row = builds.rows()[number];
    try {
        const std::optional<std::string> kept = builds.kept_or_built(number);
        if (row.slow() && !on_gpu() && has_kernels(row.lesson)) {
            GTEST_SKIP() << "the CPU device has no times";
        }
        const Caught caught = kept ? Caught{true, *kept, true, true} : run_check(row);
        EXPECT_TRUE(caught.caught || (on_gpu() && caught.ran))
            << row.place << ": " << row.id << " (" << row.what << ")\n"
            << caught.shown;
        all_caught[row.lesson + "/" + row.id] = caught;
        if (kept) {
            testing::Test::RecordProperty("kept", "unchanged");
        } else if (caught.caught) {
            builds.keep(number, caught.shown);
        }
        if (caught.caught) {
            remove_objects(row.folder());
        }
    } catch (const std::exception& error) { FAIL() << error.what(); }
}

// Runs an implementation of an op as a whole through a lesson's check: the solution, which passes; its stub, which does not;
// and the newest older solution, since no lesson may be passed with the kernel of the one before.
struct Whole {
    std::string kind, lesson, op;  // Solutions, Stubs or OlderSolutions
    std::function<fs::path()> object;
    int status;           // of the check
    std::string verdict;  // on the op; empty: any
    std::string options = "", environment = "";
};

void test_whole(const Whole& whole) {
    const fs::path folder = fs::path("build/wrong") / whole.lesson / (whole.kind + "_" + whole.op);
    fs::create_directories(folder);
    checker::Key key;
    const fs::path object = whole.object();
    key.file(object);
    add_check(key, whole.lesson);
    if (checker::kept(folder / "kept.json", key.value())) {
        testing::Test::RecordProperty("kept", "unchanged");
        return;
    }
    const fs::path judged = folder / (whole.op + ".so");
    fs::remove(judged);
    fs::create_symlink(fs::absolute(object), judged);
    const auto [finished, verdict] =
        run_check(whole.lesson, folder.string(), fmt::format("--only {} {}", whole.op, whole.options), 60,
                  (folder / "verdict.json").string(), whole.environment);
    ASSERT_FALSE(verdict.is_null()) << finished.output;
    EXPECT_EQ(finished.status, whole.status) << finished.output;
    if (!whole.verdict.empty()) {
        EXPECT_EQ(verdict.at("ops").at(0).at("verdict"), whole.verdict) << finished.output;
    }
    if (!testing::Test::HasFailure()) {
        checker::keep(folder / "kept.json", key.value(), "as expected");
    }
}

// A solution's stub, compiled: make has done it where the lesson's file is the stub and no edit of a learner's.
fs::path stub_object(const std::string& lesson, const fs::path& file) {
    const std::string op = file.stem().string();
    const fs::path solution = fs::path("solutions") / lesson / file;
    const std::string stub = checker::extract(checker::read_file(solution), solution.string(), checker::Text::stub);
    if (checker::read_file_if_there(fs::path("lessons") / lesson / file) == stub) {
        return fs::path("build/impl/lessons") / lesson / (op + ".so");
    }
    Row row;
    row.lesson = lesson, row.id = "stub_" + op, row.file = file.string();
    build(row, read_commands(), stub);
    return row.folder() / (op + ".so");
}

// An op's solution with the stub of a helper beside it.
fs::path with_stub_of_helper(const std::string& lesson, const std::string& op, const fs::path& helper) {
    const fs::path solution = "solutions" / helper;
    Row row;
    row.lesson = lesson, row.judged = op, row.file = helper.filename().string();
    row.id = fmt::format("stub_{}_{}", helper.stem().string(), op);
    build(row, read_commands(), checker::extract(checker::read_file(solution), solution.string(), checker::Text::stub));
    return row.folder() / (op + ".so");
}

std::string cell(const std::string& text) {
    std::string escaped;
    for (const char c : text) { escaped += c == '|' ? "\\|" : c == '\n' ? " " : std::string(1, c); }
    return escaped;
}

// The kind of finding that the check must report for the row on the CPU device.
std::string kind_of(const Row& row) {
    return row.slow() && has_kernels(row.lesson) ? "none: the CPU device has no times" : cell('`' + row.reason + '`');
}

// The row's line in the kill table.
std::string table_row(const Row& row, const std::string& found) {
    return fmt::format("| {} | `{}`: {} | `{}` | {} |\n", row.lesson, row.op(), cell(row.what), cell(row.reason),
                       found);
}

void test_rows_of_lesson(const std::vector<Row>& all, const std::string& lesson) {
    const std::string table = checker::read_file_if_there("checker/KILL_TABLE.md").value_or("");
    long slow = 0, others = 0;
    for (const Row& row : all) {
        if (row.lesson == lesson) {
            (row.slow() || row.reason == "slow" ? slow : others)++;
            EXPECT_NE(table.find(table_row(row, kind_of(row))), std::string::npos)
                << row.place << ": " << row.id << ": make kill-table";
        }
    }
    EXPECT_GE(others, 5);
    EXPECT_GE(slow, 1);
}

// Returns the rows that --gtest_filter leaves.
std::vector<Row> selected(const std::vector<Row>& rows) {
    const std::string filter = testing::GTEST_FLAG(filter);
    const std::size_t minus = filter.find('-');
    const auto matches = [](const std::string& patterns, const std::string& name) {
        std::istringstream list(patterns);
        for (std::string pattern; std::getline(list, pattern, ':');) {
            if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0) {
                return true;
            }
        }
        return false;
    };
    std::vector<Row> chosen;
    std::ranges::copy_if(rows, std::back_inserter(chosen), [&](const Row& row) {
        const std::string name = "WrongSolutions_" + row.lesson + "." + row.id;
        return (minus == 0 || matches(filter.substr(0, minus), name)) &&
               (minus == std::string::npos || !matches(filter.substr(minus + 1), name));
    });
    return chosen;
}

// `standing`: the table so far, which keeps the lines of rows that did not run now, such as another lesson's.
std::string table_of(const std::vector<Row>& rows, const CaughtRows& caught, const std::string& standing) {
    std::string text =
        "# Wrong solutions, and what the check finds\n\n"
        "Each row is a mistake put into the solution (`solutions/NN_name/wrong.toml`), then checked like a learner's "
        "file.\nA test holds that the check rejects each with the expected kind of finding. `make kill-table` writes "
        "this file, and into `build/wrong/messages.txt` what the check says.\n\n"
        "| lesson | wrong solution | expected | found |\n|---|---|---|---|\n";
    for (const Row& row : rows) {
        const std::string line = table_row(row, kind_of(row));
        const bool ran = caught.contains(row.lesson + "/" + row.id) || (row.slow() && has_kernels(row.lesson));
        text += ran || standing.find(line) != std::string::npos ? line : table_row(row, "**not run**");
    }
    return text;
}

// The message that each row got, for those that ran.
std::string messages_of(const std::vector<Row>& rows, const CaughtRows& caught) {
    std::string text;
    for (const Row& row : rows) {
        if (const auto found = caught.find(row.lesson + "/" + row.id); found != caught.end()) {
            text += fmt::format("{}/{}, {} {}: {}\n    {}\n", row.lesson, row.id, row.op(), row.test_case, row.what,
                                found->second.shown);
        }
    }
    return text;
}

std::string json_of(const std::vector<Row>& rows, const CaughtRows& caught) {
    json list = json::array();
    for (const Row& row : rows) {
        const auto found = caught.find(row.lesson + "/" + row.id);
        if (const std::string why = not_asked(row); !why.empty()) {
            list.push_back({{"lesson", row.lesson}, {"id", row.id}, {"op", row.op()}, {"not_asked", why}});
        } else if (found != caught.end()) {
            list.push_back({{"lesson", row.lesson},
                            {"id", row.id},
                            {"op", row.op()},
                            {"what", row.what},
                            {"expected", row.reason},
                            {"as_expected", found->second.caught},
                            {"rejected", found->second.rejected},
                            {"others", found->second.others}});
        }
    }
    return list.dump(2) + "\n";
}

void register_tests_of_lessons(const std::vector<Row>& all) {
    const auto add = [](const Whole& whole) {
        checker::register_test(whole.kind + "_" + whole.lesson, whole.op, [whole] { test_whole(whole); });
    };
    for (const auto& [lesson, files] : checker::solution_files()) {
        checker::register_test("WrongSolutions", "OfLesson_" + lesson + "_AreFiveAndASlowOneAndInTheTable",
                               [&all, lesson] { test_rows_of_lesson(all, lesson); });
        const fs::path solutions = fs::path("build/impl/solutions") / lesson;
        if (checker::is_step(lesson)) {
            add({"Solutions", lesson, "model", [object = solutions / "model.so"] { return object; }, 0, ""});
        }
        for (const fs::path file : files) {
            const std::string op = file.stem().string();
            const auto of = [](const fs::path& object) { return [object] { return object; }; };
            add({"Solutions", lesson, op, of(solutions / (op + ".so")), 0, "ok", "--no-timing"});
            const auto stub = [lesson, file] { return stub_object(lesson, file); };
            if (checker::is_given(checker::read_file(fs::path("solutions") / lesson / file))) {
                add({"Given", lesson, op, stub, 0, "ok", "--no-timing"});
                continue;
            }
            add({"Stubs", lesson, op, stub, 1, "", "--no-timing"});
            for (const fs::path helper : checker::helpers_of(fs::path("solutions") / lesson / file)) {
                if (helper.parent_path() == lesson) {
                    add({"StubOf_" + helper.stem().string(), lesson, op,
                         [=] { return with_stub_of_helper(lesson, op, helper); }, 1, "", "--no-timing"});
                }
            }
            const fs::path older = checker::older_implementation(solutions, op);
            if (fs::exists(fs::path("lessons") / lesson / file) && !older.empty() &&
                has_kernels(lesson) == has_kernels(older.parent_path().filename().string())) {
                // What computed in TF32 before does so in fp32, where that is the op's precision here: it is right then.
                const std::string precision =
                    checker::read_lesson_toml(fs::path("lessons") / lesson / "lesson.toml").precision_of(op);
                add({"OlderSolutions", lesson, op, of(older), 1, "SLOW", "",
                     precision == "fp32" ? "NVIDIA_TF32_OVERRIDE=0" : ""});
            }
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    CLI::App app("Wrong solutions");
    std::string table;
    app.add_option("--table", table, "write the kill table to this file");
    std::string device = "cpu";
    std::string json_file;
    bool dry = false;
    app.add_option("--device", device, "cpu or gpu")->check(CLI::IsMember({"cpu", "gpu"}));
    std::string only_lesson;
    app.add_option("--lesson", only_lesson, "the rows of this lesson only: 04_first_kernel");
    app.add_flag("--dry", dry, "with --device gpu: a rehearsal without a GPU");
    app.add_option("--json", json_file, "write what the check said to each row to this file, after each row");
    CLI11_PARSE(app, argc, argv);
    if (device == "gpu") {
        root = dry ? "build/dry" : "build/gpu";
    }
    try {
        const std::vector<Row> of_course = all_rows();
        std::vector<Row> all = of_course;
        std::erase_if(all, [&](const Row& row) {
            return (on_gpu() && !has_kernels(row.lesson)) || (!only_lesson.empty() && row.lesson != only_lesson);
        });
        if (all.empty()) {
            throw std::runtime_error(only_lesson.empty() ? "no wrong solutions"
                                                         : "--lesson " + only_lesson + ": it has none");
        }
        CaughtRows caught;
        if (table.empty() && only_lesson.empty() && !on_gpu()) {
            register_tests_of_lessons(all);
        }
        std::vector<Row> wanted = selected(all);
        std::erase_if(wanted, [](const Row& row) { return !not_asked(row).empty(); });
        Builds builds(std::move(wanted));
        const auto write_json = [&] {
            if (!json_file.empty()) {
                checker::write_file(json_file, json_of(selected(all), caught));
            }
        };
        for (std::size_t i = 0; i < builds.rows().size(); i++) {
            const Row& row = builds.rows()[i];
            checker::register_test("WrongSolutions_" + row.lesson, row.id, [&, i] {
                test_row(builds, i, caught);
                write_json();
            });
        }
        write_json();
        if (!testing::GTEST_FLAG(list_tests)) {
            builds.start();
        }
        const int status = RUN_ALL_TESTS();
        if (!table.empty() && status == 0) {
            checker::write_file(table, table_of(of_course, caught, checker::read_file_if_there(table).value_or("")));
            checker::write_file(root / "wrong/messages.txt", messages_of(of_course, caught));
        }
        return status;
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 2;
    }
}
