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

std::size_t at(long i) {
    return static_cast<std::size_t>(i);
}

bool is_scalar(const BufferSpec& spec) {
    return spec.dims.rank() == 0;
}

std::string with_shape(const BufferSpec& spec) {
    return is_scalar(spec) ? spec.name : fmt::format("{} ({})", spec.name, spec.dims.text());
}

// "wrote past the end of out (B=2, T=8): element 16 is 1 past the end". `offset` in bytes, outside the data; `unit` is what
// is counted, of so many bytes each.
Finding outside(std::string_view did, const std::string& name, long offset, long bytes, std::string_view unit,
                long unit_bytes) {
    // Rounds down also before the start.
    const long at = offset >= 0 ? offset / unit_bytes : -((-offset + unit_bytes - 1) / unit_bytes);
    return {"out_of_bounds",
            fmt::format("{} {} of {}: {} {}{}", did, offset < 0 ? "before the start" : "past the end", name, unit,
                        format_count(at),
                        at < 0 ? "" : fmt::format(" is {} past the end", format_count(at - bytes / unit_bytes + 1)))};
}

Finding outside(std::string_view did, const BufferSpec& spec, long offset) {
    return outside(did, with_shape(spec), offset, static_cast<long>(spec.bytes()), "element",
                   static_cast<long>(bytes_of(spec.element)));
}

// Of scratch, or of a Context's workspace.
Finding outside_scratch(std::string_view did, const Reply& reply, const Call& call) {
    const std::string name = reply.buffer == kWorkspace
                                 ? "the workspace"
                                 : call.scratch.at(at(reply.buffer) - shared_specs(call).size()).name;
    const long bytes = static_cast<long>(reply.buffer_bytes);
    return outside(did, fmt::format("{} ({} bytes)", name, format_count(bytes)), reply.offset, bytes, "byte", 1);
}

Finding describe_memory_fault(const Reply& reply, const Call& call) {
    const std::string did = reply.access == FaultAccess::read    ? "read"
                            : reply.access == FaultAccess::write ? "wrote"
                                                                 : "read or wrote";
    if (reply.stack_overflow) {
        return {"crash", "overran the stack: a local array too large for it, or recursion without end"};
    }
    constexpr std::uint64_t kNullPages = 65536;
    if (reply.buffer < 0 && reply.address < kNullPages) {
        const std::string nulls =
            call.null.empty() ? "" : fmt::format(" ({} is null in this call)", fmt::join(call.null, ", "));
        return {"crash", did + " through a null pointer" + nulls};
    }
    if (reply.buffer < 0) {
        return {"crash", did + " at an address that belongs to no buffer (segmentation fault)"};
    }
    const std::vector<BufferSpec> specs = shared_specs(call);
    if (at(reply.buffer) >= specs.size()) {
        return outside_scratch(did, reply, call);
    }
    const BufferSpec& spec = specs[at(reply.buffer)];
    if (reply.earlier_call) {
        return {
            "out_of_bounds",
            fmt::format("{} {} where it lay in an earlier call: in the host's memory it may lie elsewhere each time",
                        did, with_shape(spec))};
    }
    const bool inside = reply.offset >= 0 && reply.offset < static_cast<long>(reply.buffer_bytes);
    return inside ? describe_changed_input(spec, reply.offset) : outside(did, spec, reply.offset);
}

constexpr int kSignalStatus = 128;  // and the signal's number: as shells and the worker's own handler give it

// Returns true for the status of a process that a signal ended.
bool is_of_signal(int status) {
    const std::array signals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGKILL};
    return std::ranges::find(signals, status - kSignalStatus) != signals.end();
}

Finding describe_fault(const Reply& reply, const Call& call) {
    switch (reply.signal) {
        case SIGFPE:
            return {"crash", "divided an integer by zero (SIGFPE)"};
        case SIGILL:
            return {"crash", "ran into an illegal instruction (SIGILL): a path that ends without return?"};
        case SIGABRT:
            return {"crash", "aborted (SIGABRT): the heap was overrun, or std::terminate or abort was called"};
        default:
            return describe_memory_fault(reply, call);
    }
}

// ---- values ----------------------------------------------------------------------------------------------------

struct Judged {
    const Output* output = nullptr;
    Decoded got;              // of the first run
    Elements untouched;       // that hold what they held before; of an in-out tensor those that are wrong by it
    bool left_alone = false;  // all of it holds what it held before
    Comparison comparison;
    bool wrong() const { return comparison.wrong > 0; }
};

// Returns "s=t", "s=t+1" of the axis's indices in wrong elements, where an earlier axis determines them; else nothing. Two
// values of an index may do so by chance.
std::string diagonal_text(const Dims& dims, std::size_t axis, const Comparison& comparison) {
    for (const Comparison::Diagonal& one : comparison.diagonals) {
        if (one.other == axis && comparison.high[axis] >= comparison.low[axis] + 2 * comparison.step[axis] &&
            comparison.step[axis] > 0) {
            return dims.index_name(axis) + '=' + dims.index_name(one.axis) +
                   (one.offset == 0 ? "" : fmt::format("{:+}", one.offset));
        }
    }
    return "";
}

// Returns "c=62", "c=32..63", "c=1, 5, .. 61", "t=1..7, s=t": the axes along which the wrong elements are not everywhere.
// Empty if they are.
std::string box_text(const Dims& dims, long columns, const Comparison& comparison) {
    std::vector<std::string> parts;
    for (std::size_t axis = 0; axis < dims.rank(); axis++) {
        if (std::string diagonal = diagonal_text(dims, axis, comparison); !diagonal.empty()) {
            parts.push_back(std::move(diagonal));
            continue;
        }
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

// Both rows of numbers around the element.
void add_around(std::vector<std::string>& details, const Judged& judged, long element) {
    const Dims& dims = judged.output->spec.dims;
    const Window window = around(dims, judged.output->columns, element);
    if (window.count < 2) {
        return;
    }
    const long begin = window.begin % dims.columns();
    std::string got = "around\tgot     ";
    constexpr std::size_t kLabel = 10;  // columns in the report, a space among them
    std::string label = fmt::format("{}={}..{}", dims.index_name(dims.rank() - 1), begin, begin + window.count - 1);
    if (label.size() >= kLabel) {
        label = fmt::format("{}={}..", dims.index_name(dims.rank() - 1), begin);
    }
    std::string expected = label + "\texpected";
    for (long i = window.begin; i < window.begin + window.count; i++) {
        const auto [left, right] = format_distinct(judged.got, Got(judged.output->expected), i);
        const bool empty = !judged.untouched.none() && judged.untouched.flags[at(i)];
        got += fmt::format(" {:>13}", empty ? "-" : left);
        expected += fmt::format(" {:>13}", right);
    }
    details.insert(details.end(), {got, expected});
}

// Elements that hold what they held before. `prefix` names the tensor of a model, `elements` says how many there are.
Finding describe_untouched(const Judged& judged, const std::string& prefix, const std::string& elements) {
    const BufferSpec& spec = judged.output->spec;
    const Elements& untouched = judged.untouched;
    if (untouched.count == judged.comparison.compared) {
        return {"untouched", fmt::format("{} not written: it is as it was before the call",
                                         prefix.empty() ? spec.name + " was" : prefix + "which was")};
    }
    return {"untouched",
            fmt::format("{}{} of {} {}", prefix, format_count(untouched.count), elements,
                        spec.role == Role::inout ? "still hold what they held before the call" : "were not written"),
            {"first\t" + indexed(spec, untouched.first)}};
}

// How far off wrong elements are: ", worst off by 2".
std::string how_wrong(const Judged& judged) {
    const BufferSpec& spec = judged.output->spec;
    const Comparison& c = judged.comparison;
    if (c.nonfinite > 0) {
        return is_scalar(spec) ? ": it is NaN or infinite"
                               : fmt::format(", {} of them NaN or infinite", format_count(c.nonfinite));
    }
    if (c.nonzero == c.wrong) {
        return ": they must be exactly 0";
    }
    if (is_integer(spec.element)) {
        return "";
    }
    if (!std::isfinite(c.used)) {
        return ": what is expected there is NaN or infinite";
    }
    const double worst = error(judged.got.values[at(c.worst)], judged.output->expected.values[at(c.worst)]);
    return fmt::format(", {}off by {}", is_scalar(spec) ? "" : "worst ", significant(worst));
}

// What the first wrong element may differ by, and how much of that it does; empty where no number says it.
std::string budget_there(const Judged& judged) {
    const Expected& expected = judged.output->expected;
    const std::size_t first = at(judged.comparison.first);
    if (expected.exact_zeros && expected.values[first] == 0.0F) {
        return "it must be exactly 0";
    }
    if (is_integer(judged.output->spec.element)) {
        return "an integer has no error budget";
    }
    const double allowed = budget_of(judged.output->spec.dims, expected, judged.comparison.first);
    const double used = error(judged.got.values[first], expected.values[first]) / allowed;
    const std::string& precision = judged.output->precision;
    return std::isfinite(used)
               ? fmt::format("the {}error budget there is {}; you used {} that",
                             precision == "fp32" ? "" : precision + " ", significant(allowed), times(used))
               : "";
}

// The first wrong output in full. `also` is what became of the others.
void add_mismatch(std::vector<Finding>& findings, const Judged& judged, bool of_model, const std::string& also) {
    const BufferSpec& spec = judged.output->spec;
    const Comparison& c = judged.comparison;
    const std::string prefix = of_model ? fmt::format("first diverging tensor: {}, ", spec.name) : "";
    const std::string elements = format_count(c.compared, "element") + (of_model ? "" : " of " + spec.name);
    const std::vector<std::string> others = also.empty() ? std::vector<std::string>() : std::vector{"also\t" + also};
    if (!judged.untouched.none()) {
        findings.push_back(describe_untouched(judged, prefix, elements));
        std::ranges::copy(others, std::back_inserter(findings.back().details));
    }
    if (c.first < 0) {
        return;
    }
    const std::string amount = is_scalar(spec) ? fmt::format("{}{} is wrong", prefix, spec.name)
                                               : fmt::format("{}{} of {} {} wrong", prefix, format_count(c.wrong),
                                                             elements, c.wrong == 1 ? "is" : "are");
    Finding finding{c.nonfinite > 0 ? "nonfinite" : "mismatch", amount + how_wrong(judged)};
    const auto [got, reference] = format_distinct(judged.got, Got(judged.output->expected), c.first);
    finding.details.push_back(fmt::format("first\t{}   got {}   expected {}", indexed(spec, c.first), got, reference));
    if (const std::string budget = budget_there(judged); !budget.empty()) {
        finding.details.push_back("\t" + budget);
    }
    add_around(finding.details, judged, c.first);
    if (const std::string box = box_text(spec.dims, judged.output->columns, c); c.wrong > 1 && !box.empty()) {
        finding.details.push_back("where\tevery wrong element has " + box);
    }
    if (judged.untouched.none()) {
        std::ranges::copy(others, std::back_inserter(finding.details));
    }
    findings.push_back(std::move(finding));
    if (c.nonfinite > 0 && c.wrong - judged.untouched.count > c.nonfinite) {
        findings.push_back({"mismatch", amount});
    }
}

// What became of the other outputs, in one line.
std::string others_text(std::span<const Judged> outputs, const Judged& first, bool of_model) {
    std::vector<std::string> wrong, right;
    for (const Judged& judged : outputs) {
        if (&judged != &first) {
            (judged.wrong() ? wrong : right).push_back(judged.output->spec.name);
        }
    }
    if (of_model) {
        return wrong.empty()
                   ? "every other tensor is right"
                   : fmt::format("{} of the {} other tensors are wrong too", wrong.size(), outputs.size() - 1);
    }
    std::vector<std::string> parts;
    for (const auto& [names, what] : {std::pair(wrong, "wrong too"), std::pair(right, "right")}) {
        if (!names.empty()) {
            parts.push_back(fmt::format("{} {} {}", fmt::join(names, " and "), names.size() > 1 ? "are" : "is", what));
        }
    }
    return fmt::format("{}", fmt::join(parts, "; "));
}

// Adds the suspects that fit every output they say something about, a wrong one among them, and the ids of those that do
// not fit.
void add_suspects(std::span<const Judged> outputs, std::vector<Finding>& findings, std::vector<std::string>& refuted) {
    struct Fit {
        const Suspect* suspect;
        bool fits = true, explains = false;
    };
    std::vector<Fit> all;  // one of each id
    for (const Judged& judged : outputs) {
        const Output& output = *judged.output;
        for (const Suspect& suspect : output.suspects) {
            auto known = std::ranges::find(all, suspect.id, [](const Fit& fit) { return fit.suspect->id; });
            if (known == all.end()) {
                known = all.insert(known, {&suspect});
            }
            known->fits = known->fits && fits(output.spec.dims, output.columns, judged.got, output.expected, suspect);
            known->explains = known->explains || judged.wrong();
        }
    }
    for (const Fit& fit : all) {
        if (fit.fits && fit.explains) {
            findings.push_back({.kind = "suspect", .text = fit.suspect->what, .id = fit.suspect->id});
        } else if (!fit.fits) {
            refuted.push_back(fit.suspect->id);
        }
    }
}

// "64 rows further on", "1 row further back and 3 columns further on"
std::string distance_text(const Displaced::Shift& shift) {
    std::vector<std::string> parts;
    for (const auto& [by, unit] : {std::pair(shift.rows, "row"), std::pair(shift.columns, "column")}) {
        if (by != 0) {
            parts.push_back(fmt::format("{} further {}", format_count(std::abs(by), unit), by > 0 ? "on" : "back"));
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
    Finding finding{"displaced", fmt::format("{} holds what belongs at {}", indexed(spec, found->element),
                                             indexed(spec, found->belongs))};
    const auto add = [&](long elements, std::string_view which, const std::string& where) {
        finding.details.push_back(fmt::format("\tso do {} of {} wrong elements{}: {}", format_count(elements),
                                              format_count(found->looked_at), which, where));
    };
    for (const Displaced::Shift& shift : found->shifts) { add(shift.elements, "", distance_text(shift)); }
    if (found->how != Displaced::How::shifted) {
        const std::string where = found->how == Displaced::How::in_row      ? "their row"
                                  : found->how == Displaced::How::in_column ? "their column"
                                  : found->how == Displaced::How::transposed
                                      ? spec.name + ", rows and columns exchanged"
                                      : spec.name;
        add(found->elements, " looked at", "elsewhere in " + where);
    }
    return finding;
}

}  // namespace

std::string indexed(const BufferSpec& spec, long element) {
    return is_scalar(spec) ? spec.name : fmt::format("{}[{}]", spec.name, spec.dims.index_text(element));
}

std::pair<std::string, std::string> format_distinct(const Got& one, const Got& other, long element) {
    const auto i = static_cast<std::size_t>(element);
    if (!one.integers.empty() && !other.integers.empty()) {
        return {std::to_string(one.integers[i]), std::to_string(other.integers[i])};
    }
    return format_distinct(one.values[i], other.values[i]);
}

std::optional<Finding> describe_outcome(const Outcome& outcome, const Op& op, const Call& call, double limit_seconds) {
    const auto finding = [](const char* kind, std::string text) {
        return std::optional(Finding{kind, std::move(text)});
    };
    switch (outcome.kind) {
        case Outcome::Kind::hung:
            return finding("hang", fmt::format("was still running after {} s: a loop that does not end?",
                                               significant(limit_seconds)));
        case Outcome::Kind::out_of_memory:
            return finding(
                "out_of_memory",
                fmt::format("took {} of memory, which is nearly all that was free: memory that is taken in a "
                            "loop and never given back?",
                            gib(outcome.memory)));
        case Outcome::Kind::exited:
            return finding("exit", fmt::format("ended the program with {} instead of returning",
                                               is_of_signal(outcome.status)
                                                   ? fmt::format("status {}, which is signal {} ({}),", outcome.status,
                                                                 outcome.status - kSignalStatus,
                                                                 strsignal(outcome.status - kSignalStatus))
                                                   : fmt::format("exit({})", outcome.status)));
        case Outcome::Kind::cut_off:
            return finding("exit", fmt::format("closed a file descriptor that it had not opened: {} and {} are the "
                                               "check's, which hears no more of it",
                                               kWorkerSocket, kWorkerMemory));
        case Outcome::Kind::killed:
            return finding("crash",
                           fmt::format("was killed by signal {} ({}){}", outcome.status, strsignal(outcome.status),
                                       outcome.status == SIGKILL   ? ": out of memory?"
                                       : outcome.status == SIGSEGV ? ": a thread of its own overran its stack?"
                                                                   : ""));
        case Outcome::Kind::answered:
            break;
    }
    const Reply& reply = outcome.reply;
    switch (reply.answer) {
        case Answer::done:
            return std::nullopt;
        case Answer::not_defined:
            return finding("not_defined",
                           fmt::format("has no function {} of the signature in {}", op.name, op.declared_in));
        case Answer::cannot_load:
            return finding("not_defined", reply.text);
        case Answer::broken:
            return findings_from_json(reply.findings).at(0);
        case Answer::fault:
            return describe_fault(reply, call);
        case Answer::threads:
            return Finding{"threads",
                           fmt::format("returned while {} that it started still ran: join each one before the end "
                                       "(a std::jthread is joined where its scope ends), and detach none",
                                       format_count(reply.threads, "thread"))};
        case Answer::guard_violation:
            return outside_scratch("wrote", reply, call);
        case Answer::left_changed:
            return finding("left_changed", reply.text);
        default:
            return finding("exception", fmt::format("threw an exception: {}", reply.text));
    }
}

Finding describe_changed_input(const BufferSpec& spec, long offset) {
    return {"input_changed", fmt::format("wrote to {}: an input, which must stay as it is",
                                         indexed(spec, offset / static_cast<long>(bytes_of(spec.element))))};
}

std::optional<Finding> find_changed_input(const BufferSpec& spec, std::span<const std::byte> was,
                                          std::span<const std::byte> now) {
    if (std::memcmp(was.data(), now.data(), was.size()) == 0) {  // nearly always, and it may be gigabytes
        return std::nullopt;
    }
    return describe_changed_input(spec, std::ranges::mismatch(was, now).in1 - was.begin());
}

Finding describe_guard_violation(const BufferSpec& spec, long offset) {
    return outside("wrote", spec, offset);
}

// "out[b=0]   once 1.0000   then 2.0000", of two runs.
static std::string once_and_then(const BufferSpec& spec, const Got& one, const Got& other, long element) {
    const auto [left, right] = format_distinct(one, other, element);
    return fmt::format("{}   once {}   then {}", indexed(spec, element), left, right);
}

// One output of two orders of a kernel's threads, where it adds floats atomically.
static void add_order_dependence(CallVerdict& verdict, const Judged& one, const Judged& other,
                                 const Elements& differing, const std::string& float_atomics) {
    const BufferSpec& spec = one.output->spec;
    long first = -1, beyond = -1;
    for (long i = 0; i < spec.dims.elements() && beyond < 0; i++) {
        if (!differing.flags[at(i)] || one.untouched.holds(i)) {
            continue;
        }
        first = first < 0 ? i : first;
        const double budget = budget_of(spec.dims, one.output->expected, i);
        beyond = error(one.got.values[at(i)], other.got.values[at(i)]) <= budget ? -1 : i;
    }
    if (beyond < 0 && !one.wrong() && other.wrong()) {
        beyond = other.comparison.first;
    }
    const bool several = float_atomics.find(',') != std::string::npos;
    const std::string who = fmt::format("{} {} floats atomically", float_atomics, several ? "add" : "adds");
    if (beyond >= 0) {
        verdict.findings.push_back(
            {"order_dependent",
             "gives another result in another order of its threads, and the error budget does not cover it",
             {"first\t" + once_and_then(spec, one.got, other.got, beyond),
              "\t" + who + ": each order rounds in its own way"}});
    } else if (first >= 0 && !one.wrong() && verdict.note.empty()) {
        const auto [left, right] = format_distinct(one.got, other.got, first);
        verdict.note = fmt::format("order-dependent: {}; two orders gave {} and {} at {}, both within the budget", who,
                                   left, right, indexed(spec, first));
    }
}

// Why two runs differ, where nothing allows it.
static Finding describe_difference(const std::function<bool()>& deterministic, bool two_orders, bool raced) {
    if (two_orders) {
        return {"order_dependent",
                "gives another result in another order of its threads",
                {raced ? "\tone thread reads or overwrites what another one writes, and nothing orders them"
                       : "\tno race was seen: a variable or array of a thread is read before it has a value, the order "
                         "of atomics decides, or something is kept from one call to the next"}};
    }
    if (deterministic()) {
        return {"uninitialised",
                "reads memory that it has not written: the result depends on what was there",
                {"\tan output, scratch or local must be set before it is read or added to"}};
    }
    return {"nondeterministic",
            "gives another result each time it is run on the same inputs",
            {"\tis something kept from one call to the next, a static variable?"}};
}

bool explains(const Finding& finding) {
    constexpr std::array kReasons{"suspect", "displaced", "uninitialised", "nondeterministic", "order_dependent"};
    return std::ranges::find(kReasons, finding.kind) != kReasons.end();
}

bool matches_prefix(const Got& got, const Output& earlier) {
    const Dims& dims = earlier.spec.dims;
    const std::size_t count = std::min(got.values.size(), earlier.expected.values.size());
    std::set<float> different;
    for (std::size_t i = 0; i < count; i++) {
        const auto element = static_cast<long>(i);
        if (element % dims.columns() >= earlier.columns) {
            continue;
        }
        const float value = earlier.expected.values[i];
        if (!(error(got.values[i], value) <= kFewBudgets * budget_of(dims, earlier.expected, element))) {
            return false;
        }
        different.insert(value);
    }
    constexpr std::size_t kTelling = 4;
    return different.size() >= kTelling;
}

Finding describe_kept(const std::string& where, const std::string& gave) {
    return {
        "kept",
        gave.empty() ? fmt::format("is right{} as the first call, and wrong after other calls", where)
                     : fmt::format("gives what an earlier call gave: {}", gave),
        {gave.empty() ? "\tis something kept from one call to the next: a static variable, a cache known by a pointer?"
                      : "\tas the first call it is right: is something kept from one call to the next, a static "
                        "variable, a cache known by a pointer?",
         "\ta later call may find other values at the same address"}};
}

void blame_threads(std::vector<Finding>& findings) {
    std::erase_if(findings, explains);
    if (findings.empty()) {
        findings.push_back({"nondeterministic", "gives another result each time it is run on the same inputs"});
    }
    findings.front().details.push_back(
        "threads\ton one thread it is right: do two of them use one buffer, a static array for example, or write the "
        "same elements, or is there a part that none of them takes?");
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
        result.untouched = select(dims, 0, output.columns, [&](long i) {
            return result.untouched.holds(i) && !is_right(dims, result.got, output.expected, i);
        });
    }
    result.comparison = compare(dims, output.columns, result.got, output.expected, result.untouched.flags);
    return result;
}

// A write to what is no part of the result.
static std::optional<Finding> describe_padding(const Output& output, const Run& one, const Run& other) {
    const long begin = output.stays_untouched ? 0 : output.columns;
    const bool zero_is_right = output.zero_in_padding && !output.stays_untouched;
    const Elements written = touched_padding(output.spec.dims, begin, one, other, zero_is_right);
    if (written.none()) {
        return std::nullopt;
    }
    const std::string where = indexed(output.spec, written.first);
    return Finding{"padding", output.stays_untouched
                                  ? fmt::format("wrote to {}, which must stay as it was in this call", where)
                                  : fmt::format("wrote to {}: columns {} and beyond are padding, to be left alone{}",
                                                where, format_count(output.columns), zero_is_right ? " or 0" : "")};
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
        if (std::optional<Finding> padding = describe_padding(output, one, other)) {
            verdict.findings.push_back(std::move(*padding));
        }
        if (output.stays_untouched) {
            continue;
        }
        Judged result = compared_output(output, one, other);
        verdict.untouched = verdict.untouched && result.left_alone;
        verdict.budget_used =
            std::max(verdict.budget_used,
                     result.untouched.none() ? result.comparison.used : std::numeric_limits<double>::infinity());

        const Elements differing = disagreeing(spec.dims, output.columns, one, other);
        // Untouched elements of an output hold two poisons.
        const bool differs = differing.count > (spec.role == Role::output ? result.untouched.count : 0);
        const Judged again = differs ? compared_output(output, other, one) : Judged{};
        if (differs && !float_atomics.empty()) {
            verdict.budget_used = std::max(verdict.budget_used, again.comparison.used);
            add_order_dependence(verdict, result, again, differing, float_atomics);
        } else if (differs && !asked) {
            asked = true;
            long k = 0;
            while (!differing.flags[at(k)] || result.untouched.flags[at(k)]) { k++; }
            verdict.findings.push_back(describe_difference(deterministic, two_orders, raced));
            verdict.findings.back().details.push_back("first\t" + once_and_then(spec, result.got, again.got, k));
        }
        outputs.push_back(std::move(result));
    }

    const auto first_wrong = std::ranges::find_if(outputs, &Judged::wrong);
    if (first_wrong != outputs.end() && !verdict.untouched) {
        verdict.of_model = call.is_model;
        add_mismatch(verdict.findings, *first_wrong, verdict.of_model,
                     outputs.size() > 1 ? others_text(outputs, *first_wrong, call.is_model) : "");
        std::vector<Finding> explained;
        add_suspects(outputs, explained, verdict.refuted);
        if (std::optional<Finding> moved = explained.empty() ? describe_displaced(*first_wrong) : std::nullopt) {
            explained.push_back(std::move(*moved));
        }
        std::ranges::move(explained, std::back_inserter(verdict.findings));
    } else if (first_wrong != outputs.end()) {
        verdict.findings.push_back({"untouched", "writes nothing: every output is as it was before the call"});
    }
    verdict.untouched = verdict.untouched && verdict.findings.size() == 1;
    verdict.ok = verdict.findings.empty();
    return verdict;
}

void add_early_exits(CallVerdict& verdict, const std::string& early_exits) {
    const auto is_one_of = [&](std::initializer_list<std::string_view> kinds) {
        return std::ranges::find_if(verdict.findings, [kinds](const Finding& finding) {
            return std::ranges::find(kinds, finding.kind) != kinds.end();
        });
    };
    const auto wrong = is_one_of({"mismatch", "nonfinite", "untouched"});
    if (!early_exits.empty() && wrong != verdict.findings.end() &&
        is_one_of({"suspect", "displaced"}) == verdict.findings.end()) {
        wrong->details.push_back("left\t" + early_exits + ": what they should have done from there on is missing");
    }
}

void put_consequences_last(std::vector<Finding>& findings, bool of_model) {
    if (of_model) {
        std::ranges::stable_partition(findings, [](const Finding& finding) { return finding.kind != "uninitialised"; });
    }
}

std::optional<Finding> describe_bf16(const Call& call, const std::vector<std::span<const float>>& inputs,
                                     std::span<const Content> outputs) {
    if (!call.rounded_to_bf16) {
        return std::nullopt;
    }
    const std::vector<Computed> rounded = call.rounded_to_bf16(inputs);
    bool tells = false;
    for (std::size_t i = 0; i < call.outputs.size(); i++) {
        const Output& output = call.outputs[i];
        const Dims& dims = output.spec.dims;
        Expected in_bf16 = output.expected;
        in_bf16.values = rounded[i].values;
        const Decoded got = decode(outputs[i].after, output.spec.element);
        const std::optional<double> nearer = times_nearer(dims, output.columns, got, in_bf16, output.expected.values);
        if ((nearer && *nearer < kTooNear) ||
            !fits(dims, output.columns, got, in_bf16, {.id = "", .what = "", .values = in_bf16.values})) {
            return std::nullopt;
        }
        tells = tells || nearer;
    }
    if (!tells) {
        return std::nullopt;
    }
    return Finding{.kind = "suspect",
                   .text = "the factors of the products were rounded to bf16, which has 8 bits; TF32 has 11",
                   .id = "bf16_factors"};
}

PrecisionVerdict describe_precision(const Call& call, const std::vector<std::span<const float>>& inputs,
                                    std::span<const Content> outputs) {
    PrecisionVerdict verdict;
    if (!call.rounded) {
        return verdict;
    }
    const std::vector<Computed> rounded = call.rounded(inputs);
    for (std::size_t i = 0; i < call.outputs.size(); i++) {
        const Output& output = call.outputs[i];
        const Decoded got = decode(outputs[i].after, output.spec.element);
        const std::optional<double> nearer =
            times_nearer(output.spec.dims, output.columns, got, output.expected, rounded[i].values);
        verdict.shows = verdict.shows || (nearer && *nearer < kTooNear);
        if (!nearer || *nearer < kTooNear || verdict.too_accurate) {
            continue;
        }
        std::string precision = output.precision;
        std::ranges::transform(precision, precision.begin(), [](unsigned char c) { return std::toupper(c); });
        const std::string in = call.outputs.size() > 1 ? " in " + output.spec.name : "";
        verdict.too_accurate =
            Finding{"too_accurate",
                    std::isfinite(*nearer)
                        ? fmt::format("{0} is not active: your error{1} is {2} smaller than {0}'s", precision, in,
                                      times(*nearer))
                        : fmt::format("{} is not active: half of your values{} have no error at all", precision, in)};
    }
    return verdict;
}

std::optional<Finding> describe_work(const Call& call, double bytes_asked) {
    if (bytes_asked > 0 && bytes_asked >= call.least_bytes / 2) {
        return std::nullopt;
    }
    const std::string asked = format_count(std::lround(bytes_asked));
    return Finding{"host_work",
                   bytes_asked > 0
                       ? fmt::format("its kernels ask for {} bytes of global memory, and the op reads and writes {}: "
                                     "the rest of the work is not the device's",
                                     asked, format_count(std::lround(call.least_bytes)))
                       : "no kernel of it touches the device's memory: the output was computed on the host and "
                         "copied, and the work is to be done by a kernel"};
}

// What no block of a sampled call writes, as far as those that were run show it: they are drawn from all, so all blocks
// together write about as much more as they are more. Blocks may have tiles of different sizes, or none; so only where
// that is less than half of the output, or where all blocks were run, it is said.
static std::optional<Finding> describe_left_out(const BufferSpec& output,
                                                std::span<const SampledElements* const> runs) {
    const auto elements = static_cast<double>(output.dims.elements());
    double run = 0, of = 0, written = 0;
    for (const SampledElements* one : runs) {
        run += static_cast<double>(one->blocks_run);
        of += static_cast<double>(one->blocks);
        written += static_cast<double>(one->all_written);
    }
    const double all = written * of / run / static_cast<double>(runs.size());
    if (!(all < (run < of ? 0.5 : 1.0) * elements)) {
        return std::nullopt;
    }
    const auto number = [](double n) { return format_count(std::lround(n)); };
    return Finding{
        "untouched",
        run < of ? fmt::format("most of {} is written by no block: all of them together write about {} of it",
                               with_shape(output), percent(all / elements))
                 : fmt::format("{} of the {} elements of {} are written by no block", number(elements - all),
                               number(elements), output.name),
        {fmt::format("ran\t{} of {} blocks, which wrote {} elements", number(run), number(of), number(written))}};
}

CallVerdict describe_sampled(const Call& call, const std::vector<std::span<const float>>& inputs,
                             std::span<const SampledElements* const> runs) {
    const Sampled& sampled = call.sampled.value();
    std::vector<long> elements;
    std::vector<float> got, expected, floor;
    for (const SampledElements* run : runs) {
        for (std::size_t i = 0; i < std::min<std::size_t>(run->count, SampledElements::kMost); i++) {
            elements.push_back(run->written[i].element);
            if (!sampled.expected) {
                continue;
            }
            const auto [value, error] = sampled.expected(run->written[i].element, inputs);
            got.push_back(run->written[i].value);
            expected.push_back(static_cast<float>(value));
            floor.push_back(static_cast<float>(error));
        }
    }
    CallVerdict verdict;
    verdict.untouched = elements.empty();
    if (elements.empty()) {
        verdict.findings.push_back({"untouched", fmt::format("nothing was written to {}", with_shape(sampled.output))});
        return verdict;
    }
    const auto count = static_cast<long>(got.size());
    Comparison comparison;
    if (count > 0) {
        const Element element = sampled.output.element;
        comparison = compare(Dims("sample/i 1", {count, 1}), 1, got,
                             {.values = expected,
                              .floor = floor,
                              .factor = sampled.factor,
                              .element = is_integer(element) ? Element::f32 : element});  // sampled as floats
    }
    verdict.ok = comparison.ok();
    verdict.budget_used = comparison.used;
    if (!verdict.ok) {
        const auto first = static_cast<std::size_t>(comparison.first);
        const auto [is, should_be] = format_distinct(got[first], expected[first]);
        verdict.findings.push_back({"mismatch",
                                    fmt::format("{} of {} elements that were looked at are wrong",
                                                format_count(comparison.wrong), format_count(count)),
                                    {fmt::format("first\t{}   got {}   expected {}",
                                                 indexed(sampled.output, elements[first]), is, should_be)}});
    }
    const bool cut = std::ranges::any_of(runs, [](const SampledElements* run) { return run->blocks_cut > 0; });
    if (std::optional<Finding> left = cut ? std::nullopt : describe_left_out(sampled.output, runs)) {
        verdict.ok = false;
        verdict.findings.push_back(std::move(*left));
    }
    return verdict;
}

}  // namespace checker
