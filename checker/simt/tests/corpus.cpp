// SPDX-License-Identifier: MIT
#include "checker/simt/tests/corpus.h"

#include <fmt/core.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace corpus {
namespace {

namespace fs = std::filesystem;

const fs::path kSources = "checker/simt/tests/kernels";
const fs::path kPrograms = "build/tests/simt/kernels";
// What they say goes elsewhere: suites of tests are run again once anything in the programs' folder has changed.
const fs::path kSaid = "build/tests/simt/said";
constexpr std::string_view kBegin = "<!-- make simt-table -->\n";
constexpr std::string_view kEnd = "<!-- end -->\n";

// What follows the mark in the comments at the top of the kernel's file.
std::vector<std::string> marked(const std::string& kernel, std::string_view mark) {
    std::vector<std::string> found;
    std::ifstream in(kSources / (kernel + ".cu"));
    for (std::string line; std::getline(in, line) && line.starts_with("//");) {
        if (line.starts_with(mark)) {
            found.push_back(line.substr(mark.size()));
        }
    }
    return found;
}

Table table(int seeds, const std::function<Verdict(const std::string& kernel, int seed)>& verdict_of) {
    Table table;
    for (const std::string& kernel : kernels()) {
        const Verdict wanted = expected(kernel);
        const int runs = seeds_for(wanted, seeds);
        const std::set<std::string> kinds = [&] {
            std::set<std::string> names;
            for (const std::string& finding : wanted) { names.insert(kind_of(finding)); }
            return names;
        }();
        for (const std::string& kind : kinds) {
            table.kinds[kind].kernels++;
            table.kinds[kind].runs += runs;
        }
        if (const std::string bug = missed_bug(kernel); !bug.empty()) {
            table.kinds[bug].kernels++;
            table.kinds[bug].runs += runs;
        } else if (wanted.empty()) {
            table.correct_kernels++;
            table.correct_runs += runs;
        }
        for (int seed = 1; seed <= runs; seed++) {
            const Verdict seen = verdict_of(kernel, seed);
            Verdict false_alarms, missed;
            std::set_difference(seen.begin(), seen.end(), wanted.begin(), wanted.end(),
                                std::inserter(false_alarms, false_alarms.end()));
            std::set_difference(wanted.begin(), wanted.end(), seen.begin(), seen.end(),
                                std::inserter(missed, missed.end()));
            for (const std::string& finding : false_alarms) { table.kinds[kind_of(finding)].false_alarms++; }
            for (const std::string& kind : kinds) {
                const bool caught = std::none_of(missed.begin(), missed.end(),
                                                 [&](const std::string& finding) { return kind_of(finding) == kind; });
                table.kinds[kind].caught += caught && false_alarms.empty() ? 1 : 0;
            }
        }
    }
    return table;
}

}  // namespace

std::vector<std::string> kernels() {
    std::vector<std::string> names;
    for (const char* folder : {"buggy", "correct", "missed"}) {
        for (const fs::directory_entry& file : fs::directory_iterator(kSources / folder)) {
            if (file.path().extension() == ".cu") {
                names.push_back(fmt::format("{}/{}", folder, file.path().stem().string()));
            }
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

Verdict expected(const std::string& kernel) {
    const std::vector<std::string> lines = marked(kernel, "// verdict: ");
    const Verdict verdict(lines.begin(), lines.end());
    const bool buggy = kernel.starts_with("buggy/");
    if (verdict.empty() || verdict.contains("correct") == buggy || (verdict.size() > 1 && !buggy)) {
        throw std::runtime_error(kernel + " names no verdict, or one that its folder contradicts");
    }
    return buggy ? verdict : Verdict();
}

std::string missed_bug(const std::string& kernel) {
    const std::vector<std::string> lines = marked(kernel, "// bug: ");
    if (lines.size() != (kernel.starts_with("missed/") ? 1U : 0U)) {
        throw std::runtime_error(kernel + ": those in missed/, and only those, name one bug");
    }
    return lines.empty() ? "" : lines[0];
}

Outcome run(const std::string& kernel, int seed) {
    const fs::path program = kPrograms / kernel;
    const fs::path said = kSaid / kernel;
    const fs::path report = said.string() + ".json";
    const fs::path output = said.string() + ".out";
    fs::create_directories(said.parent_path());
    fs::remove(report);
    const int status = std::system(fmt::format("SIMT_SEED={} SIMT_REPORT={} SIMT_TIME_LIMIT=2 {} >{} 2>&1", seed,
                                               report.string(), program.string(), output.string())
                                       .c_str());
    Outcome result{.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1, .verdict = {}};
    std::ifstream in(report);
    const nlohmann::json json = nlohmann::json::parse(in, nullptr, false);
    if (json.is_discarded()) {
        result.verdict.insert("no report");
        return result;
    }
    for (const nlohmann::json& finding : json["findings"]) {
        const std::string space = finding["space"];
        const auto name = [](const std::string& path) { return fs::path(path).filename().string(); };
        const auto place = [&](const char* file, const char* line, const char* caller) {
            return fmt::format(" {}:{}{}", name(finding[file]), int(finding[line]),
                               finding.contains(caller) ? " called at " + name(finding[caller]) : "");
        };
        result.verdict.insert(
            fmt::format("{}{}{}{}{}", std::string(finding["kind"]), space.empty() ? "" : " ", space,
                        place("file", "line", "caller"),
                        finding.contains("other_line") ? place("other_file", "other_line", "other_caller") : ""));
    }
    return result;
}

int seeds_for(const Verdict& verdict, int seeds) {
    const bool is_endless =
        !verdict.empty() && (verdict.begin()->starts_with("spin") || verdict.begin()->starts_with("time_limit"));
    return is_endless ? 1 : seeds;
}

std::string kind_of(const std::string& finding) {
    return finding.substr(0, finding.find(' '));
}

Table expected_table(int seeds) {
    return table(seeds, [](const std::string& kernel, int) { return expected(kernel); });
}

Table measured_table(int seeds) {
    return table(seeds, [](const std::string& kernel, int seed) { return run(kernel, seed).verdict; });
}

std::string text_of(const Table& table, int seeds) {
    std::string rows;
    Row all;
    for (const auto& [kind, row] : table.kinds) {
        rows += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", kind, row.kernels, row.runs, row.caught,
                            row.missed(), row.false_alarms);
        all.kernels += row.kernels;
        all.runs += row.runs;
        all.caught += row.caught;
        all.false_alarms += row.false_alarms;
    }
    return fmt::format(
        "{} kernels that are right and {} bugs in others, each in up to {} orders of blocks, warps and lanes (an "
        "endless "
        "loop in one).\nCaught means: this finding, at this line, and no other.\n\n"
        "| kind | kernels | runs | caught | missed | false alarms |\n|---|--:|--:|--:|--:|--:|\n{}"
        "| all bugs | {} | {} | {} | {} | {} |\n| right ones | {} | {} | | | {} |\n",
        table.correct_kernels, all.kernels, seeds, rows, all.kernels, all.runs, all.caught, all.missed(),
        all.false_alarms, table.correct_kernels, table.correct_runs, all.false_alarms);
}

std::string table_in(std::string_view readme) {
    const std::size_t begin = readme.find(kBegin);
    const std::size_t end = readme.find(kEnd, begin);
    if (begin == std::string_view::npos || end == std::string_view::npos) {
        throw std::runtime_error(std::string(kReadme) + " has no place for the table");
    }
    return std::string(readme.substr(begin + kBegin.size(), end - begin - kBegin.size()));
}

std::string with_table(std::string_view readme, std::string_view table) {
    const std::string old = table_in(readme);
    std::string text(readme);
    return text.replace(text.find(kBegin) + kBegin.size(), old.size(), table);
}

}  // namespace corpus
