// SPDX-License-Identifier: MIT
//
// What a check found, as data. verdict.h prints it; to_json is the machine-readable form.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checker/base/json.h"
#include "checker/cases/counters.h"
#include "checker/clock/roof.h"
#include "checker/clock/timing.h"
#include "checker/worker/finding.h"

namespace checker {

// The kind of finding that a case has which was not run because a smaller one is wrong.
inline constexpr const char* kLeftOut = "left_out";

struct CaseReport {
    std::string name;
    std::string shape;
    bool ok = false;
    bool untouched = false;  // nothing at all was written
    bool ran = true;         // false: skipped, because an earlier case hung, or where it is ok for what `note` says
    double budget_used = 0;  // the largest share; infinite where an element was not finite
    std::string where = {};  // the call of the case that failed
    long calls = 1;
    long calls_wrong = 0;
    std::vector<Finding> findings = {};
    std::vector<std::string> refuted = {};    // ids of suspects that some wrong call does not fit
    std::string note = {};                    // set if it is right, but its result depends on the order of threads
    std::vector<CounterResult> counted = {};  // a device has them, as far as lesson.toml has targets for them
    bool shows_precision = false;             // some error is as large as the op's precision makes it
    const CounterResult* wasteful() const;    // the first of which it takes too many; null where none
    const Finding* too_accurate() const;      // its errors are smaller than those of the op's precision; null where not
};

enum class Verdict { ok, wrong, not_written, slow, impossible, no_verdict, not_compared, not_yours };
std::string to_string(Verdict verdict);  // "ok", "WRONG", "not written yet", "SLOW", "IMPOSSIBLE", "no verdict", …

// Returns the owner of the speed that a share is of, by to_string(Baseline): "the solution's", "a copy's", "OpenBLAS's".
std::string whose(std::string_view baseline, const std::string& library);

// An op at one shape, timed.
struct ShapeTiming {
    std::string shape;
    Summary seconds;                  // one call's
    int discarded = 0;                // rounds in which a clock reading could not be right
    double flop = 0;                  // one call's; 0: not counted
    double bytes = 0;                 // moved by one call; 0: not counted
    std::map<Baseline, Ratio> share;  // shares of each baseline's speed
    Verdict verdict = Verdict::no_verdict;
    Medal medal = Medal::none;        // where the verdict is ok
    bool judged = true;               // false: only reported, unless what it computed is wrong
    bool gap_judged = false;          // its gap is judged in place of a share
    std::optional<Summary> gap = {};  // seconds for each of a call's nodes in which the device did nothing
    bool roof_is_wrong = false;       // the solution lies above it as well: a share of it is no measure
    std::vector<Finding> findings = {};

    bool by_gap() const { return gap_judged && gap; }
    // The share of a rival's speed; none where it was not timed.
    std::optional<Ratio> of(Baseline baseline) const;
    // The roof: arithmetic where FLOPs are counted, else a copy of as many bytes.
    Baseline roof() const { return flop > 0 ? Baseline::arithmetic : Baseline::copy; }
    double rate() const { return (flop > 0 ? flop : bytes) / seconds.median; }  // FLOP or bytes a second
};

struct TimingReport {
    Baseline against = Baseline::solution;
    std::string library;  // "OpenBLAS", where one was timed
    Shares target;
    Shares older = {};                // of the older solution's speed; 0: not asked
    Shares gap = {};                  // seconds; 0: not asked
    std::vector<ShapeTiming> shapes;  // empty: not timed
    std::vector<std::string> notes;   // what was not judged or not timed, and why
    bool not_compared = false;        // as is asked with an older solution or two threads: no judged shape had room

    bool ran() const { return !shapes.empty(); }
    Verdict verdict() const;  // that of the worst shape
    // Of those that are judged: by verdict, then medal, then the share of the speed it is timed against. A shape that is
    // only reported counts where its result is wrong or its time impossible, or where there is no other.
    const ShapeTiming& worst() const;
    std::size_t judged() const;  // shapes
};

struct OpReport {
    std::string op;
    std::string file;
    std::string included = {};                // the solution's file that it includes: right, it is not_yours
    bool is_stub = false;                     // the exercise as it was given
    std::string unwritten_helper = {};        // one beside the file, which includes it: as it was given
    std::vector<std::string> stand_ins = {};  // of helpers, one sentence each: whose is taken, and why
    std::vector<std::string> helpers = {};    // the learner's that it includes
    bool asked_for = true;                    // false: left out by --only or by GoogleTest's filter
    bool all_cases = true;                    // false: some of the op's cases were left out
    std::vector<CaseReport> cases = {};
    bool library_chooses = false;  // a GPU's may compute small shapes in fp32: one that shows the precision is enough
    TimingReport timing = {};
    std::string printed = {};  // what the code under test wrote to stdout and stderr
    std::string at_best = {};  // what a card could do at best with it, by an estimate; empty: not asked, or not known
    Json estimate = {};        // the same
    Verdict verdict() const;
    const std::string& file_to_edit() const;  // its own, or the helper that is not written yet
    bool correct() const;                     // verdict() is neither wrong nor not_written
    double budget_used() const;
    const CaseReport* wasteful() const;      // the first right case that misses a target on counters; null where none
    const CaseReport* too_accurate() const;  // the first; null where none
};

struct LessonReport {
    std::string lesson;   // "01_layers"
    std::string subject;  // "lessons", "solutions" or a directory
    std::string device = "CPU";
    std::vector<OpReport> ops = {};
    std::optional<OpReport> model = {};  // the whole step, where it was run: each op is right by itself
    double seconds = 0;
    bool times_asked = false;          // a table of all times is wanted
    bool dry_run = false;              // no GPU was there: its times mean nothing
    std::optional<CpuRoof> roof = {};  // this machine's, where it is known
    std::string estimates_are = {};    // how far they lie from what was measured
    bool ok() const;                   // every op is ok or has no verdict on its speed, and the model is right
};

Json to_json(const Shares& shares);
std::string to_json(const LessonReport& report);

// Appends one JSON line for each op, all with one write. Throws FileError when the file cannot be written.
void append_results(const std::filesystem::path& file, const LessonReport& report);

}  // namespace checker
