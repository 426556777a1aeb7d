// SPDX-License-Identifier: MIT
//
// The kernels under kernels/: programs with one bug or none, each with the verdict that it must get in its first lines.
// Those in missed/ have a bug that the device does not see: they get no finding, and count against it in the table.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace corpus {

inline constexpr const char* kReadme = "checker/simt/README.md";
// Seeds of the table there; a change to the runtime is tried with as many (SIMT_TEST_SEEDS).
inline constexpr int kTableSeeds = 20;

// "out_of_bounds global kernel.cu:17", of a race both lines, "race shared kernel.cu:13 kernel.cu:14"; of a line in an
// inlined function the kernel's own too, "kernel.cu:7 called at kernel.cu:17"; empty: correct.
using Verdict = std::multiset<std::string>;

// "buggy/null_pointer", sorted.
std::vector<std::string> kernels();

// What the lines `// verdict: …` of the kernel's file say. Throws where it has none.
Verdict expected(const std::string& kernel);
// "race" of a kernel in missed/, by its line `// bug: …`; empty for the others.
std::string missed_bug(const std::string& kernel);

struct Outcome {
    int status = -1;
    Verdict verdict;
};
Outcome run(const std::string& kernel, int seed);

// How many seeds a kernel is tried with: an endless loop takes the time limit in each, and its order changes nothing.
int seeds_for(const Verdict& verdict, int seeds);

// "out_of_bounds" of "out_of_bounds global kernel.cu:17".
std::string kind_of(const std::string& finding);

// One row of the table: a kind of bug.
struct Row {
    int kernels = 0;  // that have it
    int runs = 0;
    int caught = 0;        // at the right line, and nothing besides
    int false_alarms = 0;  // findings of this kind that no kernel should have got
    int missed() const { return runs - caught; }
    bool operator==(const Row&) const = default;
};

struct Table {
    std::map<std::string, Row> kinds;
    int correct_kernels = 0;
    int correct_runs = 0;
    bool operator==(const Table&) const = default;
};

// What the table must say where every kernel gets its verdict in every run.
Table expected_table(int seeds);
// What the kernels' programs say.
Table measured_table(int seeds);

// The lines between the markers in the README, markers not included.
std::string text_of(const Table& table, int seeds);
std::string table_in(std::string_view readme);
std::string with_table(std::string_view readme, std::string_view table);

}  // namespace corpus
