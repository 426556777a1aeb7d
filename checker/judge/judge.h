// SPDX-License-Identifier: MIT
//
// Runs the cases of a lesson in the worker and says what is wrong with what comes back.
#pragma once

#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "checker/cases/lesson.h"
#include "checker/cases/lesson_toml.h"
#include "checker/clock/roof.h"
#include "checker/judge/describe.h"
#include "checker/judge/progress_line.h"
#include "checker/judge/report.h"
#include "checker/worker/worker_process.h"

namespace checker {

class Judge {
  public:
    // `worker_arguments` are the command line that makes this program register the same cases.
    Judge(const Lesson& lesson, std::filesystem::path impl_dir, std::filesystem::path reference_dir,
          std::vector<std::string> worker_arguments, std::chrono::duration<double> limit);

    // From the third second on, a line on stderr says what is being done (only on a terminal).
    void show_progress(bool on) { progress_.show(on); }

    // Throws std::runtime_error where the device that the ops run on is not there, or is not what the lesson requires.
    void require_device(const LessonToml& toml);

    // What is right is counted too, as far as `at_most` has targets: by counter how many times what is needed.
    CaseReport check_case(std::size_t op, std::size_t case_index, const std::map<std::string, double>& at_most);
    // Every shape, or, unless `all_shapes`, no more once one is slow. `roof` is this machine's, if it is known.
    TimingReport time(std::size_t op, const Target& wanted, const std::optional<CpuRoof>& roof, bool all_shapes);

    // Why an op cannot be run at all: its file does not compile, or lacks the function. None if it can.
    std::optional<Finding> missing(std::size_t op, const std::filesystem::path& compiler_log) const;

    std::string take_output() { return worker_.take_output(); }

  private:
    struct RunResult {
        std::optional<Finding> finding;        // crash, hang, exit, ...: nothing is known of the outputs then
        std::vector<Content> outputs;          // a sampled call has one: SampledElements
        std::string out_of_memory = {};        // why it did not run
        std::vector<Finding> device_findings;  // beside it: writes outside the data, what the device saw
        std::string float_atomics;             // lines that add floats atomically: "encoder.cu:31"
        std::string early_exits;               // threads that had ended before the others of their block met
        bool incomplete() const { return finding || !out_of_memory.empty(); }
        bool exceeded_limits() const;          // took more time or memory than it may
        bool was_cut_before_it_wrote() const;  // a sampled call
    };
    RunResult run(std::size_t op, std::size_t case_index, std::size_t call, Schedule schedule,
                  bool on_one_thread = false);
    // Returns true if a call that may use several threads gives what it should on one, where it was wrong.
    bool is_right_on_one_thread(std::size_t op, std::size_t case_index, std::size_t call_index, const Call& call);
    // Calls of one case, one after the other on what the earlier ones left, as far as the first that ends early.
    struct Calls {
        std::size_t begin = 0;
        std::size_t end = 0;
    };
    std::vector<RunResult> run_in_turn(std::size_t op, std::size_t case_index, const Calls& calls, Schedule schedule);
    // What is said of a call after both runs; `again` repeats the first.
    static CallVerdict describe_runs(const Call& call, const RunResult& first, const RunResult& second,
                                     const std::function<RunResult()>& again);
    // Where the last of these calls is right as the first of a process, and was not after others: once an op, and where
    // a call of it had been right.
    std::optional<Finding> kept_from_earlier(std::size_t op, std::size_t case_index, const Calls& calls,
                                             const Call& call, const RunResult& after_others);
    // A further run that adds to `counted` what the call takes; what was wrong with the run, if something was.
    std::optional<Finding> count(std::size_t op, std::size_t case_index, std::size_t call,
                                 const std::map<std::string, double>& at_most, std::vector<CounterResult>& counted);
    // `all_shapes`: a medal that noise keeps low gets one more attempt than in a check of what is judged. Empty where there
    // is no memory for it: then a note says so.
    std::optional<ShapeTiming> time_shape(std::size_t op, std::size_t shape, const Target& target,
                                          std::uint32_t baselines, bool all_shapes, std::vector<std::string>& notes);
    // Whether what was timed gives the right outputs on inputs that it had not seen, after `request`: all elements are
    // compared with the solution's, and some with what they should be, where a single one can be computed.
    std::optional<Finding> timed_mismatch(const Op& op, const Timed& timed, const Request& request);
    // The same, after calls on other inputs.
    std::optional<Finding> mismatch_after_timing(const Op& op, const Timed& timed, Request request);
    std::optional<Finding> finding_of(const Outcome& outcome, const Op& op, const Call& call) const;
    Outcome ask(const Request& request, const std::string& what);

    const Lesson& lesson_;
    std::filesystem::path impl_dir_;
    std::filesystem::path reference_dir_;
    std::chrono::duration<double> limit_;
    MemoryFile memory_;
    WorkerProcess worker_;
    ProgressLine progress_{stderr};
    Gpu card_;  // the ops run on it

    // Of the op that is being checked.
    struct OpState {
        std::size_t op = 0;
        bool right = false;        // the worker has made a call that was
        bool tried_alone = false;  // one that was wrong after it
    };
    OpState op_state_;
};

// The declaration of a function in a header, without comments: one line each parameter list line. Empty if none.
std::vector<std::string> declaration_of(const std::string& function, const std::filesystem::path& header);

}  // namespace checker
