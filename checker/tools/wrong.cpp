// SPDX-License-Identifier: MIT
//
// Every row of solutions/NN_name/wrong.toml is a mistake put into the solution. Each is compiled, linked as an
// implementation and checked on its one failing case; the check must reject it for the reason that the row expects.
// One GoogleTest case a row; with --table FILE the rows that are caught are also written as a Markdown table.
//
// With --device gpu the rows of the device's lessons are checked on a GPU, which sees less than the CPU device: a row that
// it does not reject is no failure there, but written down (--json FILE).
//
// make writes build/wrong/commands (under build/gpu, or build/dry for its rehearsal, as well): `compile.cpp FLAGS…`,
// `compile.cu FLAGS…`, `link.…`, for each op of each lesson `NN_name/OP OTHER OBJECTS…`, and `compilers.… FILES…`.
//
// A row that was caught is not compiled and checked again as long as nothing has changed that its verdict comes from: its
// key (checker/base/kept.h) has the contents of all of it, and what the row expects.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <thread>

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include "checker/base/files.h"
#include "checker/base/kept.h"
#include "checker/worker/time_op.h"

namespace {

namespace fs = std::filesystem;
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
    std::vector<Edit> edits;  // none: the text is that of `source`
    std::string place;        // solutions/01_layers/wrong.toml:12

    std::string op() const { return fs::path(file).stem().string(); }
    fs::path solution() const;
    fs::path folder() const { return root / "wrong" / lesson / id; }
    bool slow() const { return test_case == "timing"; }
};

struct Caught {
    bool caught = false;
    std::string shown;  // what the learner reads when it is caught, or why the row fails
    bool ran = false;   // there is a verdict
    bool rejected = false;
    std::vector<std::string> others = {};  // reasons found that were not expected
};

// Whether a lesson's ops run on a device; on the CPU device nothing is timed.
bool on_device(const std::string& lesson) {
    const fs::directory_iterator files(fs::path("solutions") / lesson);
    return std::any_of(begin(files), end(files), [](const auto& file) { return file.path().extension() == ".cu"; });
}

// The lesson's own file, or, where it has none, that of the newest lesson before, which serves there too.
fs::path Row::solution() const {
    fs::path newest = fs::path("solutions") / lesson / file;
    if (!fs::exists(newest)) {
        std::string found;
        for (const fs::directory_entry& entry : fs::directory_iterator("solutions")) {
            const std::string name = entry.path().filename().string();
            found = name < lesson && fs::exists(entry.path() / file) ? std::max(found, name) : found;
        }
        newest = found.empty() ? newest : fs::path("solutions") / found / file;
    }
    return newest;
}

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
    const std::string lesson = file.parent_path().filename().string();
    const toml::table table = [&] {
        try {
            return toml::parse_file(file.string());
        } catch (const toml::parse_error& error) {
            throw std::runtime_error(
                fmt::format("{}:{}: {}", file.string(), error.source().begin.line, std::string(error.description())));
        }
    }();
    const toml::array* list = table["wrong"].as_array();
    if (!list) {
        throw std::runtime_error(file.string() + ": no [[wrong]] rows");
    }
    std::vector<Row> rows;
    for (const toml::node& node : *list) {
        const toml::table& entry = *node.as_table();
        const auto text = [&](const char* key) { return entry[key].value_or(std::string()); };
        Row row{.lesson = lesson,
                .id = text("id"),
                .what = text("what"),
                .file = text("file"),
                .source = text("source"),
                .test_case = text("case"),
                .reason = text("reason"),
                .edits = edits_of(entry),
                .place = fmt::format("{}:{}", file.string(), node.source().begin.line)};
        for (const auto& [key, value] :
             {std::pair("id", row.id), std::pair("what", row.what), std::pair("file", row.file),
              std::pair("case", row.test_case), std::pair("reason", row.reason)}) {
            if (value.empty()) {
                throw std::runtime_error(fmt::format("{}: the row has no `{}`", row.place, key));
            }
        }
        const bool blank = std::ranges::any_of(row.edits, [](const Edit& edit) { return edit.find.empty(); });
        if (blank || row.edits.empty() == row.source.empty() || (entry.contains("find") && entry.contains("edits"))) {
            throw std::runtime_error(
                fmt::format("{}: {} needs one of `find`, `edits` with a `find` each, and `source`", row.place, row.id));
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

std::vector<Row> all_rows() {
    std::vector<fs::path> files;
    for (const fs::directory_entry& lesson : fs::directory_iterator("solutions")) {
        if (fs::exists(lesson.path() / "wrong.toml")) {
            files.push_back(lesson.path() / "wrong.toml");
        }
    }
    std::sort(files.begin(), files.end());
    std::vector<Row> rows;
    for (const fs::path& file : files) { std::ranges::move(read_rows(file), std::back_inserter(rows)); }
    return rows;
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
    std::string text = checker::read_file(row.solution());
    for (const Edit& edit : row.edits) {
        const std::size_t first = text.find(edit.find);
        if (first == std::string::npos) {
            throw std::runtime_error(fmt::format("{}: {}: `{}` is not in {}; write it as it is there", row.place,
                                                 row.id, edit.find, row.solution().string()));
        }
        if (text.find(edit.find, first + 1) != std::string::npos) {
            throw std::runtime_error(fmt::format("{}: {}: `{}` is in {} more than once; make it longer", row.place,
                                                 row.id, edit.find, row.solution().string()));
        }
        text.replace(first, edit.find.size(), edit.replace);
    }
    return text;
}

std::string lesson_number(const std::string& lesson) {
    return lesson.substr(0, lesson.find('_'));
}

fs::path check_program(const std::string& lesson) {
    return root / ("check/lesson" + lesson_number(lesson));
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
    for (const std::string& part : {row.id, row.file, row.test_case, row.reason, text}) { key.text(part); }
    const std::string extension = fs::path(row.file).extension().string();
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

// build/wrong/LESSON/ID/OP.so
void build(const Row& row, const Commands& commands, const std::string& text) {
    const std::string op = row.op();
    const fs::path source = row.folder() / row.file;
    fs::remove(stamp_of(row));
    checker::write_file(source, text);
    const std::string stem = (row.folder() / op).string();
    const std::string extension = on_device(row.lesson) ? ".cu" : ".cpp";  // a shared file is C++ among kernels
    for (const std::string& command :
         {fmt::format("{} -MMD -MP -MF {}.d -c {} -o {}.o", commands.at("compile" + source.extension().string()), stem,
                      source.string(), stem),
          fmt::format("{} -o {}.so {}.o {}", commands.at("link" + extension), stem, stem,
                      commands.at(row.lesson + "/" + op))}) {
        const checker::Finished finished = checker::run_command(command + " 2>&1");
        if (finished.status != 0) {
            throw std::runtime_error(
                fmt::format("{}: {}: does not compile\n{}\n{}", row.place, row.id, command, finished.output));
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
                  const std::string& verdict_file) {
    fs::remove(verdict_file);
    Checked checked;
    checked.finished = checker::run_command(
        fmt::format("SOL_TIMEOUT_S={0} {1} --subject {2} --impl-dir {2} --reference-dir {3}/impl/solutions/{4} {5} "
                    "--json {6} 2>&1",
                    limit_s, check_program(lesson).string(), folder, root.string(), lesson, options, verdict_file));
    if (const std::optional<std::string> text = checker::read_file_if_there(verdict_file)) {
        checked.verdict = json::parse(*text);
    }
    return checked;
}

// Seconds that a call may take: what is to hang is not waited for long, what is only slow must not pass for it.
int limit_of(const Row& row) {
    constexpr int kTimed = 60, kCounted = 20, kHangs = 3;
    return row.slow() ? kTimed : on_gpu() || row.reason != "hang" ? kCounted : kHangs;
}

Caught run_check(const Row& row) {
    const std::string folder = row.folder().string();
    const auto [finished, verdict] = run_check(
        row.lesson, folder, fmt::format("--only {}/{} {}", row.op(), row.test_case, row.slow() ? "" : "--no-timing"),
        limit_of(row), folder + "/verdict.json");
    if (verdict.is_null()) {
        return {false, "the check wrote no verdict:\n" + finished.output};
    }
    if (finished.status == 0) {
        return {false, "the check passed it:\n" + finished.output, true};
    }
    std::vector<std::string> others;
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

class WrongSolution : public testing::Test {
  public:
    WrongSolution(Builds& builds, std::size_t row, std::map<std::string, Caught>& caught)
        : builds_(builds), number_(row), row_(builds.rows()[row]), caught_(caught) {}

    void TestBody() override {
        try {
            const std::optional<std::string> kept = builds_.kept_or_built(number_);
            if (row_.slow() && root != "build/gpu" && on_device(row_.lesson)) {
                GTEST_SKIP() << "the CPU device has no times";
            }
            if (row_.test_case == "huge" && on_gpu()) {
                GTEST_SKIP() << "the CPU device runs samples of its blocks";
            }
            if (row_.reason == "slow" && !row_.slow() && on_gpu()) {
                GTEST_SKIP() << "what it asks for is counted on the CPU device";
            }
            const Caught caught = kept ? Caught{true, *kept, true, true} : run_check(row_);
            EXPECT_TRUE(caught.caught || (on_gpu() && caught.ran))
                << row_.place << ": " << row_.id << " (" << row_.what << ")\n"
                << caught.shown;
            caught_[row_.lesson + "/" + row_.id] = caught;
            if (kept) {
                RecordProperty("kept", "unchanged");
            } else if (caught.caught) {
                builds_.keep(number_, caught.shown);
            }
        } catch (const std::exception& error) { FAIL() << error.what(); }
    }

  private:
    Builds& builds_;
    std::size_t number_;
    const Row& row_;
    std::map<std::string, Caught>& caught_;
};

// The newest older solution of an op, run through this lesson's check: no lesson may be passed with the kernel of the one
// before.
class OlderSolution : public testing::Test {
  public:
    OlderSolution(std::string lesson, std::string op, fs::path older)
        : lesson_(std::move(lesson)), op_(std::move(op)), older_(std::move(older)) {}

    void TestBody() override {
        const fs::path folder = fs::path("build/wrong") / lesson_ / ("older_" + op_);
        fs::create_directories(folder);
        checker::Key key;
        key.file(older_);
        add_check(key, lesson_);
        if (checker::kept(folder / "kept.json", key.value())) {
            RecordProperty("kept", "unchanged");
            return;
        }
        fs::copy_file(older_, folder / (op_ + ".so"), fs::copy_options::overwrite_existing);
        const auto [finished, verdict] =
            run_check(lesson_, folder.string(), "--only " + op_, 60, (folder / "verdict.json").string());
        ASSERT_FALSE(verdict.is_null()) << finished.output;
        EXPECT_EQ(finished.status, 1) << finished.output;
        EXPECT_EQ(verdict.at("ops").at(0).at("verdict"), "SLOW") << finished.output;
        if (!HasFailure()) {
            checker::keep(folder / "kept.json", key.value(), "SLOW");
        }
    }

  private:
    std::string lesson_, op_;
    fs::path older_;
};

std::string cell(const std::string& text) {
    std::string escaped;
    for (const char c : text) { escaped += c == '|' ? "\\|" : c == '\n' ? " " : std::string(1, c); }
    return escaped;
}

// The row's first cells in the kill table: everything but the reason shown.
std::string table_row(const Row& row) {
    return fmt::format("| {} | {} | `{}`, {} |", row.lesson, cell(row.what), row.op(), row.test_case);
}

// A finding without the figures that move with the processor's vector extensions, so that the table is the same everywhere.
std::string without_counts(std::string text) {
    text = std::regex_replace(text, std::regex("^[0-9,]+ of [0-9,]+ (?=elements)"), "");
    text = std::regex_replace(text, std::regex(", [0-9,]+ of them(?= NaN)"), ",");
    return std::regex_replace(text, std::regex(", worst off by .*"), "");
}

class LessonRows : public testing::Test {
  public:
    LessonRows(const std::vector<Row>& rows, const std::string& lesson) {
        std::ranges::copy_if(rows, std::back_inserter(rows_), [&](const Row& row) { return row.lesson == lesson; });
    }

    void TestBody() override {
        const auto slow =
            std::ranges::count_if(rows_, [](const Row& row) { return row.slow() || row.reason == "slow"; });
        EXPECT_GE(std::ssize(rows_) - slow, 5);
        EXPECT_GE(slow, 1);
        const std::string table = checker::read_file_if_there("checker/KILL_TABLE.md").value_or("");
        for (const Row& row : rows_) {
            EXPECT_NE(table.find(table_row(row)), std::string::npos)
                << row.place << ": " << row.id << ": make kill-table";
        }
    }

  private:
    std::vector<Row> rows_;
};

// The rows that --gtest_filter leaves, where it is a plain name.
std::vector<Row> selected(const std::vector<Row>& rows) {
    const std::string filter = GTEST_FLAG_GET(filter);
    std::vector<Row> chosen;
    std::ranges::copy_if(rows, std::back_inserter(chosen), [&](const Row& row) {
        return filter.find_first_of("*?:-") != std::string::npos ||
               filter == "WrongSolutions_" + row.lesson + "." + row.id;
    });
    return chosen;
}

std::string table_of(const std::vector<Row>& rows, const std::map<std::string, Caught>& caught) {
    std::string text =
        "# Wrong solutions, and what the check says to them\n\n"
        "Each row is a mistake put into the solution (`solutions/NN_name/wrong.toml`), then checked like a learner's "
        "file.\nA test holds that each is rejected, on the case named here, for the reason shown (less its counts). "
        "`make kill-table` writes this file.\n\n"
        "| lesson | wrong solution | caught by | reason shown |\n|---|---|---|---|\n";
    for (const Row& row : rows) {
        const auto found = caught.find(row.lesson + "/" + row.id);
        const bool is_caught = found != caught.end() && found->second.caught;
        text += fmt::format("{} {} |\n", table_row(row),
                            is_caught                             ? cell(without_counts(found->second.shown))
                            : row.slow() && on_device(row.lesson) ? "on a GPU: not measured yet"
                                                                  : "**not caught**");
    }
    return text;
}

std::string json_of(const std::vector<Row>& rows, const std::map<std::string, Caught>& caught) {
    json list = json::array();
    for (const Row& row : rows) {
        const auto found = caught.find(row.lesson + "/" + row.id);
        if (found != caught.end()) {
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
    app.add_option("--json", json_file, "write what the check said to each row to this file");
    CLI11_PARSE(app, argc, argv);
    if (device == "gpu") {
        root = dry ? "build/dry" : "build/gpu";
    }
    try {
        std::vector<Row> all = all_rows();
        std::erase_if(all, [&](const Row& row) {
            return (on_gpu() && !on_device(row.lesson)) || (!only_lesson.empty() && row.lesson != only_lesson);
        });
        if (all.empty()) {
            throw std::runtime_error(only_lesson.empty() ? "no wrong solutions"
                                                         : "--lesson " + only_lesson + ": it has none");
        }
        std::map<std::string, Caught> caught;
        if (table.empty() && only_lesson.empty() && !on_gpu()) {
            for (const fs::directory_entry& entry : fs::directory_iterator("solutions")) {
                const std::string lesson = entry.path().filename().string();
                testing::RegisterTest("WrongSolutions",
                                      ("OfLesson_" + lesson + "_AreFiveAndASlowOneAndInTheTable").c_str(), nullptr,
                                      nullptr, __FILE__, __LINE__, [&, lesson] { return new LessonRows(all, lesson); });
                for (const fs::directory_entry& file : fs::directory_iterator(entry.path())) {
                    const std::string op = file.path().stem().string();
                    const fs::path older = checker::older_implementation(fs::path("build/impl/solutions") / lesson, op);
                    if (!fs::exists(fs::path("lessons") / lesson / file.path().filename()) || older.empty() ||
                        on_device(lesson) != on_device(older.parent_path().filename().string())) {
                        continue;
                    }
                    testing::RegisterTest(("OlderSolutions_" + lesson).c_str(), op.c_str(), nullptr, nullptr, __FILE__,
                                          __LINE__, [=] { return new OlderSolution(lesson, op, older); });
                }
            }
        }
        Builds builds(selected(all));
        for (std::size_t i = 0; i < builds.rows().size(); i++) {
            const Row& row = builds.rows()[i];
            testing::RegisterTest(("WrongSolutions_" + row.lesson).c_str(), row.id.c_str(), nullptr, nullptr, __FILE__,
                                  __LINE__, [&, i] { return new WrongSolution(builds, i, caught); });
        }
        builds.start();
        const int status = RUN_ALL_TESTS();
        if (!table.empty() && only_lesson.empty() && status == 0) {
            checker::write_file(table, table_of(all, caught));
        }
        if (!json_file.empty()) {
            checker::write_file(json_file, json_of(all, caught));
        }
        return status;
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 2;
    }
}
