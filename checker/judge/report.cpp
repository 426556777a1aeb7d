// SPDX-License-Identifier: MIT
#include "checker/judge/report.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <tuple>

#include "checker/base/course.h"
#include "checker/base/file_error.h"
#include "checker/base/files.h"
#include "checker/base/json.h"

namespace checker {
namespace {

Json to_json(const std::vector<Finding>& findings) {
    Json result = Json::array();
    for (const Finding& finding : findings) {
        result.push_back({{"kind", finding.kind}, {"id", finding.id}, {"text", finding.text}});
    }
    return result;
}

Json interval(const Interval& of, double unit = 1) {
    return Json::array({of.low * unit, of.high * unit});
}

Json to_json(const ShapeTiming& timing) {
    constexpr double kMs = 1e3;
    Json share = Json::object();
    for (const auto& [baseline, ratio] : timing.share) {
        share[to_string(baseline)] = {{"share", ratio.value}, {"interval", interval(ratio.interval)}};
    }
    Json result{{"shape", timing.shape},
                {"median_ms", timing.seconds.median * kMs},
                {"p10_ms", timing.seconds.p10 * kMs},
                {"p90_ms", timing.seconds.p90 * kMs},
                {"interval_ms", interval(timing.seconds.interval, kMs)},
                {"samples", timing.seconds.samples},
                {"discarded", timing.discarded},
                {"of_speed_of", share},
                {"judged", timing.judged},
                {"roof_is_wrong", timing.roof_is_wrong},
                {"verdict", to_string(timing.verdict)},
                {"medal", to_string(timing.medal)},
                {"findings", to_json(timing.findings)}};
    if (timing.flop > 0 || timing.bytes > 0) {
        result[timing.flop > 0 ? "flop_per_s" : "bytes_per_s"] = timing.rate();
    }
    if (timing.gap) {
        constexpr double kUs = 1e6;
        result["gap_us"] = timing.gap->median * kUs;
        result["gap_interval_us"] = interval(timing.gap->interval, kUs);
    }
    return result;
}

Json to_json(const TimingReport& timing) {
    Json shapes = Json::array();
    for (const ShapeTiming& shape : timing.shapes) { shapes.push_back(to_json(shape)); }
    const ShapeTiming& worst = timing.worst();
    const std::optional<Ratio> share = worst.of(timing.against);
    return {{"against", to_string(timing.against)},
            {"library", timing.library},
            {"target", to_json(timing.target)},
            {"verdict", to_string(timing.verdict())},
            {"medal", to_string(worst.medal)},
            {"share", share ? Json(share->value) : Json()},
            {"shapes", shapes},
            {"notes", Json::array(timing.notes)}};
}

Json to_json(const std::vector<CounterResult>& counters) {
    Json result = Json::array();
    for (const CounterResult& counted : counters) {
        result.push_back({{"counter", counted.counter},
                          {"value", counted.value},
                          {"needed", counted.needed},
                          {"at_most", counted.at_most},
                          {"most", counted.most}});
    }
    return result;
}

Json to_json(const OpReport& op) {
    Json cases = Json::array();
    for (const CaseReport& report : op.cases) {
        Json one{{"case", report.name},
                 {"shape", report.shape},
                 {"verdict", to_string(report.ok ? Verdict::ok : Verdict::wrong)},
                 {"ran", report.ran},
                 {"budget_used", report.budget_used},
                 {"where", report.where},
                 {"counters", to_json(report.counted)},
                 {"findings", to_json(report.findings)}};
        if (!report.note.empty()) {
            one["note"] = report.note;
        }
        cases.push_back(std::move(one));
    }
    Json result{{"op", op.op}, {"file", op.file}, {"verdict", to_string(op.verdict())}, {"cases", cases}};
    if (!op.included.empty()) {
        result["included"] = op.included;
    }
    if (!op.estimate.is_null()) {
        result["estimate"] = op.estimate;
    }
    if (op.timing.ran()) {
        result["timing"] = to_json(op.timing);
    } else if (!op.timing.notes.empty()) {
        result["not_timed"] = Json::array(op.timing.notes);
    }
    return result;
}

// One line of results.jsonl.
std::string result_line(const LessonReport& report, const OpReport& op, const std::string& time) {
    Json line{{"time", time},
              {"lesson", lesson_number(report.lesson)},
              {"op", op.op},
              {"subject", report.subject},
              {"file", op.file},
              {"fnv1a64", exercise_digest(op.file)},
              {"device", report.device},
              {"cases", op.cases.size()},
              {"all_cases", op.all_cases},
              {"verdict", to_string(op.verdict())},
              {"budget_used", op.budget_used()}};
    if (op.timing.ran()) {
        line["timing"] = to_json(op.timing);
    }
    return line.dump() + "\n";
}

}  // namespace

std::string to_string(Verdict verdict) {
    constexpr std::array kTexts{"ok",         "WRONG",      "not written yet", "SLOW",
                                "IMPOSSIBLE", "no verdict", "not compared",    "NOT YOURS"};
    return kTexts.at(static_cast<std::size_t>(verdict));
}

std::string whose(std::string_view baseline, const std::string& library) {
    return baseline == to_string(Baseline::copy)         ? "a copy's"
           : baseline == to_string(Baseline::read)       ? "a read's"
           : baseline == to_string(Baseline::arithmetic) ? "the fp32 roof's"
           : baseline == to_string(Baseline::busy)       ? "the busy GPU's"
           : baseline == to_string(Baseline::library)    ? library + "'s"
           : baseline == to_string(Baseline::older)      ? "the older solution's"
                                                         : "the solution's";
}

std::optional<Ratio> ShapeTiming::of(Baseline baseline) const {
    const auto found = share.find(baseline);
    return found == share.end() ? std::nullopt : std::optional(found->second);
}

const ShapeTiming& TimingReport::worst() const {
    const auto rank = [&](const ShapeTiming& shape) {
        constexpr std::array kOrder{Verdict::wrong, Verdict::impossible, Verdict::slow, Verdict::no_verdict,
                                    Verdict::ok};
        const bool wrong = shape.verdict == Verdict::wrong || shape.verdict == Verdict::impossible;
        const std::optional<Ratio> share = shape.of(against);
        return std::tuple(!shape.judged && !wrong, std::ranges::find(kOrder, shape.verdict) - kOrder.begin(),
                          shape.medal, share ? share->value : 0.0);
    };
    return *std::ranges::min_element(shapes, {}, rank);
}

std::size_t TimingReport::judged() const {
    return static_cast<std::size_t>(std::ranges::count_if(shapes, &ShapeTiming::judged));
}

Verdict TimingReport::verdict() const {
    return worst().verdict;
}

Verdict OpReport::verdict() const {
    if (is_stub && cases.empty() && !timing.ran()) {
        return Verdict::not_written;
    }
    const bool right = std::ranges::all_of(cases, &CaseReport::ok);
    if (!right) {
        return is_stub || !unwritten_helper.empty() || std::ranges::all_of(cases, &CaseReport::untouched)
                   ? Verdict::not_written
                   : Verdict::wrong;
    }
    if (!included.empty()) {
        return Verdict::not_yours;
    }
    if (wasteful() != nullptr || too_accurate() != nullptr) {
        return Verdict::slow;
    }
    const Verdict verdict = timing.ran() ? timing.verdict() : Verdict::ok;
    return timing.not_compared && verdict != Verdict::wrong && verdict != Verdict::impossible ? Verdict::not_compared
                                                                                              : verdict;
}

const std::string& OpReport::file_to_edit() const {
    return !is_stub && verdict() == Verdict::not_written && !unwritten_helper.empty() ? unwritten_helper : file;
}

bool OpReport::correct() const {
    return verdict() != Verdict::wrong && verdict() != Verdict::not_written;
}

const CounterResult* CaseReport::wasteful() const {
    const auto found = std::ranges::find_if(counted, &CounterResult::too_many);
    return found == counted.end() ? nullptr : &*found;
}

const CaseReport* OpReport::wasteful() const {
    const auto found = std::ranges::find_if(cases, [](const CaseReport& c) { return c.wasteful() != nullptr; });
    return found == cases.end() ? nullptr : &*found;
}

const Finding* CaseReport::too_accurate() const {
    const auto found = std::ranges::find(findings, "too_accurate", &Finding::kind);
    return found == findings.end() ? nullptr : &*found;
}

const CaseReport* OpReport::too_accurate() const {
    if (library_chooses && std::ranges::any_of(cases, &CaseReport::shows_precision)) {
        return nullptr;
    }
    const auto found = std::ranges::find_if(cases, [](const CaseReport& c) { return c.too_accurate() != nullptr; });
    return found == cases.end() ? nullptr : &*found;
}

double OpReport::budget_used() const {
    double used = 0;
    for (const CaseReport& report : cases) { used = std::max(used, report.budget_used); }
    return used;
}

bool LessonReport::ok() const {
    const auto is_ok = [](const OpReport& op) {
        return op.verdict() == Verdict::ok || op.verdict() == Verdict::no_verdict;
    };
    return std::ranges::all_of(ops, is_ok) && (!model || is_ok(*model));
}

Json to_json(const Shares& shares) {
    return {{"bronze", shares.bronze}, {"silver", shares.silver}, {"gold", shares.gold}};
}

std::string to_json(const LessonReport& report) {
    Json ops = Json::array();
    for (const OpReport& op : report.ops) { ops.push_back(to_json(op)); }
    Json result{{"lesson", lesson_number(report.lesson)},
                {"name", report.lesson},
                {"subject", report.subject},
                {"device", report.device},
                {"rehearsal", report.dry_run},
                {"ok", report.ok()},
                {"seconds", report.seconds},
                {"ops", ops}};
    if (report.model) {
        result["model"] = to_json(*report.model);
    }
    return result.dump(2) + "\n";
}

void append_results(const std::filesystem::path& file, const LessonReport& report) {
    std::error_code ignored;  // where the directory cannot be made, opening the file says so
    if (file.has_parent_path()) {
        std::filesystem::create_directories(file.parent_path(), ignored);
    }
    const std::string now = utc_now();
    std::string lines;
    for (const OpReport& op : report.ops) { lines += result_line(report, op, now); }
    const FileDescriptor opened(open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    char last = '\n';
    if (const off_t end = lseek(opened.get(), 0, SEEK_END); end > 0 && pread(opened.get(), &last, 1, end - 1) == 1) {
        lines.insert(0, last == '\n' ? 0 : 1, '\n');  // a full disk may have cut a line short
    }
    if (opened.get() < 0 || write(opened.get(), lines.data(), lines.size()) != std::ssize(lines)) {
        throw FileError(fmt::format("{} cannot be written: {}", file.string(), std::strerror(errno)));
    }
}

}  // namespace checker
