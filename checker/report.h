// SPDX-License-Identifier: MIT
//
// What a check found, as data. verdict.h prints it; to_json is the machine-readable form.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace checker {

struct Finding {
    std::string kind;     // mismatch, nonfinite, untouched, suspect, padding, nondeterministic, uninitialised,
                          // out_of_bounds, input_changed, crash, exit, hang, exception, not_defined, not_compiled, slow
    std::string id = {};  // of a suspect
    std::string text;     // one line
    std::vector<std::string> details = {};  // further lines, "label\ttext"
};

struct CaseReport {
    std::string name;
    std::string shape;
    bool ok = false;
    bool untouched = false;  // nothing at all was written
    bool ran = true;         // false: skipped, because an earlier case hung
    double budget_used = 0;  // the largest share; infinite where an element was not finite
    std::string where = {};  // the call of the case that failed
    long calls = 1;
    long calls_wrong = 0;
    std::vector<Finding> findings = {};
};

enum class Verdict { ok, wrong, not_written, slow, no_verdict };
std::string to_string(Verdict verdict);  // "ok", "WRONG", "not written yet", "SLOW", "no verdict"

struct TimingReport {
    bool ran = false;
    std::string shape;
    std::string against;  // "copy" or "solution"
    double seconds = 0;
    double seconds_low = 0;  // the 95% interval of the median
    double seconds_high = 0;
    double ratio = 0;  // share of the copy's speed, or time over the solution's
    double ratio_low = 0;
    double ratio_high = 0;
    double target = 0;
    double bytes_per_second = 0;       // with "copy"
    double roof_bytes_per_second = 0;  // with "copy"
    Verdict verdict = Verdict::no_verdict;
    std::vector<Finding> findings = {};
};

struct OpReport {
    std::string op;
    std::string file;
    bool is_stub = false;   // the exercise as it was given
    bool asked_for = true;  // false: left out by --only or by GoogleTest's filter
    std::vector<CaseReport> cases = {};
    TimingReport timing = {};
    std::string printed = {};  // what the code under test wrote to stdout and stderr
    Verdict verdict() const;
    bool correct() const;  // verdict() is neither wrong nor not_written
    double budget_used() const;
};

struct LessonReport {
    std::string lesson;   // "01_layers"
    std::string subject;  // "lessons", "solutions" or a directory
    std::string device = "CPU";
    std::vector<OpReport> ops = {};
    double seconds = 0;
    bool ok() const;  // every op is ok or has no verdict on its speed
};

std::string lesson_number(const std::string& lesson);  // "01"
std::string lesson_title(const std::string& lesson);   // "layers"

std::string to_json(const LessonReport& report);

// One JSON line an op, appended with one write each. Throws FileError when the file cannot be written.
void append_results(const std::filesystem::path& file, const LessonReport& report);

// Identifies a text, so that a reader of results knows whether one is about the file as it is; empty without the file.
std::string fnv1a64(const std::filesystem::path& file);

// Writes a file under a temporary name and renames it, so that nothing half-written stays. Throws FileError.
void write_whole(const std::filesystem::path& file, const std::string& text);

}  // namespace checker
