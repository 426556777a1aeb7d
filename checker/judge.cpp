// SPDX-License-Identifier: MIT
#include "checker/judge.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "checker/describe.h"
#include "checker/file_error.h"
#include "checker/text.h"

namespace checker {
namespace {

std::vector<float> floats(std::span<const std::byte> bytes) {
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
    return values;
}

std::string read_text(const std::filesystem::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

// The first element in which two results at a timed shape differ by more than rounding can explain; -1 if none.
// There is no reference for these shapes: the solution, which is right on every case, stands in for it.
long differing_element(const Output& output, const std::vector<float>& subject, const std::vector<float>& solution) {
    constexpr double kShareOfRow = 1e-4;
    const Dims& dims = output.spec.dims;
    for (long row = 0; row < dims.rows(); row++) {
        double largest = 0;
        for (long column = 0; column < output.columns; column++) {
            const double value = std::abs(solution[static_cast<std::size_t>(row * dims.columns() + column)]);
            largest = std::max(largest, value);
        }
        for (long column = 0; column < output.columns; column++) {
            const auto i = static_cast<std::size_t>(row * dims.columns() + column);
            if (!(error(subject[i], solution[i]) <= kShareOfRow * largest)) {
                return static_cast<long>(i);
            }
        }
    }
    return -1;
}

}  // namespace

Judge::Judge(const Lesson& lesson, std::filesystem::path impl_dir, std::vector<std::string> worker_arguments,
             std::chrono::duration<double> limit)
    : lesson_(lesson),
      impl_dir_(std::move(impl_dir)),
      limit_(limit),
      worker_(std::move(worker_arguments), memory_.fd(), limit) {}

Outcome Judge::ask(const Request& request, const std::string& what) {
    constexpr double kPatience = 2.0;
    bool shown = false;
    worker_.on_waiting([&](double seconds) {
        if (!progress_ || seconds < kPatience) {
            return;
        }
        fmt::print(stderr, "\r  {}: running for {:.0f} s, stopped at {:.0f} s", what, seconds, limit_.count());
        std::fflush(stderr);
        shown = true;
    });
    Outcome outcome = worker_.ask(request);
    if (shown) {
        fmt::print(stderr, "\r{:79}\r", "");
    }
    return outcome;
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

Judge::RunResult Judge::run(std::size_t op_index, std::size_t case_index, std::size_t call_index, Schedule schedule) {
    const Op& op = lesson_.ops().at(op_index);
    const Call& call = op.cases.at(case_index).calls.at(call_index);
    const std::vector<BufferSpec> specs = shared_specs(call);
    const std::vector<Placement> placements = place(specs, schedule);
    memory_.grow(shared_bytes(placements));
    for (std::size_t i = 0; i < specs.size(); i++) {
        fill_with_poison(memory_.region(placements[i]), schedule);
        if (i < call.inputs.size()) {
            call.inputs[i].fill(memory_.data(placements[i]));
        }
    }

    Request request;
    request.schedule = schedule;
    request.op = op_index;
    request.case_index = case_index;
    request.call = call_index;
    RunResult result;
    result.finding = finding_of(ask(request, fmt::format("{} {}", op.name, op.cases[case_index].name)), op, call);
    if (result.finding) {
        return result;
    }
    for (std::size_t i = call.inputs.size(); i < specs.size(); i++) {
        result.values.push_back(floats(memory_.data(placements[i])));
        const Scribble scribble = find_scribble(memory_.region(placements[i]), placements[i], schedule);
        if (scribble.found) {
            result.scribbles.push_back(describe_scribble(specs[i], scribble.offset));
        }
    }
    return result;
}

CaseReport Judge::judge(std::size_t op_index, std::size_t case_index) {
    const Op& op = lesson_.ops().at(op_index);
    const Case& c = op.cases.at(case_index);
    CaseReport report{.name = c.name, .shape = c.shape};
    report.ok = true;
    report.untouched = true;
    report.calls = static_cast<long>(c.calls.size());

    for (std::size_t i = 0; i < c.calls.size(); i++) {
        const Call& call = c.calls[i];
        const auto fail = [&](std::vector<Finding> findings) {
            report.calls_wrong++;
            if (!report.ok) {
                return;
            }
            report.ok = false;
            report.where = call.where;
            report.findings = std::move(findings);
        };
        const RunResult first = run(op_index, case_index, i, Schedule::end_aligned);
        if (first.finding) {
            fail({*first.finding});
            report.untouched = false;
            return report;
        }
        const RunResult second = run(op_index, case_index, i, Schedule::start_aligned);
        if (second.finding) {
            fail({*second.finding});
            report.untouched = false;
            return report;
        }
        CallVerdict verdict = describe_call(call, first.values, second.values, [&] {
            const RunResult again = run(op_index, case_index, i, Schedule::end_aligned);
            return !again.finding && std::ranges::equal(again.values, first.values, [](const auto& a, const auto& b) {
                return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
            });
        });
        std::vector<Finding> findings = first.scribbles.empty() ? second.scribbles : first.scribbles;
        std::ranges::move(verdict.findings, std::back_inserter(findings));
        report.budget_used = std::max(report.budget_used, verdict.budget_used);
        report.untouched = report.untouched && verdict.untouched;
        if (!findings.empty()) {
            fail(std::move(findings));
        }
    }
    return report;
}

TimingReport Judge::time(std::size_t op_index, const Target& target) {
    const Op& op = lesson_.ops().at(op_index);
    const Timed& timed = op.timed.value();
    TimingReport report;
    report.ran = true;
    report.shape = timed.shape;
    report.target = target.limit;
    const bool copy = target.kind == Target::Kind::copy_bandwidth;
    report.against = copy ? "copy" : "solution";

    std::vector<BufferSpec> specs;
    for (int who = 0; who < 2; who++) {
        for (const Output& output : timed.call.outputs) { specs.push_back(output.spec); }
    }
    const std::vector<Placement> placements = place(specs, Schedule::start_aligned);
    memory_.grow(shared_bytes(placements));

    Request request;
    request.ask = Ask::time;
    request.op = op_index;
    request.against_copy = copy;
    request.seconds = 0.25;
    // Where the interval straddles the target, more samples may decide. `slow` is said only when two attempts in a row
    // agree: other work on the machine can make one of them slow, and an accusation must not rest on that.
    constexpr int kAttempts = 4;
    Speed before = Speed::unclear;
    for (int attempt = 0; attempt < kAttempts; attempt++, request.seconds *= 2.0) {
        const Outcome outcome = ask(request, fmt::format("timing {}", op.name));
        if (std::optional<Finding> finding = finding_of(outcome, op, timed.call)) {
            report.verdict = Verdict::wrong;
            report.findings.push_back(std::move(*finding));
            return report;
        }
        const Reply& reply = outcome.reply;
        report.seconds = reply.subject.median;
        report.seconds_low = reply.subject.interval.low;
        report.seconds_high = reply.subject.interval.high;
        // The worker says subject / other; of a copy's speed the subject reaches the inverse.
        const Ratio ratio =
            copy ? Ratio{1.0 / reply.ratio.value, {1.0 / reply.ratio.interval.high, 1.0 / reply.ratio.interval.low}}
                 : reply.ratio;
        report.ratio = ratio.value;
        report.ratio_low = ratio.interval.low;
        report.ratio_high = ratio.interval.high;
        if (copy) {
            report.bytes_per_second = bandwidth(timed.bytes_moved, reply.subject.median);
            report.roof_bytes_per_second = bandwidth(timed.bytes_moved, reply.other.median);
        }
        const Speed speed = copy ? judge_at_least(ratio, target.limit) : judge_at_most(ratio, target.limit);
        report.verdict = speed == Speed::fast                            ? Verdict::ok
                         : speed == Speed::slow && before == Speed::slow ? Verdict::slow
                                                                         : Verdict::no_verdict;
        if (report.verdict != Verdict::no_verdict) {
            break;
        }
        before = speed;
    }

    const std::size_t n = timed.call.outputs.size();
    for (std::size_t i = 0; i < n; i++) {
        const std::vector<float> subject = floats(memory_.data(placements[i]));
        const std::vector<float> solution = floats(memory_.data(placements[n + i]));
        const long element = differing_element(timed.call.outputs[i], subject, solution);
        if (element < 0) {
            continue;
        }
        const auto k = static_cast<std::size_t>(element);
        const auto [got, expected] = told_apart(subject[k], solution[k]);
        report.verdict = Verdict::wrong;
        report.findings.push_back(
            {"mismatch",
             "",
             fmt::format("is wrong at the timed shape {}", timed.shape),
             {fmt::format("first\t{}[{}]   got {}   the solution {}", timed.call.outputs[i].spec.name,
                          timed.call.outputs[i].spec.dims.index_text(element), got, expected)}});
        return report;
    }
    if (report.verdict == Verdict::slow) {
        report.findings.push_back({"slow", "",
                                   copy ? fmt::format("{} of the copy's speed, the target is {}", percent(report.ratio),
                                                      percent(report.target))
                                        : fmt::format("{} the solution's time, the target is {}", times(report.ratio),
                                                      times(report.target))});
    }
    return report;
}

std::optional<Finding> Judge::missing(std::size_t op_index, const std::filesystem::path& compiler_log) const {
    const Op& op = lesson_.ops().at(op_index);
    if (std::filesystem::exists(impl_dir_ / (op.name + ".so"))) {
        return std::nullopt;
    }
    const std::string log = read_text(compiler_log);
    if (log.find("undefined reference to `" + op.name + "(") != std::string::npos) {
        Outcome outcome;
        outcome.reply.answer = Answer::not_defined;
        return finding_of(outcome, op, Call{});
    }
    if (!log.empty()) {
        return Finding{"not_compiled", "",
                       fmt::format("does not compile; {} has what g++ says", compiler_log.string())};
    }
    return Finding{"not_compiled", "",
                   fmt::format("{} is missing; 'make check-lesson{}' builds it",
                               (impl_dir_ / (op.name + ".so")).string(), lesson_number(lesson_.name()))};
}

std::vector<std::string> declaration_of(const std::string& function, const std::filesystem::path& header) {
    std::istringstream text(read_text(header));
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) {
        if (lines.empty() && line.find(" " + function + "(") == std::string::npos) {
            continue;
        }
        if (lines.empty() && line.starts_with("//")) {
            continue;
        }
        const std::size_t comment = line.find("//");
        line = line.substr(0, comment);
        line.erase(line.find_last_not_of(' ') + 1);
        const bool last = line.ends_with(";");
        lines.push_back(line);
        if (last) {
            return lines;
        }
    }
    return {};
}

}  // namespace checker
