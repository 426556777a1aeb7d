// SPDX-License-Identifier: MIT
#include "checker/judge/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>
#include <set>

#include "checker/base/text.h"
#include "checker/judge/displaced.h"

namespace checker {
namespace {

bool is_scalar(const BufferSpec& spec) {
    return spec.dims.rank() == 0;
}

std::string with_shape(const BufferSpec& spec) {
    return is_scalar(spec) ? spec.name : fmt::format("{} ({})", spec.name, spec.dims.text());
}

// "element 1,024 is 1 past the end"; `offset` in bytes, outside the data.
std::string outside(long offset, long elements, long element_bytes, std::string_view unit) {
    // Rounds down also before the start.
    const long element = offset >= 0 ? offset / element_bytes : -((-offset + element_bytes - 1) / element_bytes);
    if (element < 0) {
        return fmt::format("{} {}", unit, counted(element));
    }
    return fmt::format("{} {} is {} past the end", unit, counted(element), counted(element - elements + 1));
}

std::string_view verb(FaultAccess access) {
    switch (access) {
        case FaultAccess::read:
            return "read";
        case FaultAccess::write:
            return "wrote";
        case FaultAccess::unknown:
            break;
    }
    return "read or wrote";
}

Finding describe_memory_fault(const Reply& reply, const Call& call) {
    const std::string did(verb(reply.access));
    if (reply.stack_overflow) {
        return {"crash", "", "overran the stack: a local array too large for it, or recursion without end"};
    }
    if (reply.buffer < 0) {
        constexpr std::uint64_t kNullPages = 65536;
        if (reply.address < kNullPages) {
            const std::string nulls =
                call.null.empty() ? "" : fmt::format(" ({} is null in this call)", fmt::join(call.null, ", "));
            return {"crash", "", did + " through a null pointer" + nulls};
        }
        return {"crash", "", fmt::format("{} at an address that belongs to no buffer (segmentation fault)", did)};
    }
    const std::vector<BufferSpec> specs = shared_specs(call);
    const auto index = static_cast<std::size_t>(reply.buffer);
    const long bytes = static_cast<long>(reply.buffer_bytes);
    const std::string_view side = reply.offset < 0 ? "before the start" : "past the end";
    if (index >= specs.size()) {
        const std::string name =
            reply.buffer == kWorkspace ? "the workspace" : call.scratch.at(index - specs.size()).name;
        return {"out_of_bounds", "",
                fmt::format("{} {} of {} ({} bytes): {}", did, side, name, counted(bytes),
                            outside(reply.offset, bytes, 1, "byte"))};
    }
    const BufferSpec& spec = specs[index];
    const long element_bytes = static_cast<long>(bytes_of(spec.element));
    if (reply.offset >= 0 && reply.offset < bytes) {
        return describe_changed_input(spec, reply.offset);
    }
    return {"out_of_bounds", "",
            fmt::format("{} {} of {}: {}", did, side, with_shape(spec),
                        outside(reply.offset, spec.dims.elements(), element_bytes, "element"))};
}

Finding describe_fault(const Reply& reply, const Call& call) {
    switch (reply.signal) {
        case SIGFPE:
            return {"crash", "", "divided an integer by zero (SIGFPE)"};
        case SIGILL:
            return {"crash", "", "ran into an illegal instruction (SIGILL): a path that ends without return?"};
        case SIGABRT:
            return {"crash", "", "aborted (SIGABRT): the heap was overrun, or std::terminate or abort was called"};
        default:
            return describe_memory_fault(reply, call);
    }
}

// ---- values ----------------------------------------------------------------------------------------------------

struct Judged {
    const Output* output = nullptr;
    Decoded got;         // of the first run
    Elements untouched;  // that hold what they held before; of an in-out tensor those that are wrong by it
    bool left_alone;     // all of it holds what it held before
    Comparison comparison;
    bool wrong() const { return comparison.wrong > 0; }
};

std::string detail(std::string_view label, std::string_view text) {
    return fmt::format("{}\t{}", label, text);
}

// "c=62", "c=32..63", "c=1, 5, .. 61": the axes along which the wrong elements are not everywhere. Empty if they are.
std::string box_text(const Dims& dims, long columns, const Comparison& comparison) {
    std::vector<std::string> parts;
    for (std::size_t axis = 0; axis < dims.rank(); axis++) {
        const long size = axis + 1 == dims.rank() ? columns : dims.size(axis);
        const long low = comparison.low[axis];
        const long high = comparison.high[axis];
        const long step = comparison.step[axis];
        if (size == 1 || (low == 0 && high == size - 1 && step == 1)) {
            continue;
        }
        parts.push_back(dims.index_name(axis) + '=' +
                        (low == high          ? fmt::format("{}", low)
                         : step == 1          ? fmt::format("{}..{}", low, high)
                         : high == low + step ? fmt::format("{}, {}", low, high)
                                              : fmt::format("{}, {}, .. {}", low, low + step, high)));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

void add_around(std::vector<std::string>& details, const Judged& judged, long element) {
    const Dims& dims = judged.output->spec.dims;
    const Window window = around(dims, judged.output->columns, element);
    if (window.count < 2) {
        return;
    }
    std::string got;
    std::string expected;
    for (long i = window.begin; i < window.begin + window.count; i++) {
        const auto k = static_cast<std::size_t>(i);
        const auto [left, right] = told_apart(judged.got, Got(judged.output->expected), i);
        const bool empty = !judged.untouched.none() && judged.untouched.flags[k];
        got += fmt::format(" {:>13}", empty ? "-" : left);
        expected += fmt::format(" {:>13}", right);
    }
    const long begin = window.begin % dims.columns();
    const std::string range =
        fmt::format("{}={}..{}", dims.index_name(dims.rank() - 1), begin, begin + window.count - 1);
    details.push_back(detail("around", "got     " + got));
    details.push_back(detail(range, "expected" + expected));
}

// Too many outputs to be those of one op: then it matters which comes first.
bool is_model(std::span<const Judged> outputs) {
    constexpr std::size_t kMostOfOneOp = 4;
    return outputs.size() > kMostOfOneOp;
}

// The first wrong output in full. `also` is what became of the others.
void add_mismatch(std::vector<Finding>& findings, const Judged& judged, bool of_model, const std::string& also) {
    const BufferSpec& spec = judged.output->spec;
    const Comparison& c = judged.comparison;
    const std::string prefix = of_model ? fmt::format("first diverging tensor: {}, ", spec.name) : "";
    const std::string elements = counted(c.compared, "element") + (of_model ? "" : " of " + spec.name);
    if (!judged.untouched.none()) {
        const bool all = judged.untouched.count == c.compared;
        Finding finding{"untouched", "",
                        all ? fmt::format("{}{} not written: it is as it was before the call", prefix,
                                          of_model ? "which was" : spec.name + " was")
                        : spec.role == Role::inout ? fmt::format("{}{} of {} still hold what they held before the call",
                                                                 prefix, counted(judged.untouched.count), elements)
                                                   : fmt::format("{}{} of {} were not written", prefix,
                                                                 counted(judged.untouched.count), elements)};
        if (!all) {
            finding.details.push_back(detail("first", indexed(spec, judged.untouched.first)));
        }
        if (!also.empty()) {
            finding.details.push_back(detail("also", also));
        }
        findings.push_back(std::move(finding));
    }
    if (c.first < 0) {
        return;
    }

    const auto first = static_cast<std::size_t>(c.first);
    const Expected& expected = judged.output->expected;
    const auto worst = static_cast<std::size_t>(c.worst);
    const std::string amount = is_scalar(spec) ? fmt::format("{}{} is wrong", prefix, spec.name)
                                               : fmt::format("{}{} of {} {} wrong", prefix, counted(c.wrong), elements,
                                                             c.wrong == 1 ? "is" : "are");
    Finding finding{"mismatch", "", ""};
    if (c.nonfinite > 0) {
        finding.kind = "nonfinite";
        finding.text = is_scalar(spec) ? amount + ": it is NaN or infinite"
                                       : fmt::format("{}, {} of them NaN or infinite", amount, counted(c.nonfinite));
    } else if (c.nonzero == c.wrong) {
        finding.text = fmt::format("{}: they must be exactly 0", amount);
    } else if (is_integer(spec.element)) {
        finding.text = amount;
    } else {
        finding.text = fmt::format("{}, {}off by {}", amount, is_scalar(spec) ? "" : "worst ",
                                   significant(error(judged.got.values[worst], expected.values[worst])));
    }
    const auto [got, reference] = told_apart(judged.got, Got(expected), c.first);
    finding.details.push_back(
        detail("first", fmt::format("{}   got {}   expected {}", indexed(spec, c.first), got, reference)));
    const double allowed = budget_of(spec.dims, expected, c.first);
    const double used = error(judged.got.values[first], expected.values[first]) / allowed;
    const std::string& precision = judged.output->precision;
    if (expected.exact_zeros && expected.values[first] == 0.0F) {
        finding.details.push_back(detail("", "it must be exactly 0"));
    } else if (is_integer(spec.element)) {
        finding.details.push_back(detail("", "an integer has no error budget"));
    } else if (std::isfinite(used)) {
        finding.details.push_back(
            detail("", fmt::format("the {}error budget there is {}; you used {} that",
                                   precision == "fp32" ? "" : precision + " ", significant(allowed), times(used))));
    }
    add_around(finding.details, judged, c.first);
    if (c.wrong > 1) {
        const std::string box = box_text(spec.dims, judged.output->columns, c);
        if (!box.empty()) {
            finding.details.push_back(detail("where", "every wrong element has " + box));
        }
    }
    if (judged.untouched.none() && !also.empty()) {
        finding.details.push_back(detail("also", also));
    }
    findings.push_back(std::move(finding));
    if (c.nonfinite > 0 && c.wrong - judged.untouched.count > c.nonfinite) {
        findings.push_back({"mismatch", "", amount});
    }
}

// What became of the other outputs, in one line.
std::string others_text(std::span<const Judged> outputs, const Judged& first) {
    std::vector<std::string> wrong;
    std::vector<std::string> right;
    for (const Judged& judged : outputs) {
        if (&judged == &first) {
            continue;
        }
        (judged.wrong() ? wrong : right).push_back(judged.output->spec.name);
    }
    if (is_model(outputs)) {
        return wrong.empty()
                   ? "every other tensor is right"
                   : fmt::format("{} of the {} other tensors are wrong too", wrong.size(), outputs.size() - 1);
    }
    std::string text;
    if (!wrong.empty()) {
        text = fmt::format("{} {} wrong too", fmt::join(wrong, " and "), wrong.size() > 1 ? "are" : "is");
    }
    if (!right.empty()) {
        text += fmt::format("{}{} {} right", text.empty() ? "" : "; ", fmt::join(right, " and "),
                            right.size() > 1 ? "are" : "is");
    }
    return text;
}

// Suspects that fit every output they say something about.
std::vector<Finding> fitting_suspects(std::span<const Judged> outputs) {
    std::vector<Finding> findings;
    std::set<std::string> seen;
    for (const Judged& judged : outputs) {
        for (const Suspect& suspect : judged.output->suspects) {
            if (!seen.insert(suspect.id).second) {
                continue;
            }
            bool fit = true;
            bool explains = false;
            for (const Judged& other : outputs) {
                for (const Suspect& same : other.output->suspects) {
                    if (same.id != suspect.id) {
                        continue;
                    }
                    fit = fit &&
                          fits(other.output->spec.dims, other.output->columns, other.got, other.output->expected, same);
                    explains = explains || other.wrong();
                }
            }
            if (fit && explains) {
                findings.push_back({"suspect", suspect.id, suspect.what});
            }
        }
    }
    return findings;
}

// "64 rows further on", "1 row further back and 3 columns further on"
std::string distance_text(const Displaced::Shift& shift) {
    std::vector<std::string> parts;
    for (const auto& [by, unit] : {std::pair(shift.rows, "row"), std::pair(shift.columns, "column")}) {
        if (by != 0) {
            parts.push_back(fmt::format("{} further {}", counted(std::abs(by), unit), by > 0 ? "on" : "back"));
        }
    }
    return fmt::format("{}", fmt::join(parts, " and "));
}

// Right values in wrong places.
std::optional<Finding> describe_displaced(const Judged& judged) {
    const BufferSpec& spec = judged.output->spec;
    const std::optional<Displaced> found = displaced(spec.dims, judged.output->columns, judged.got.values,
                                                     judged.output->expected, judged.untouched.flags);
    if (!found) {
        return std::nullopt;
    }
    Finding finding{
        "displaced", "",
        fmt::format("{} holds what belongs at {}", indexed(spec, found->element), indexed(spec, found->belongs))};
    const auto add = [&](long elements, std::string_view which, const std::string& where) {
        finding.details.push_back(detail("", fmt::format("so do {} of {} wrong elements{}: {}", counted(elements),
                                                         counted(found->looked_at), which, where)));
    };
    for (const Displaced::Shift& shift : found->shifts) { add(shift.elements, "", distance_text(shift)); }
    constexpr std::string_view kSampled = " looked at";
    switch (found->how) {
        case Displaced::How::shifted:
            break;
        case Displaced::How::in_row:
            add(found->elements, kSampled, "elsewhere in their row");
            break;
        case Displaced::How::in_column:
            add(found->elements, kSampled, "elsewhere in their column");
            break;
        case Displaced::How::transposed:
            add(found->elements, kSampled, fmt::format("elsewhere in {}, rows and columns exchanged", spec.name));
            break;
        case Displaced::How::piece:
        case Displaced::How::alone:
            add(found->elements, kSampled, "elsewhere in " + spec.name);
            break;
    }
    return finding;
}

}  // namespace

std::string indexed(const BufferSpec& spec, long element) {
    return is_scalar(spec) ? spec.name : fmt::format("{}[{}]", spec.name, spec.dims.index_text(element));
}

std::pair<std::string, std::string> told_apart(const Got& one, const Got& other, long element) {
    const auto i = static_cast<std::size_t>(element);
    if (!one.integers.empty() && !other.integers.empty()) {
        return {std::to_string(one.integers[i]), std::to_string(other.integers[i])};
    }
    return told_apart(one.values[i], other.values[i]);
}

std::optional<Finding> describe_outcome(const Outcome& outcome, const Op& op, const Call& call, double limit_seconds) {
    switch (outcome.kind) {
        case Outcome::Kind::hung:
            return Finding{
                "hang", "",
                fmt::format("was still running after {} s: a loop that does not end?", significant(limit_seconds))};
        case Outcome::Kind::out_of_memory:
            return Finding{
                "out_of_memory", "",
                fmt::format("took {} of memory, which is nearly all that was free: memory that is taken in a "
                            "loop and never given back?",
                            gib(outcome.memory))};
        case Outcome::Kind::exited:
            return Finding{"exit", "",
                           fmt::format("ended the program with exit({}) instead of returning", outcome.status)};
        case Outcome::Kind::killed:
            return Finding{"crash", "",
                           fmt::format("was killed by signal {} ({}){}", outcome.status, strsignal(outcome.status),
                                       outcome.status == SIGKILL ? ": out of memory?" : "")};
        case Outcome::Kind::answered:
            break;
    }
    const Reply& reply = outcome.reply;
    switch (reply.answer) {
        case Answer::done:
            return std::nullopt;
        case Answer::not_defined:
            return Finding{"not_defined", "",
                           fmt::format("has no function {} of the signature in {}", op.name, op.declared_in)};
        case Answer::cannot_load:
            return Finding{"not_defined", "", reply.text};
        case Answer::no_room:
        case Answer::no_device:
        case Answer::exception:
            return Finding{"exception", "", fmt::format("threw an exception: {}", reply.text)};
        case Answer::fault:
            return describe_fault(reply, call);
        case Answer::scribble:
            break;
    }
    const Scratch& scratch = call.scratch.at(static_cast<std::size_t>(reply.buffer) - shared_specs(call).size());
    const long bytes = static_cast<long>(reply.buffer_bytes);
    return Finding{"out_of_bounds", "",
                   fmt::format("wrote {} of {} ({} bytes): {}", reply.offset < 0 ? "before the start" : "past the end",
                               scratch.name, counted(bytes), outside(reply.offset, bytes, 1, "byte"))};
}

Finding describe_changed_input(const BufferSpec& spec, long offset) {
    return {"input_changed", "",
            fmt::format("wrote to {}: an input, which must stay as it is",
                        indexed(spec, offset / static_cast<long>(bytes_of(spec.element))))};
}

std::optional<Finding> find_changed_input(const BufferSpec& spec, std::span<const std::byte> was,
                                          std::span<const std::byte> now) {
    const auto changed = std::ranges::mismatch(was, now).in1;
    return changed == was.end() ? std::nullopt : std::optional(describe_changed_input(spec, changed - was.begin()));
}

Finding describe_scribble(const BufferSpec& spec, long offset) {
    return {"out_of_bounds", "",
            fmt::format("wrote {} of {}: {}", offset < 0 ? "before the start" : "past the end", with_shape(spec),
                        outside(offset, spec.dims.elements(), static_cast<long>(bytes_of(spec.element)), "element"))};
}

// One output of two orders of a kernel's threads, where it adds floats atomically.
static void add_order_dependence(CallVerdict& verdict, const Judged& one, const Judged& other,
                                 const Elements& differing, const std::string& float_atomics) {
    const BufferSpec& spec = one.output->spec;
    std::optional<std::size_t> first, beyond;
    for (std::size_t k = 0; k < differing.flags.size(); k++) {
        if (!differing.flags[k] || (!one.untouched.flags.empty() && one.untouched.flags[k])) {
            continue;
        }
        first = first.value_or(k);
        const double budget = budget_of(spec.dims, one.output->expected, static_cast<long>(k));
        if (!(error(one.got.values[k], other.got.values[k]) <= budget)) {
            beyond = k;
            break;
        }
    }
    if (!beyond && !one.wrong() && other.wrong()) {
        beyond = static_cast<std::size_t>(other.comparison.first);
    }
    const bool several = float_atomics.find(',') != std::string::npos;
    const std::string who = fmt::format("{} {} floats atomically", float_atomics, several ? "add" : "adds");
    if (beyond) {
        const auto [left, right] = told_apart(one.got, other.got, static_cast<long>(*beyond));
        verdict.findings.push_back(
            {"order_dependent",
             "",
             "gives another result in another order of its threads, and the error budget does not cover it",
             {detail("first",
                     fmt::format("{}   once {}   then {}", indexed(spec, static_cast<long>(*beyond)), left, right)),
              detail("", who + ": each order rounds in its own way")}});
    } else if (first && !one.wrong() && verdict.note.empty()) {
        const auto [left, right] = told_apart(one.got, other.got, static_cast<long>(*first));
        verdict.note = fmt::format("order-dependent: {}; two orders gave {} and {} at {}, both within the budget", who,
                                   left, right, indexed(spec, static_cast<long>(*first)));
    }
}

// An output after its two runs.
static Judged compared_output(const Output& output, const Run& one, const Run& other) {
    const Dims& dims = output.spec.dims;
    Judged result{.output = &output,
                  .got = decode(one.after, output.spec.element),
                  .untouched = untouched(dims, output.columns, one, other),
                  .left_alone = false,
                  .comparison = {}};
    result.left_alone = result.untouched.count == dims.rows() * output.columns;
    if (output.spec.role == Role::inout) {  // what it held may be right
        Elements wrong;
        wrong.flags.resize(result.untouched.flags.size());
        for (std::size_t i = 0; i < wrong.flags.size(); i++) {
            if (result.untouched.flags[i] && !is_right(dims, result.got, output.expected, static_cast<long>(i))) {
                wrong.first = wrong.count++ == 0 ? static_cast<long>(i) : wrong.first;
                wrong.flags[i] = true;
            }
        }
        result.untouched = std::move(wrong);
    }
    result.comparison = compare(dims, output.columns, result.got, output.expected, result.untouched.flags);
    return result;
}

CallVerdict describe_call(const Call& call, std::span<const Content> first, std::span<const Content> second,
                          const std::function<bool()>& deterministic, const std::string& float_atomics, bool two_orders,
                          bool raced) {
    CallVerdict verdict;
    verdict.untouched = true;
    std::vector<Judged> outputs;
    bool asked = false;
    for (std::size_t i = 0; i < call.outputs.size(); i++) {
        const Output& output = call.outputs[i];
        const BufferSpec& spec = output.spec;
        const Run one{first[i].after, spec.element, Schedule::end_aligned, first[i].before};
        const Run other{second[i].after, spec.element, Schedule::start_aligned, second[i].before};
        if (output.stays_untouched) {
            const Elements written = touched_padding(spec.dims, 0, one, other);
            if (!written.none()) {
                verdict.findings.push_back(
                    {"padding", "",
                     fmt::format("wrote to {}, which must stay as it was in this call", indexed(spec, written.first))});
            }
            continue;
        }
        if (const Elements padding = touched_padding(spec.dims, output.columns, one, other);
            output.watch_padding && !padding.none()) {
            verdict.findings.push_back({"padding", "",
                                        fmt::format("wrote to {}: columns {} and beyond are padding, to be left alone",
                                                    indexed(spec, padding.first), counted(output.columns))});
        }
        Judged result = compared_output(output, one, other);
        verdict.untouched = verdict.untouched && result.left_alone;
        verdict.budget_used =
            std::max(verdict.budget_used,
                     result.untouched.none() ? result.comparison.used : std::numeric_limits<double>::infinity());

        Elements differing = disagreeing(spec.dims, output.columns, one, other);
        if (spec.role == Role::output) {
            differing.count -= result.untouched.count;  // those hold two poisons
        }
        if (differing.count > 0 && !float_atomics.empty()) {
            const Judged again = compared_output(output, other, one);
            verdict.budget_used = std::max(verdict.budget_used, again.comparison.used);
            add_order_dependence(verdict, result, again, differing, float_atomics);
        } else if (differing.count > 0 && !asked) {
            asked = true;
            std::size_t k = 0;
            while (!differing.flags[k] || result.untouched.flags[k]) { k++; }
            const auto [left, right] = told_apart(result.got, decode(other.after, spec.element), static_cast<long>(k));
            Finding finding;
            if (two_orders) {
                finding = {
                    "order_dependent",
                    "",
                    "gives another result in another order of its threads",
                    {detail("", raced
                                    ? "one thread reads or overwrites what another one writes, and nothing orders them"
                                    : "no race was seen: a variable or array of a thread is read before it has a "
                                      "value, the order of atomics decides, or something is kept from one call to "
                                      "the next")}};
            } else if (deterministic()) {
                finding = {"uninitialised",
                           "",
                           "reads memory that it has not written: the result depends on what was there",
                           {detail("", "an output, scratch or local must be set before it is read or added to")}};
            } else {
                finding = {"nondeterministic",
                           "",
                           "gives another result each time it is run on the same inputs",
                           {detail("", "is something kept from one call to the next, a static variable?")}};
            }
            finding.details.push_back(detail(
                "first", fmt::format("{}   once {}   then {}", indexed(spec, static_cast<long>(k)), left, right)));
            verdict.findings.push_back(std::move(finding));
        }
        outputs.push_back(std::move(result));
    }

    const auto first_wrong = std::ranges::find_if(outputs, &Judged::wrong);
    if (first_wrong != outputs.end() && !verdict.untouched) {
        add_mismatch(verdict.findings, *first_wrong, is_model(outputs),
                     outputs.size() > 1 ? others_text(outputs, *first_wrong) : "");
        std::vector<Finding> explained = fitting_suspects(outputs);
        if (std::optional<Finding> moved = explained.empty() ? describe_displaced(*first_wrong) : std::nullopt) {
            explained.push_back(std::move(*moved));
        }
        std::ranges::move(explained, std::back_inserter(verdict.findings));
    } else if (first_wrong != outputs.end()) {
        verdict.findings.push_back({"untouched", "", "writes nothing: every output is as it was before the call"});
    }
    verdict.untouched = verdict.untouched && verdict.findings.size() == 1;
    verdict.ok = verdict.findings.empty();
    return verdict;
}

CallVerdict describe_sampled(const Call& call, const std::vector<std::span<const float>>& inputs,
                             std::span<const SampledElements* const> runs) {
    const Sampled& sampled = call.sampled.value();
    std::vector<long> elements;
    std::vector<float> got, expected, floor;
    for (const SampledElements* run : runs) {
        for (std::size_t i = 0; i < std::min<std::size_t>(run->count, SampledElements::kMost); i++) {
            const auto [value, error] = sampled.expected(run->written[i].element, inputs);
            elements.push_back(run->written[i].element);
            got.push_back(run->written[i].value);
            expected.push_back(static_cast<float>(value));
            floor.push_back(static_cast<float>(error));
        }
    }
    CallVerdict verdict;
    verdict.untouched = elements.empty();
    if (elements.empty()) {
        verdict.findings.push_back(
            {"untouched", "", fmt::format("nothing was written to {}", with_shape(sampled.output))});
        return verdict;
    }
    const auto count = static_cast<long>(elements.size());
    const Comparison comparison =
        compare(Dims("sample/i 1", {count, 1}), 1, got, {.values = expected, .floor = floor, .factor = sampled.factor});
    verdict.ok = comparison.ok();
    verdict.budget_used = comparison.used;
    if (!verdict.ok) {
        const auto first = static_cast<std::size_t>(comparison.first);
        const auto [is, should_be] = told_apart(got[first], expected[first]);
        verdict.findings.push_back(
            {"mismatch",
             "",
             fmt::format("{} of {} elements that were looked at are wrong", counted(comparison.wrong), counted(count)),
             {fmt::format("first\t{}   got {}   expected {}", indexed(sampled.output, elements[first]), is,
                          should_be)}});
    }
    return verdict;
}

}  // namespace checker
