// SPDX-License-Identifier: MIT
//
// What went wrong in one call, as findings in words. Pure functions.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "checker/cases/lesson.h"
#include "checker/judge/compare.h"
#include "checker/worker/call_buffers.h"
#include "checker/worker/finding.h"
#include "checker/worker/worker_process.h"

namespace checker {

// How the worker ended, or what it reported: none when the call simply returned.
std::optional<Finding> describe_outcome(const Outcome& outcome, const Op& op, const Call& call, double limit_seconds);

// A write beside the data, `offset` bytes from its start.
Finding describe_guard_violation(const BufferSpec& spec, long offset);

// A write to an input's data, `offset` bytes from its start; and the first one by which an input differs from what it was.
Finding describe_changed_input(const BufferSpec& spec, long offset);
std::optional<Finding> find_changed_input(const BufferSpec& spec, std::span<const std::byte> was,
                                          std::span<const std::byte> now);

// "out[b=0, t=3]"; of a scalar its name alone.
std::string indexed(const BufferSpec& spec, long element);

// An element of two results, with as many digits as it takes to tell them apart.
std::pair<std::string, std::string> format_distinct(const Got& one, const Got& other, long element);

// The memory of an output after a run, and of an in-out tensor before it.
struct Content {
    std::vector<std::byte> after;
    std::vector<std::byte> before = {};
};

// Whether a finding of describe_call says why values are wrong or differ, not which.
bool explains(const Finding& finding);

// Whether the values are those that an output of an earlier call should hold, as far as both go: enough of them to tell.
bool matches_prefix(const Got& got, const Output& earlier);

// What is right as the first call of a process and wrong after others. `gave`: what it holds, where that is known.
Finding describe_kept(const std::string& where, const std::string& gave);

// Says of wrong values that threads are the reason, in place of any other.
void blame_threads(std::vector<Finding>& findings);

// What is said of a call after its two runs.
struct CallVerdict {
    bool ok = false;
    bool untouched = false;  // no output was written at all
    bool of_model = false;   // which names the first tensor that is wrong: later ones depend on it
    double budget_used = 0;
    std::vector<Finding> findings;
    std::string note;                       // set if all is right, but the result depends on the order of threads
    std::vector<std::string> refuted = {};  // ids of suspects that its wrong outputs do not fit
};

// One Content per output. `deterministic`: a repetition of the first run gave the same bits. Only asked when the two runs disagree.
// `float_atomics`: lines of code that add floats atomically, "encoder.cu:31, encoder.cu:40"; empty: none. What differs
// there by less than its budget is no finding, as each order of the sum's terms rounds in its own way.
// `two_orders`: the runs took two orders of a device's threads, which sees what is read unwritten by itself; `raced`: it
// saw a race.
CallVerdict describe_call(const Call& call, std::span<const Content> first, std::span<const Content> second,
                          const std::function<bool()>& deterministic, const std::string& float_atomics = "",
                          bool two_orders = false, bool raced = false);

// Returns a finding if a wrong call's outputs are those of factors that are rounded to bf16, and TF32 was asked for.
std::optional<Finding> describe_bf16(const Call& call, const std::vector<std::span<const float>>& inputs,
                                     std::span<const Content> outputs);

// Whether the errors of a right call's outputs are as large as their precision makes them.
struct PrecisionVerdict {
    bool shows = false;  // an output's are
    std::optional<Finding> too_accurate;
};
PrecisionVerdict describe_precision(const Call& call, const std::vector<std::span<const float>>& inputs,
                                    std::span<const Content> outputs);

// Where a device has counted fewer bytes that kernels asked for than the call's work takes: then something else did it.
// A copy or a memset within the device may be part of the work, so only less than half is too few.
std::optional<Finding> describe_work(const Call& call, double bytes_asked);

// The same of a sampled call: what the sampled blocks wrote, in each of the two runs.
CallVerdict describe_sampled(const Call& call, const std::vector<std::span<const float>>& inputs,
                             std::span<const SampledElements* const> runs);

// What an op of a model reads unwritten is the first wrong tensor, which is named before it.
void put_consequences_last(std::vector<Finding>& findings, bool of_model);

// Says beside wrong values that nothing else explains which threads had ended before the others of their block met.
void add_early_exits(CallVerdict& verdict, const std::string& early_exits);

}  // namespace checker
