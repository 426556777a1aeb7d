// SPDX-License-Identifier: MIT
#include "checker/judge/judge.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iterator>
#include <mutex>
#include <random>
#include <sstream>
#include <thread>

#include "checker/base/course.h"
#include "checker/base/files.h"
#include "checker/base/text.h"
#include "checker/cases/recorded.h"
#include "checker/judge/compare.h"
#include "checker/judge/describe.h"
#include "checker/worker/device_backend.h"
#include "checker/worker/time_op.h"

namespace checker {
namespace {

constexpr const char* kRecords = "reference/timings";

// Of the largest value in a row, how much two right results may differ there.
double share_of_row(const std::string& precision) {
    return precision == "fp32" ? 1e-4 : precision == "tf32" ? 1e-2 : 5e-2;
}

// What a call reads, decoded: its inputs, then what its in-out tensors hold before.
class ValuesRead {
  public:
    ValuesRead(const Call& call, std::uint64_t seed) {
        for (const Input& input : call.inputs) { add(input.spec, input.fill, seed); }
        for (const Output& output : call.outputs) {
            if (output.spec.role == Role::inout) {
                add(output.spec, output.initial, seed);
            }
        }
    }
    std::vector<std::span<const float>> views() const {
        std::vector<std::span<const float>> views;
        for (const Decoded& decoded : read_) { views.emplace_back(decoded.values); }
        return views;
    }

  private:
    void add(const BufferSpec& spec, const FillFunction& fill, std::uint64_t seed) {
        if (!fill) {
            read_.emplace_back();  // what earlier calls left is not known here
        } else if (spec.element == Element::f32) {
            read_.push_back({.values = std::vector<float>(spec.bytes() / sizeof(float)), .integers = {}});
            fill(std::as_writable_bytes(std::span(read_.back().values)), seed);
        } else {
            std::vector<std::byte> bytes(spec.bytes());
            fill(bytes, seed);
            read_.push_back(decode(bytes, spec.element));
        }
    }

    std::vector<Decoded> read_;
};

// A call whose outputs all have values to compare with: those that are computed from the inputs are computed here.
class ComputedCall {
  public:
    ComputedCall(const Call& call, std::uint64_t seed) : call_(&call) {
        if (std::ranges::none_of(call.outputs, [](const Output& output) { return output.compute != nullptr; })) {
            return;
        }
        const ValuesRead read(call, seed);
        call_ = &own_.emplace(call);
        for (Output& output : own_->outputs) {
            if (output.compute != nullptr) {
                const Computed& computed = computed_.emplace_back(output.compute(read.views()));
                output.expected = {.values = computed.values,
                                   .floor = computed.floor,
                                   .factor = computed.factor,
                                   .element = output.spec.element,
                                   .integers = computed.integers};
            }
        }
    }
    ComputedCall(const ComputedCall&) = delete;
    ComputedCall& operator=(const ComputedCall&) = delete;

    const Call& call() const { return *call_; }

  private:
    const Call* call_;
    std::optional<Call> own_;
    std::deque<Computed> computed_;
};

// An output's values, where they lie if they are floats: a timed one may be as large as what is left of memory.
class Values {
  public:
    Values(std::span<const std::byte> memory, Element element)
        : memory_(memory), element_(element), decoded_(element == Element::f32 ? Decoded{} : decode(memory, element)) {}
    Got got() const {
        if (element_ != Element::f32) {
            return decoded_;
        }
        return std::span(reinterpret_cast<const float*>(memory_.data()), memory_.size() / sizeof(float));
    }

  private:
    std::span<const std::byte> memory_;
    Element element_;
    Decoded decoded_;
};

// Some elements of an output that says what a single one should be; of any other none.
class SomeExpected {
  public:
    SomeExpected(const Output& output, const std::vector<std::span<const float>>& inputs, std::uint64_t seed)
        : factor_(output.factor), type_(output.spec.element) {
        if (!output.element) {
            return;
        }
        elements_ = elements_to_look_at(output.spec.dims, output.columns, seed);
        values_.resize(elements_.size());
        floor_.resize(elements_.size());
        const std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
        std::vector<std::jthread> running;
        for (std::size_t thread = 0; thread < threads; thread++) {
            running.emplace_back([&, thread] {
                for (std::size_t i = thread * elements_.size() / threads; i < (thread + 1) * elements_.size() / threads;
                     i++) {
                    const auto [value, floor] = output.element(elements_[i], inputs);
                    values_[i] = static_cast<float>(value);
                    floor_[i] = static_cast<float>(floor);
                }
            });
        }
        running.clear();
        floor_ = floors_of_rows(output.spec.dims, elements_, floor_);
    }

    long element(long at) const { return elements_[static_cast<std::size_t>(at)]; }
    Expected expected() const { return {.values = values_, .floor = floor_, .factor = factor_, .element = type_}; }
    // These elements' values.
    std::vector<float> of(const Got& all) const {
        std::vector<float> some;
        for (const long element : elements_) { some.push_back(all.values[static_cast<std::size_t>(element)]); }
        return some;
    }
    // Which of them is the first wrong one; -1: none.
    long first_wrong(const Got& all) const {
        const auto count = static_cast<long>(elements_.size());
        return count == 0 ? -1 : compare(Dims("sample/i 1", {count, 1}), 1, of(all), expected()).first;
    }

  private:
    double factor_;
    Element type_;
    std::vector<long> elements_;
    std::vector<float> values_, floor_;
};

// While it lives, the line says each second for how long the judge itself has worked.
class ShownWhileItWorks {
  public:
    ShownWhileItWorks(ProgressLine& line, std::string what) : line_(line) {
        line_.start(std::move(what));
        if (!line.shows()) {
            return;
        }
        shows_ = std::jthread([this](const std::stop_token& stop) {
            std::mutex mutex;
            std::condition_variable_any ended;
            std::unique_lock lock(mutex);
            for (int seconds = 1;; seconds++) {
                ended.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
                if (stop.stop_requested()) {
                    return;
                }
                line_.update(fmt::format("{} s", seconds));
            }
        });
    }
    ~ShownWhileItWorks() {
        shows_ = {};  // ends it
        line_.finish();
    }
    ShownWhileItWorks(const ShownWhileItWorks&) = delete;
    ShownWhileItWorks& operator=(const ShownWhileItWorks&) = delete;

  private:
    ProgressLine& line_;
    std::jthread shows_;
};

// The findings of a kind, which are no longer among the others.
std::vector<Finding> take(std::string_view kind, std::vector<Finding>& findings) {
    const auto rest = std::ranges::stable_partition(findings, [&](const Finding& one) { return one.kind != kind; });
    std::vector<Finding> taken(std::move_iterator(rest.begin()), std::move_iterator(rest.end()));
    findings.erase(rest.begin(), rest.end());
    return taken;
}

// Returns true if the op was stopped at an access outside of its buffers: it may be right, or wrong in another way, at
// shapes where the same access stays inside.
bool is_wild_access(const Finding& finding) {
    return finding.kind == "out_of_bounds" || finding.kind == "crash";
}

// Returns true if a finding says which mistake made the values; explains() is also true for what only makes them doubtful.
bool is_explained(const std::vector<Finding>& findings) {
    constexpr std::array kReasons{"suspect", "displaced", "kept"};
    return std::ranges::find_first_of(findings, kReasons, {}, &Finding::kind) != findings.end();
}

// Returns the suspects among a call's findings, with the call.
std::vector<Finding> suspects_at(const Call& call, const std::vector<Finding>& findings) {
    std::vector<Finding> suspects;
    for (const Finding& finding : findings) {
        if (finding.kind == "suspect") {
            suspects.push_back(finding);
            suspects.back().details = {call.where};
        }
    }
    return suspects;
}

// Returns true if describe_precision and describe_bf16 can judge it: what earlier calls of a sequence left is not known
// here.
bool has_rounded_reference(const Call& call) {
    return call.rounded != nullptr &&
           std::ranges::all_of(call.inputs, [](const Input& input) { return input.fill != nullptr; });
}

// How many times as fast two threads are as one.
std::optional<Ratio> two_threads_ratio(const ShapeTiming& timing) {
    const std::optional<Ratio> share = timing.of(Baseline::two_threads);
    return share ? std::optional(inverse(*share)) : std::nullopt;
}

// What a shape's intervals say to its target: the worst of what is asked.
SpeedVerdict speed_of_shape(const ShapeTiming& timing, const Target& target) {
    SpeedVerdict verdict =
        timing.by_gap() ? at_most(*timing.gap, target.gap) : speed_of(timing.share.at(target.against), target.shares);
    const auto also = [&](const std::optional<Ratio>& ratio, const Shares& least) {
        if (!ratio || verdict.speed == Speed::slow) {
            return;
        }
        const SpeedVerdict other = speed_of(*ratio, least);
        verdict = other.speed == Speed::fast ? SpeedVerdict{verdict.speed, std::min(verdict.medal, other.medal)}
                                             : SpeedVerdict{other.speed, Medal::none};
    };
    also(timing.of(Baseline::older), target.older);
    const double both = 2 * target.threads;
    also(two_threads_ratio(timing), {both, both, both});
    return verdict;
}

// A rival that was asked for and is not there is asked for no more, and a note says so once, not at each shape.
void leave_out_missing(const Reply& reply, const Timed& timed, std::uint32_t& baselines,
                       std::vector<std::string>& notes) {
    const std::uint32_t missing = baselines & reply.missing;
    if (missing == 0) {
        return;
    }
    baselines &= ~missing;
    const std::string note = fmt::format("{}: {}",
                                         (missing & bit(Baseline::busy)) != 0 ? "how long the GPU works is not known"
                                                                              : timed.library->name + " is not timed",
                                         reply.text);
    if (std::ranges::find(notes, note) == notes.end()) {
        notes.push_back(note);
    }
}

// What the worker measured.
void put_times(ShapeTiming& timing, const Reply& reply, std::uint32_t baselines) {
    timing.seconds = reply.subject;
    timing.discarded = reply.discarded;
    for (std::size_t i = 0; i < kRivals; i++) {
        const auto baseline = static_cast<Baseline>(i);
        if ((baselines & bit(baseline)) != 0) {
            timing.share[baseline] = inverse(reply.ratio[i]);
        }
    }
    if (timing.share.contains(Baseline::busy)) {
        timing.gap = reply.gap;
    }
    if (timing.share.contains(Baseline::arithmetic)) {  // the rate of what does other work
        Ratio& share = timing.share.at(Baseline::arithmetic);
        const double work = timing.flop / reply.arithmetic_flop;
        share = {share.value * work, {share.interval.low * work, share.interval.high * work}};
    }
}

// The verdict on an attempt after one that said `before`.
void put_speed(ShapeTiming& timing, const SpeedVerdict& speed, Speed before) {
    timing.medal = speed.medal;
    timing.verdict = speed.speed == Speed::fast                            ? Verdict::ok
                     : speed.speed == Speed::slow && before == Speed::slow ? Verdict::slow
                                                                           : Verdict::no_verdict;
}

// The medal if each share were known without noise.
Medal without_noise(ShapeTiming timing, const Target& target) {
    for (auto& [baseline, ratio] : timing.share) { ratio.interval = {ratio.value, ratio.value}; }
    return speed_of_shape(timing, target).medal;
}

// Returns true if more samples would change nothing. As long as there is `medal_time`, a medal that only noise keeps low
// needs more.
bool is_settled(const ShapeTiming& timing, const Target& target, bool medal_time) {
    if (timing.by_gap()) {
        return timing.verdict != Verdict::no_verdict;
    }
    const bool medal_open = medal_time && without_noise(timing, target) > timing.medal;
    return timing.verdict == Verdict::slow || (timing.verdict == Verdict::ok && !medal_open);
}

double above(Baseline roof) {
    return roof == Baseline::arithmetic ? kAboveArithmetic : kAboveCopy;
}

std::string share_of_roof(Baseline roof, double share) {
    return fmt::format("{} {}", times(share),
                       roof == Baseline::copy       ? "a copy's speed"
                       : roof == Baseline::read     ? "a read's speed"
                       : device_backend().is_host() ? "the multiply-adds of one core"
                                                    : "the multiply-adds of the card");
}

// The roof that a rate lies above: that of its work, or the copy or read whose speed it is a share of.
std::optional<Baseline> beaten_roof(const ShapeTiming& timing, Baseline against) {
    for (const Baseline roof : {timing.roof(), Baseline::copy, Baseline::read}) {
        const std::optional<Ratio> share = timing.of(roof);
        if ((roof == timing.roof() || roof == against) && share && impossible(*share, above(roof))) {
            return roof;
        }
    }
    return std::nullopt;
}

// The solution's share of a roof's speed.
double of_solution(const ShapeTiming& timing, Baseline roof) {
    return timing.of(roof)->value / timing.share.at(Baseline::solution).value;
}

// Whether the solution is above the roof too: then it is the roof that something slowed down.
bool is_wrong(const ShapeTiming& timing, Baseline roof) {
    return of_solution(timing, roof) > above(roof);
}

// While it lives, the worker's libraries compute in fp32 what they were asked to compute in TF32, so that an op of fp32 is
// compared with older solutions in its own precision. They read the variable as they start, so the worker is a new one.
class WithoutTf32 {
  public:
    explicit WithoutTf32(WorkerProcess& worker) : worker_(worker) { set("0"); }
    ~WithoutTf32() { set(before_ ? before_->c_str() : nullptr); }
    WithoutTf32(const WithoutTf32&) = delete;
    WithoutTf32& operator=(const WithoutTf32&) = delete;

  private:
    static constexpr const char* kVariable = "NVIDIA_TF32_OVERRIDE";
    void set(const char* value) {
        worker_.stop();
        value != nullptr ? setenv(kVariable, value, 1) : unsetenv(kVariable);
    }

    WorkerProcess& worker_;
    const std::optional<std::string> before_ =
        std::getenv(kVariable) == nullptr ? std::nullopt : std::optional<std::string>(std::getenv(kVariable));
};

// In bytes: it is drawn in the host's memory before it goes to a device.
std::size_t largest_input(const Call& call) {
    std::size_t largest = 0;
    for (const Input& input : call.inputs) { largest = std::max(largest, input.spec.bytes()); }
    return largest;
}

std::string older_text(const Ratio& older, const Shares& target) {
    return fmt::format("{} as fast as the older lesson's solution, the target is {}", times(older.value),
                       significant(target.bronze));
}

// Which of the targets was missed.
std::string slow_text(const ShapeTiming& timing, const Target& target, const std::string& library) {
    if (timing.by_gap() && timing.gap->interval.low > target.gap.bronze) {
        return fmt::format("gaps of {} for each of the GPU's nodes, bronze is {}", milliseconds(timing.gap->median),
                           milliseconds(target.gap.bronze));
    }
    const Ratio& share = timing.share.at(target.against);
    if (!timing.by_gap() && share.interval.high < target.shares.bronze) {
        if (target.against == Baseline::busy) {
            return fmt::format("of which the GPU works {}, bronze is {}", percent(share.value),
                               percent(target.shares.bronze));
        }
        if (target.against == Baseline::older) {
            return older_text(share, target.shares);
        }
        return fmt::format("{} of {} speed, bronze is {}", percent(share.value),
                           whose(to_string(target.against), library), percent(target.shares.bronze));
    }
    if (const std::optional<Ratio> older = timing.of(Baseline::older);
        older && older->interval.high < target.older.bronze) {
        return older_text(*older, target.older);
    }
    return fmt::format("two threads are {} as fast as one, the target is {}", times(two_threads_ratio(timing)->value),
                       significant(2 * target.threads));
}

}  // namespace

Judge::Judge(const Lesson& lesson, std::filesystem::path impl_dir, std::filesystem::path reference_dir,
             std::vector<std::string> worker_arguments, std::chrono::duration<double> limit)
    : lesson_(lesson),
      impl_dir_(std::move(impl_dir)),
      reference_dir_(std::move(reference_dir)),
      limit_(limit),
      worker_(std::move(worker_arguments), memory_.fd(), limit) {}

Outcome Judge::ask(const Request& request, const std::string& what) {
    progress_.start(what);
    worker_.on_waiting([&](double seconds) {
        progress_.update(fmt::format("running for {:.0f} s, stopped at {:.0f} s", seconds, limit_.count()));
    });
    Outcome outcome = worker_.ask(request);
    progress_.finish();
    if (outcome.says(Answer::no_device)) {
        throw std::runtime_error(outcome.reply.text);
    }
    return outcome;
}

void Judge::require_device(const LessonToml& toml) {
    const Outcome outcome = ask({.kind = RequestKind::start}, "starting the device");
    if (!outcome.says(Answer::done)) {
        throw std::runtime_error(fmt::format(
            "no GPU can be used: its driver {} when it was asked for one; nvidia-smi may say why, a restart mends it",
            outcome.kind == Outcome::Kind::hung ? fmt::format("has not answered in {} s", significant(limit_.count()))
                                                : "ended the process"));
    }
    card_ = {outcome.reply.text, outcome.reply.capability};
    if (const std::string lacks = unmet(toml, card_); !lacks.empty()) {
        throw std::runtime_error(lacks);
    }
}

std::optional<Finding> Judge::finding_of(const Outcome& outcome, const Op& op, const Call& call) const {
    std::optional<Finding> finding = describe_outcome(outcome, op, call, limit_.count());
    if (finding && finding->kind == "not_defined") {
        for (const std::string& line : declaration_of(op.name, op.declared_in)) {
            finding->details.push_back((finding->details.empty() ? "wanted\t" : "\t") + line);
        }
    }
    return finding;
}

Judge::RunResult Judge::run(std::size_t op_index, std::size_t case_index, std::size_t call_index, Schedule schedule,
                            bool on_one_thread) {
    const Op& op = lesson_.op_at(op_index);
    const Call& call = op.cases.at(case_index).calls.at(call_index);
    const std::vector<BufferSpec> specs = shared_specs(call);
    const std::vector<BufferSlot> slots = slots_of(op.cases.at(case_index), call_index, schedule);
    const auto copy_of = [&](std::size_t i) {
        const std::span<const std::byte> data = memory_.data(slots[i]);
        return std::vector<std::byte>(data.begin(), data.end());
    };
    RunResult result;
    try {
        initialise(memory_, call, slots, schedule);
    } catch (const OutOfMemory& error) {
        result.out_of_memory = error.what();
        return result;
    }

    for (std::size_t i = call.inputs.size(); i < specs.size(); i++) {
        result.outputs.emplace_back();
        if (specs[i].role == Role::inout) {
            result.outputs.back().before = copy_of(i);
        }
    }

    const Outcome outcome = ask({.schedule = schedule,
                                 .op = op_index,
                                 .case_index = case_index,
                                 .call = call_index,
                                 .on_one_thread = on_one_thread},
                                fmt::format("{} {}", op.name, op.cases[case_index].name));
    if (outcome.says(Answer::out_of_memory)) {
        result.out_of_memory = outcome.reply.text;
        return result;
    }
    result.finding = finding_of(outcome, op, call);
    result.float_atomics = outcome.reply.float_atomics;
    result.early_exits = outcome.reply.early_exits;
    if (outcome.kind == Outcome::Kind::answered && outcome.reply.findings[0] != '\0') {
        result.device_findings = findings_from_json(outcome.reply.findings);
        if (outcome.says(Answer::broken)) {
            result.device_findings.erase(result.device_findings.begin());  // it is the finding
            return result;
        }
        // What the device saw comes before what came of it. A thread for which others wait in vain ends a launch, and may
        // be why accesses of these others are not ordered: it comes before races.
        const auto waits = std::ranges::find(result.device_findings, "collective", &Finding::kind);
        if (result.finding && !result.device_findings.empty()) {
            std::swap(*result.finding, waits == result.device_findings.end() ? result.device_findings.front() : *waits);
        }
    }
    if (result.finding) {
        return result;
    }
    for (std::size_t i = call.inputs.size(); i < specs.size(); i++) {
        result.outputs[i - call.inputs.size()].after = copy_of(i);
        const GuardViolation guard_violation = find_guard_violation(memory_.region(slots[i]), slots[i], schedule);
        if (guard_violation.found) {
            result.device_findings.push_back(describe_guard_violation(specs[i], guard_violation.offset));
        }
    }
    return result;
}

bool Judge::RunResult::exceeded_limits() const {
    const auto says_so = [](const Finding& of) {
        return of.kind == "hang" || of.kind == "spin" || of.kind == "time_limit" || of.kind == "out_of_memory";
    };
    return (finding && says_so(*finding)) || std::ranges::any_of(device_findings, says_so);
}

bool Judge::RunResult::was_cut_before_it_wrote() const {
    if (finding || outputs.empty() || !device_findings.empty()) {
        return false;
    }
    const auto* sampled = reinterpret_cast<const SampledElements*>(outputs.front().after.data());
    return sampled->blocks_cut > 0 && sampled->count == 0;
}

std::vector<Judge::RunResult> Judge::run_in_turn(std::size_t op_index, std::size_t case_index, const Calls& calls,
                                                 Schedule schedule) {
    std::vector<RunResult> results;
    for (std::size_t i = calls.begin; i < calls.end; i++) {
        results.push_back(run(op_index, case_index, i, schedule));
        if (results.back().incomplete()) {
            break;
        }
    }
    return results;
}

CallVerdict Judge::describe_runs(const Call& call, const RunResult& first, const RunResult& second,
                                 const std::function<RunResult()>& again) {
    if (call.sampled) {
        const auto elements = [](const RunResult& run) {
            return reinterpret_cast<const SampledElements*>(run.outputs.front().after.data());
        };
        return describe_sampled(call, ValuesRead(call, kCaseSeed).views(),
                                std::array{elements(first), elements(second)});
    }
    const auto deterministic = [&] {
        const RunResult repeated = again();
        return !repeated.incomplete() &&
               std::ranges::equal(repeated.outputs, first.outputs, {}, &Content::after, &Content::after);
    };
    const auto is_race = [](const Finding& finding) { return finding.kind == "race"; };
    const bool raced =
        std::ranges::any_of(first.device_findings, is_race) || std::ranges::any_of(second.device_findings, is_race);
    CallVerdict verdict = describe_call(call, first.outputs, second.outputs, deterministic,
                                        first.float_atomics.empty() ? second.float_atomics : first.float_atomics,
                                        device_backend().runs_two_schedules(), raced);
    add_early_exits(verdict, first.early_exits.empty() ? second.early_exits : first.early_exits);
    return verdict;
}

std::optional<Finding> Judge::count(std::size_t op_index, std::size_t case_index, std::size_t call_index,
                                    const std::map<std::string, double>& at_most, std::vector<CounterResult>& counted) {
    const Op& op = lesson_.op_at(op_index);
    const Case& c = op.cases.at(case_index);
    const Call& call = c.calls.at(call_index);
    initialise(memory_, call, slots_of(c, call_index, Schedule::end_aligned), Schedule::end_aligned);
    const Outcome outcome =
        ask({.kind = RequestKind::count, .op = op_index, .case_index = case_index, .call = call_index},
            fmt::format("counting {} {}", op.name, c.name));
    if (std::optional<Finding> finding = finding_of(outcome, op, call)) {
        return finding;
    }
    if (std::optional<Finding> finding = describe_work(call, outcome.reply.bytes_asked)) {
        return finding;
    }
    const std::vector<Counter> counters = device_backend().counters();
    for (CounterResult& one : counted_in(outcome.reply)) {
        const auto row = std::ranges::find(counters, std::string_view(one.counter), &Counter::name);
        const bool none_allowed = row != counters.end() && row->judged_in != JudgedIn::no_calls;
        if (!none_allowed && !at_most.contains(one.counter)) {
            continue;
        }
        one.at_most = none_allowed ? 1 : at_most.at(one.counter);
        const auto known = std::ranges::find(counted, one.counter, &CounterResult::counter);
        if (known == counted.end()) {
            counted.push_back(std::move(one));
            continue;
        }
        known->value += one.value;
        known->needed += one.needed;
        known->most = known->most.empty() ? one.most : known->most;
    }
    return std::nullopt;
}

bool Judge::is_right_on_one_thread(std::size_t op_index, std::size_t case_index, std::size_t call_index,
                                   const Call& call) {
    if (!call.run_on_one_thread || lesson_.op_at(op_index).cases.at(case_index).sequence) {
        return false;
    }
    const RunResult first = run(op_index, case_index, call_index, Schedule::end_aligned, true);
    const RunResult second = run(op_index, case_index, call_index, Schedule::start_aligned, true);
    return !first.incomplete() && !second.incomplete() && describe_runs(call, first, second, [&] { return first; }).ok;
}

std::optional<Finding> Judge::kept_from_earlier(std::size_t op_index, std::size_t case_index, const Calls& calls,
                                                const Call& call, const RunResult& after_others) {
    const auto& cases = lesson_.op_at(op_index).cases;
    if (!op_state_.right || call.sampled || std::exchange(op_state_.tried_alone, true)) {
        return std::nullopt;
    }
    std::vector<RunResult> alone;
    for (const Schedule schedule : {Schedule::end_aligned, Schedule::start_aligned}) {
        worker_.stop();
        alone.push_back(run_in_turn(op_index, case_index, calls, schedule).back());
        if (alone.back().incomplete() || !alone.back().device_findings.empty()) {
            return std::nullopt;
        }
    }
    if (!describe_runs(call, alone[0], alone[1], [&] { return alone[0]; }).ok) {
        return std::nullopt;
    }
    std::string gave;
    const auto compare_with = [&](const Case& earlier, std::size_t calls_of_it) {
        for (std::size_t i = 0; i < calls_of_it && gave.empty(); i++) {
            for (std::size_t k = 0; k < std::min(call.outputs.size(), earlier.calls[i].outputs.size()); k++) {
                const Decoded got = decode(after_others.outputs[k].after, call.outputs[k].spec.element);
                if (matches_prefix(got, earlier.calls[i].outputs[k])) {
                    gave = fmt::format("{} of {} ({})", earlier.calls[i].outputs[k].spec.name, earlier.shape,
                                       earlier.name);
                }
            }
        }
    };
    for (std::size_t i = 0; i <= case_index; i++) {
        compare_with(cases[i], i < case_index ? cases[i].calls.size() : calls.end - 1);
    }
    // Chance, as between threads, is not wrong in the same way again.
    const auto wrong_again = [&] {
        worker_.stop();
        for (std::size_t i = 0; i < case_index; i++) {
            for (const Schedule schedule : {Schedule::end_aligned, Schedule::start_aligned}) {
                if (!cases[i].is_sampled()) {
                    run_in_turn(op_index, i, {0, cases[i].calls.size()}, schedule);
                }
            }
        }
        const RunResult again = run_in_turn(op_index, case_index, {0, calls.end}, Schedule::end_aligned).back();
        return std::ranges::equal(again.outputs, after_others.outputs, {}, &Content::after, &Content::after);
    };
    return !gave.empty() || wrong_again() ? std::optional(describe_kept("", gave)) : std::nullopt;
}

CaseReport Judge::check_case(std::size_t op_index, std::size_t case_index,
                             const std::map<std::string, double>& at_most) {
    const Case& c = lesson_.op_at(op_index).cases.at(case_index);
    CaseReport report{.name = c.name, .shape = c.shape};
    report.ok = true;
    report.untouched = true;
    report.calls = static_cast<long>(c.calls.size());
    op_state_ = op_state_.op == op_index ? op_state_ : OpState{.op = op_index};
    const auto fail = [&](const Call& call, std::vector<Finding> findings) {
        report.calls_wrong++;
        if (report.ok) {
            report.ok = false;
            report.where = call.where;
            report.findings = std::move(findings);
        } else if (!is_explained(report.findings)) {
            std::ranges::move(suspects_at(call, findings), std::back_inserter(report.findings));
        }
    };

    const std::size_t together = c.sequence ? c.calls.size() : 1;
    // A process's first call has as many threads as the case's first one: what is set once is set there.
    if (std::ranges::any_of(c.calls, [](const Call& call) { return static_cast<bool>(call.run_on_one_thread); })) {
        worker_.stop();
    }
    for (Calls calls{0, together}; calls.begin < c.calls.size(); calls = {calls.end, calls.end + together}) {
        std::array<std::vector<RunResult>, 2> runs;
        bool broke_off = false;
        for (const Schedule schedule : {Schedule::end_aligned, Schedule::start_aligned}) {
            std::vector<RunResult>& run = runs[static_cast<std::size_t>(schedule)];
            run = run_in_turn(op_index, case_index, calls, schedule);
            if (!run.back().out_of_memory.empty()) {
                report.ran = report.untouched = false;
                report.note = fmt::format("{} is not checked: {}", c.shape, run.back().out_of_memory);
                return report;
            }
            if (c.is_sampled() && (run.back().exceeded_limits() || run.back().was_cut_before_it_wrote())) {
                report.ran = report.untouched = false;
                report.note = fmt::format(
                    "{} is not judged: the few blocks that are run of it did not end; where one block makes many of "
                    "the outputs, that is no fault",
                    c.shape);
                return report;
            }
            if (run.back().finding) {
                std::vector<Finding>& device_findings = run.back().device_findings;
                device_findings.insert(device_findings.begin(), *run.back().finding);
                const bool next_may_run = !c.sequence && is_wild_access(device_findings.front());
                // Leaks of the first run come first: a stream that is kept, for example, is gone in the second.
                if (schedule == Schedule::start_aligned && run.size() <= runs[0].size()) {
                    std::vector<Finding> left = take("leak", runs[0][run.size() - 1].device_findings);
                    std::ranges::move(left, std::inserter(device_findings, device_findings.begin()));
                }
                fail(c.calls[calls.begin + run.size() - 1], std::move(device_findings));
                report.untouched = op_state_.right = false;
                if (!next_may_run) {
                    return report;
                }
                broke_off = true;
                break;
            }
        }
        if (broke_off) {
            continue;
        }
        for (std::size_t i = 0; i < runs[0].size(); i++) {
            const RunResult &first = runs[0][i], &second = runs[1][i];
            const ComputedCall computed(c.calls[calls.begin + i], kCaseSeed);
            CallVerdict verdict = describe_runs(computed.call(), first, second, [&] {
                return run_in_turn(op_index, case_index, {calls.begin, calls.begin + i + 1}, Schedule::end_aligned)
                    .back();
            });
            if (!verdict.ok && has_rounded_reference(computed.call()) &&
                std::ranges::none_of(verdict.findings, explains)) {
                const ValuesRead read(computed.call(), kCaseSeed);
                if (std::optional<Finding> bf16 = describe_bf16(computed.call(), read.views(), first.outputs)) {
                    verdict.findings.push_back(std::move(*bf16));
                }
            }
            std::vector<Finding> findings =
                first.device_findings.empty() ? second.device_findings : first.device_findings;
            const std::vector<Finding> unchecked =
                take(kUncheckedLaunch, findings);  // it is no reason for wrong values
            if (std::ranges::find(findings, "padding", &Finding::kind) != findings.end()) {
                take("padding", verdict.findings);  // the device has the line too
            }
            // Who did something wrong has written something.
            report.untouched = report.untouched && verdict.untouched && (findings.empty() || computed.call().sampled);
            const bool only_values = findings.empty() && !verdict.ok && !verdict.untouched;
            const bool by_threads =
                only_values && is_right_on_one_thread(op_index, case_index, calls.begin + i, computed.call());
            if (by_threads) {
                blame_threads(verdict.findings);
            }
            std::optional<Finding> kept =
                only_values && !by_threads ? kept_from_earlier(op_index, case_index, {calls.begin, calls.begin + i + 1},
                                                               computed.call(), first)
                                           : std::nullopt;
            if (kept) {  // then no other reason holds
                findings.push_back(std::move(*kept));
                std::erase_if(verdict.findings, explains);
            }
            op_state_.right = op_state_.right || (verdict.ok && findings.empty());
            if (only_values) {  // else something other than the mistake may have made them so
                std::ranges::move(verdict.refuted, std::back_inserter(report.refuted));
            }
            std::ranges::move(verdict.findings, std::back_inserter(findings));
            std::ranges::copy(unchecked, std::back_inserter(findings));
            put_consequences_last(findings, verdict.of_model);
            if (findings.empty() && has_rounded_reference(computed.call())) {
                PrecisionVerdict precision =
                    describe_precision(computed.call(), ValuesRead(computed.call(), kCaseSeed).views(), first.outputs);
                report.shows_precision = report.shows_precision || precision.shows;
                if (precision.too_accurate && report.findings.empty()) {
                    report.findings.push_back(std::move(*precision.too_accurate));
                }
            }
            report.budget_used = std::max(report.budget_used, verdict.budget_used);
            report.note = report.note.empty() ? verdict.note : report.note;
            if (!findings.empty()) {
                fail(computed.call(), std::move(findings));
            }
        }
        const bool first_of_op = case_index == 0 && calls.begin == 0 && op_index < lesson_.ops().size();
        const bool counts = std::any_of(&c.calls[calls.begin], &c.calls[calls.begin] + together, [&](const Call& call) {
            return ((first_of_op || call.is_warm) && !device_backend().counters().empty()) ||
                   std::ranges::any_of(call.needed, [&](const Needed& n) { return at_most.contains(n.counter); });
        });
        for (std::size_t i = calls.begin; i < calls.end && counts && report.ok; i++) {
            if (std::optional<Finding> finding = count(op_index, case_index, i, at_most, report.counted)) {
                fail(c.calls[i], {std::move(*finding)});
            }
        }
    }
    // A call may fit a mistake by chance: then another call does not.
    std::erase_if(report.findings, [&](const Finding& finding) {
        return !finding.details.empty() && finding.kind == "suspect" &&
               std::ranges::find(report.refuted, finding.id) != report.refuted.end();
    });
    return report;
}

TimingReport Judge::time(std::size_t op_index, const Target& wanted, const std::optional<CpuRoof>& roof,
                         bool all_shapes) {
    const Op& op = lesson_.op_at(op_index);
    const bool by_record = wanted.of_recorded.gold > 0;
    const std::optional<RecordedShare> recorded =
        by_record ? recorded_share(kRecords, card_, lesson_number(lesson_.name()), op.name, wanted) : std::nullopt;
    const Target target = by_record ? on_card(wanted, recorded) : on_card(wanted, card_);
    TimingReport report{.against = target.against,
                        .library = {},
                        .target = target.shares,
                        .older = target.older,
                        .gap = target.gap,
                        .shapes = {},
                        .notes = {}};
    if (by_record && !recorded) {
        report.notes.push_back(why_bronze_only(card_));
    }
    const auto note_once = [&](const std::string& note) {
        if (std::ranges::find(report.notes, note) == report.notes.end()) {
            report.notes.push_back(note);
        }
    };
    const bool asks_older = target.older.gold > 0 || target.against == Baseline::older;
    std::optional<WithoutTf32> fp32;
    for (std::size_t i = 0; i < op.timed.size(); i++) {
        const Timed& timed = op.timed[i];
        const bool judged = target.judges(timed.shape);
        if (!judged && !all_shapes) {
            continue;
        }
        // A slow implementation is not waited for at shapes that would take it minutes.
        constexpr double kLongestCall = 2.0;
        if (report.ran() && timed.flop > 0 && report.shapes.back().flop > 0) {
            const double seconds = timed.flop / report.shapes.back().rate();
            if (seconds > kLongestCall) {
                report.notes.push_back(fmt::format("{} is not timed: a call would take about {} s at that speed",
                                                   timed.shape, significant(seconds)));
                continue;
            }
        }
        std::uint32_t baselines = bit(Baseline::solution);
        baselines |= target.against == Baseline::busy ? bit(Baseline::busy) : 0;
        if (timed.library) {
            baselines |= bit(Baseline::library);
            report.library = timed.library->name;
        }
        if (!ends_on_host(timed.call) || device_backend().is_host()) {  // the host does not wait for a roof
            const Baseline of_bytes = target.against == Baseline::read ? Baseline::read : Baseline::copy;
            baselines |= timed.bytes_moved > 0 ? bit(of_bytes) : 0;
            baselines |= timed.flop > 0 && !timed.tensor_cores ? bit(Baseline::arithmetic) : 0;
        }
        // A shape that there is no room for, or one that is only reported, does not stand for the first that is judged.
        const bool is_first = !report.ran() || (judged && report.judged() == 0);
        const bool each_shape = target.against == Baseline::busy || target.against == Baseline::older;
        if ((is_first || each_shape) && asks_older) {
            if (older_implementation(reference_dir_, op.name).empty()) {
                note_once(
                    fmt::format("not compared with the older lesson's solution: 'make check-lesson{}' "
                                "builds it",
                                lesson_number(lesson_.name())));
            } else {
                baselines |= bit(Baseline::older);
                if (!fp32 && !device_backend().is_host() && lesson_.toml().precision_of(op.name) == "fp32") {
                    fp32.emplace(worker_);
                    report.notes.push_back("TF32 is off for all that is timed here: NVIDIA_TF32_OVERRIDE=0");
                }
            }
        }
        if (is_first && target.threads > 0) {
            if (roof && cores_scale(*roof)) {
                baselines |= bit(Baseline::two_threads);
            } else {
                note_once(roof ? fmt::format("threads are not judged: two processes do {} the work of one here",
                                             times(roof->two_processes))
                               : "threads are not judged: `make calibrate` finds whether the cores here add up");
            }
        }
        std::optional<ShapeTiming> timed_shape = time_shape(op_index, i, target, baselines, all_shapes, report.notes);
        if (!timed_shape) {
            continue;
        }
        report.shapes.push_back(std::move(*timed_shape));
        const ShapeTiming& shape = report.shapes.back();
        if (shape.verdict == Verdict::wrong) {
            return report;
        }
        if (shape.verdict == Verdict::slow && !all_shapes) {
            if (i + 1 < target.shapes.size()) {
                report.notes.push_back(fmt::format(
                    "{} not timed", format_count(static_cast<long>(target.shapes.size() - i - 1), "further shape")));
            }
            return report;
        }
    }
    const bool has_judged = std::ranges::any_of(op.timed, [&](const Timed& t) { return target.judges(t.shape); });
    if (has_judged && report.judged() == 0 && (asks_older || target.threads > 0)) {
        report.not_compared = true;
        report.notes.push_back(
            fmt::format("not passed: none of the judged shapes could be timed, so nothing is compared with {}",
                        asks_older ? "the older lesson's solution" : "the speed of two threads"));
    }
    return report;
}

std::optional<ShapeTiming> Judge::time_shape(std::size_t op_index, std::size_t shape, const Target& target,
                                             std::uint32_t baselines, bool all_shapes,
                                             std::vector<std::string>& notes) {
    const Op& op = lesson_.op_at(op_index);
    const Timed& timed = op.timed[shape];
    ShapeTiming report{.shape = timed.shape,
                       .seconds = {},
                       .flop = timed.flop,
                       .bytes = static_cast<double>(timed.bytes_moved),
                       .share = {},
                       .judged = target.judges(timed.shape),
                       .gap_judged = target.judges_gap(timed.shape)};
    const auto wrong = [&](Finding finding) {
        report.verdict = Verdict::wrong;
        report.findings.push_back(std::move(finding));
        return report;
    };
    const auto out_of_memory = [&](std::string_view why) {
        notes.push_back(fmt::format("{} is not timed: {}", timed.shape, why));
        return std::nullopt;
    };
    const std::size_t outputs = file_bytes(slots_of(timed_specs(timed, baselines), Schedule::start_aligned));
    const std::size_t wanted = outputs + largest_input(timed.call), room = worker_memory() + memory_.bytes().size();
    if (wanted > room) {  // a worker that took more would be ended for it
        return out_of_memory(
            fmt::format("it wants {} of the host's memory, of which {} can be had", gib(wanted), gib(room)));
    }
    try {
        memory_.grow(outputs);
    } catch (const OutOfMemory& error) { return out_of_memory(error.what()); }

    Request request{.kind = RequestKind::time, .op = op_index, .timed = shape, .baselines = baselines, .seconds = 0.25};
    // Where the interval straddles the target, more samples may decide, and where the roof is wrong, the next one may be
    // right. `slow` and `impossible` are said only when two attempts in a row agree: other work on the machine can make
    // one attempt, or the copy beside it, several times slower, and an accusation must not rest on that.
    constexpr int kAttempts = 4;
    const int medal_attempts = all_shapes ? kAttempts : kAttempts - 1;
    Speed before = Speed::unclear;
    std::optional<Baseline> beaten;
    bool impossible_before = false;
    bool agreed = false;
    int late = 0;
    for (int attempt = 0; attempt < kAttempts; attempt++, request.seconds *= 2.0, request.samples *= 2) {
        request.seed = std::random_device{}();
        const Outcome outcome = ask(request, fmt::format("timing {} at {}", op.name, timed.shape));
        if (outcome.says(Answer::out_of_memory)) {
            return out_of_memory(outcome.reply.text);
        }
        if (std::optional<Finding> finding = finding_of(outcome, op, timed.call)) {
            return wrong(std::move(*finding));
        }
        leave_out_missing(outcome.reply, timed, baselines, notes);
        put_times(report, outcome.reply, baselines);
        late = outcome.reply.late;
        beaten = device_backend().dry_run() ? std::nullopt : beaten_roof(report, target.against);
        report.roof_is_wrong = beaten && is_wrong(report, *beaten);
        agreed = beaten && !report.roof_is_wrong && impossible_before;
        impossible_before = beaten && !report.roof_is_wrong;
        if (agreed) {
            break;
        }
        if (beaten && attempt + 1 < kAttempts) {
            continue;
        }
        // The library that it is held to may not be there.
        if (device_backend().dry_run() || !report.judged || !report.of(target.against)) {
            break;
        }
        const SpeedVerdict speed = speed_of_shape(report, target);
        put_speed(report, speed, before);
        if (is_settled(report, target, attempt + 1 < medal_attempts)) {
            break;
        }
        before = speed.speed;
    }
    if (std::optional<Finding> mismatch = mismatch_after_timing(op, timed, request)) {
        return wrong(std::move(*mismatch));
    }
    if (beaten && (!report.roof_is_wrong || target.against == *beaten)) {
        report.verdict = agreed ? Verdict::impossible : Verdict::no_verdict;
        report.medal = Medal::none;
    }
    if (late > 0) {
        notes.push_back(
            fmt::format("{}: the GPU had begun before the host had queued all, in {} samples: the host's time is in "
                        "them, as where an op waits for the GPU",
                        timed.shape, late));
    }
    if (report.roof_is_wrong) {
        notes.push_back(fmt::format(
            "the roof of this run is wrong: {} is {}, and the solution's is {}; something slowed "
            "the roof down, so run it again when the machine is idle",
            timed.shape, share_of_roof(*beaten, report.of(*beaten)->value), times(of_solution(report, *beaten))));
    }
    if (agreed) {
        report.findings.push_back(
            {"impossible",
             fmt::format("{}: no machine is that fast, so the work was not done in the time that was taken",
                         share_of_roof(*beaten, report.of(*beaten)->value))});
    }
    if (report.verdict == Verdict::slow) {
        report.findings.push_back({"slow", slow_text(report, target, timed.library ? timed.library->name : "")});
    }
    return report;
}

std::optional<Finding> Judge::mismatch_after_timing(const Op& op, const Timed& timed, Request request) {
    std::optional<Finding> mismatch = timed_mismatch(op, timed, request);
    if (!mismatch) {
        return std::nullopt;
    }
    const auto wrong_again = [&](int samples) {
        worker_.stop();
        request.samples = samples;
        const Outcome outcome = ask(request, fmt::format("{} at {} once more", op.name, timed.shape));
        return finding_of(outcome, op, timed.call).has_value() || timed_mismatch(op, timed, request).has_value();
    };
    const int samples = request.samples;
    request.baselines &= bit(Baseline::solution) | bit(Baseline::two_threads);
    request.seconds = 0;
    if (wrong_again(0) || !wrong_again(samples)) {  // where it is chance, it is not wrong again
        return mismatch;
    }
    Finding kept = describe_kept(fmt::format(" at the timed shape {}", timed.shape), "");
    kept.details.insert(kept.details.begin(), mismatch->details.begin(), mismatch->details.end());
    return kept;
}

std::optional<Finding> Judge::timed_mismatch(const Op& op, const Timed& timed, const Request& request) {
    const ShownWhileItWorks shown(progress_, fmt::format("comparing {} at {}", op.name, timed.shape));
    const std::vector<Output>& outputs = timed.call.outputs;
    const bool computes = std::ranges::any_of(outputs, [](const Output& output) { return output.element != nullptr; });
    const ValuesRead read(computes ? timed.call : Call{}, request.seed + 1);
    const std::vector<BufferSlot> slots = slots_of(timed_specs(timed, request.baselines), Schedule::start_aligned);
    for (std::size_t i = 0; i < outputs.size(); i++) {
        const Output& output = outputs[i];
        const SomeExpected some(output, read.views(), request.seed);
        const auto after = [&](std::size_t who) {
            return Values(memory_.data(slots[who * outputs.size() + i]), output.spec.element);
        };
        const Values solution = after(1);
        for (std::size_t who = 0; who * outputs.size() < slots.size(); who++) {
            if (who == 1) {
                continue;
            }
            const Values subject = after(who);
            const auto wrong = [&](long element, const std::pair<std::string, std::string>& values, const char* right) {
                return Finding{
                    "mismatch",
                    fmt::format("is wrong at the timed shape {}{}", timed.shape, who == 0 ? "" : " on two threads"),
                    {fmt::format("first\t{}   got {}   {} {}", indexed(output.spec, element), values.first, right,
                                 values.second)}};
            };
            if (const long at = some.first_wrong(subject.got()); at >= 0) {
                return wrong(some.element(at), format_distinct(some.of(subject.got()), Got(some.expected()), at),
                             "expected");
            }
            if (const long at = differing_element(output.spec.dims, output.columns, subject.got(), solution.got(),
                                                  share_of_row(output.precision), output.spec.element);
                at >= 0) {
                return wrong(at, format_distinct(subject.got(), solution.got(), at), "the solution");
            }
        }
    }
    return std::nullopt;
}

std::optional<Finding> Judge::missing(std::size_t op_index, const std::filesystem::path& compiler_log) const {
    const Op& op = lesson_.op_at(op_index);
    if (std::filesystem::exists(impl_dir_ / (op.name + ".so"))) {
        return std::nullopt;
    }
    const std::string log = read_file_if_there(compiler_log).value_or("");
    if (log.find("undefined reference to `" + op.name + "(") != std::string::npos) {
        Outcome outcome;
        outcome.reply.answer = Answer::not_defined;
        return finding_of(outcome, op, Call{});
    }
    if (!log.empty()) {
        return Finding{"not_compiled",
                       fmt::format("does not compile; {} has what the compiler says", compiler_log.string())};
    }
    return Finding{"not_compiled",
                   fmt::format("{} is missing; 'make check-lesson{}' builds it",
                               (impl_dir_ / (op.name + ".so")).string(), lesson_number(lesson_.name()))};
}

std::vector<std::string> declaration_of(const std::string& function, const std::filesystem::path& header) {
    std::istringstream text(read_file_if_there(header).value_or(""));
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) {
        line.erase(std::min(line.find("//"), line.size()));
        line.erase(line.find_last_not_of(' ') + 1);
        if (lines.empty() && line.find(" " + function + "(") == std::string::npos) {
            continue;
        }
        lines.push_back(line);
        if (line.ends_with(";")) {
            return lines;
        }
    }
    return {};
}

}  // namespace checker
