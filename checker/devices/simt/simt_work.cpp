// SPDX-License-Identifier: MIT
#include "checker/devices/simt/simt_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "checker/base/course.h"
#include "checker/worker/call_buffers.h"
#include "checker/worker/time_op.h"

namespace checker {
namespace {

namespace fs = std::filesystem;

// Whether a target is judged on the call. Some ops have a target on bytes asked for at every call.
bool is_judged(const Call& call) {
    return std::ranges::any_of(call.needed, [](const Needed& needed) { return needed.counter != "bytes_asked"; });
}

// The case `wanted`; where none is wanted, the one that the target is judged on, else the largest that can be counted
// whole. Null where there is none.
const Case* case_of(const Op& op, const std::string& wanted) {
    const auto end = op.cases.end();
    auto found = std::ranges::find(op.cases, wanted, &Case::name);
    if (wanted.empty()) {
        found = std::ranges::find_if(op.cases, [](const Case& c) { return std::ranges::any_of(c.calls, is_judged); });
    }
    if (wanted.empty() && found == end) {
        found = std::ranges::max_element(op.cases, {}, [](const Case& c) { return c.is_sampled() ? 0 : bytes_of(c); });
    }
    return found == end || (wanted.empty() && found->is_sampled()) ? nullptr : &*found;
}

// The newest older solution of the op that is a kernel too.
std::optional<Version> older_version(const Options& options, const std::string& op) {
    const fs::path object = older_implementation(options.reference_dir, op);
    const std::string lesson = object.parent_path().filename().string();
    const fs::path source = fs::path("solutions") / lesson / (op + ".cu");
    return object.empty() || !fs::exists(source)
               ? std::nullopt
               : std::optional(Version{.who = "lesson " + lesson_number(lesson), .source = source, .object = object});
}

}  // namespace

Work work_of(const Op& op, const std::string& wanted) {
    const Case* const chosen = case_of(op, wanted);
    if (!op.timed.empty() && (wanted == "timing" || wanted.empty())) {
        const Timed& timed = op.timed.front();
        const bool judged = chosen != nullptr && std::ranges::any_of(chosen->calls, is_judged);
        if (!wanted.empty() || (bytes_of(timed.call) <= kMostBytes && !(timed.flop > 0 && judged))) {
            return {timed.shape, {.name = "timing", .shape = timed.shape, .calls = {timed.call}}, false};
        }
    }
    if (chosen == nullptr) {
        throw std::invalid_argument(fmt::format("{} has no case that can be counted whole", op.name));
    }
    return {fmt::format("{} ({})", chosen->shape, chosen->name), *chosen};
}

std::vector<Version> versions_of(const Lesson& lesson, const Options& options, const Op& op) {
    const std::string object = op.name + ".so";
    const bool is_solution = options.subject == "solutions";
    std::vector<Version> versions;
    versions.push_back({.who = is_solution ? "solution" : "yours",
                        .source = options.source(lesson.name(), op.name),
                        .object = options.impl_dir / object});
    if (!is_solution) {
        versions.push_back({.who = "solution",
                            .source = fs::path("solutions") / lesson.name() / (op.name + ".cu"),
                            .object = options.reference_dir / object});
    }
    if (std::optional<Version> older = older_version(options, op.name)) {
        versions.push_back(std::move(*older));
    }
    return versions;
}

}  // namespace checker
