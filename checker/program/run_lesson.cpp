// SPDX-License-Identifier: MIT
//
// A check program: reads the options, registers the cases, and runs one of six programs.
#include "checker/program/run_lesson.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "checker/base/course.h"
#include "checker/cases/lesson.h"
#include "checker/cases/lesson_toml.h"
#include "checker/program/describe_lesson.h"
#include "checker/program/options.h"
#include "checker/program/run_tests.h"
#include "checker/worker/device_backend.h"
#include "checker/worker/time_op.h"
#include "checker/worker/worker.h"

namespace checker {
namespace {

struct Program {
    const char* name;                    // its option, without the dashes
    bool Options::*is_wanted = nullptr;  // null: it runs if no other does
    bool reads_only = false;             // --only names what it runs
    bool needs_kernels = false;
    int (*main)(const Lesson& lesson, const Options& options);
};

int run_worker(const Lesson& lesson, const Options& options) {
    serve(lesson, options.impl_dir, options.reference_dir);
    return 0;
}

int run_one_thread(const Lesson& lesson, const Options& options) {
    return run_to_focus(lesson, options.impl_dir,
                        [&](const Op& op, const Case& c) { return options.wants(op.name, c.name); });
}

int run_estimate(const Lesson& lesson, const Options& options) {
    return device_backend().show_estimate(lesson, options);
}

int run_traffic(const Lesson& lesson, const Options& options) {
    return device_backend().show_traffic(lesson, options);
}

// If several options are there, the first row wins. HARNESS.md says who starts which.
constexpr Program kPrograms[] = {
    {.name = "worker", .is_wanted = &Options::worker, .main = run_worker},
    {.name = "describe", .is_wanted = &Options::describe, .main = describe_lesson},
    {.name = "one-thread",
     .is_wanted = &Options::one_thread,
     .reads_only = true,
     .needs_kernels = true,
     .main = run_one_thread},
    {.name = "estimate",
     .is_wanted = &Options::estimate,
     .reads_only = true,
     .needs_kernels = true,
     .main = run_estimate},
    {.name = "traffic", .is_wanted = &Options::traffic, .reads_only = true, .needs_kernels = true, .main = run_traffic},
    {.name = "tests", .reads_only = true, .main = run_tests},
};

// Throws std::invalid_argument naming what there is.
void require_known(const Options& options, const Lesson& lesson) {
    if (options.only.empty()) {
        return;
    }
    const auto require = [&](const std::vector<std::string>& known, const std::string& name, const std::string& whose,
                             const char* what) {
        if (std::ranges::find(known, name) == known.end()) {
            throw std::invalid_argument(fmt::format("--only {}: {} has no {} {}; it has {}", options.only, whose, what,
                                                    name, fmt::join(known, ", ")));
        }
    };
    if (options.only == "model" && lesson.has_model()) {
        return;
    }
    std::vector<std::string> ops, cases;
    for (const Op& op : lesson.ops()) { ops.push_back(op.name); }
    require(ops, options.only_op(), "lesson " + lesson_number(lesson.name()), "op");
    const Op& op = *std::ranges::find(lesson.ops(), options.only_op(), &Op::name);
    for (const Case& c : op.cases) { cases.push_back(c.name); }
    if (!op.timed.empty()) {
        cases.emplace_back("timing");
    }
    if (!options.only_case().empty()) {
        require(cases, options.only_case(), op.name, "case");
    }
}

// Runs the program that the options ask for, of a lesson whose cases are registered. Returns the exit status.
int run(const Lesson& lesson, const Options& options) {
    const Program& program = *std::ranges::find_if(
        kPrograms, [&](const Program& one) { return one.is_wanted == nullptr || options.*one.is_wanted; });
    if (program.reads_only) {
        require_known(options, lesson);
    }
    if (program.needs_kernels && device_backend().is_host()) {
        throw std::invalid_argument(fmt::format("--{}: the lesson has no kernels", program.name));
    }
    return program.main(lesson, options);
}

}  // namespace

int run_lesson(int argc, char** argv, const std::string& lesson_name,
               const std::function<void(Lesson&)>& register_cases) {
    constexpr int kCannotRun = 2;
    take_test_options(argc, argv);
    try {
        const std::optional<Options> parsed = parse_options(argc, argv, lesson_name);
        if (!parsed) {
            return 0;
        }
        const Options& options = *parsed;
        static_cast<void>(wants_warm_caches());  // refuses a wrong value here once, not at each op
        Lesson lesson(lesson_name, options.cases, read_lesson_toml(options.lesson_dir / "lesson.toml"));
        register_cases(lesson);
        return run(lesson, options);
    } catch (const std::exception& e) {
        fmt::print(stderr, "check: {}\n", e.what());
        return kCannotRun;
    }
}

}  // namespace checker
