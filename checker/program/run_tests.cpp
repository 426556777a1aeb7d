// SPDX-License-Identifier: MIT
#include "checker/program/run_tests.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "checker/base/course.h"
#include "checker/base/file_error.h"
#include "checker/base/files.h"
#include "checker/base/stub.h"
#include "checker/base/text.h"
#include "checker/cases/lesson.h"
#include "checker/cases/lesson_toml.h"
#include "checker/clock/roof_file.h"
#include "checker/judge/judge.h"
#include "checker/judge/report.h"
#include "checker/judge/verdict.h"
#include "checker/program/describe_lesson.h"
#include "checker/program/doubles.h"
#include "checker/program/register_test.h"
#include "checker/program/registers.h"
#include "checker/worker/device_backend.h"
#include "checker/worker/time_op.h"

namespace checker {
namespace {

// "causal_softmax" is CausalSoftmax.
std::string camel_case(const std::string& name) {
    std::string result;
    for (std::size_t i = 0; i < name.size(); i++) {
        const bool begins = i == 0 || name[i - 1] == '_';
        if (name[i] != '_') {
            result += begins ? static_cast<char>(std::toupper(static_cast<unsigned char>(name[i]))) : name[i];
        }
    }
    return result;
}

std::string first_text(const std::vector<Finding>& findings) {
    return findings.empty() ? "wrong" : findings.front().text;
}

// The state of one run of the check: what the tests share.
class Session {
  public:
    Session(const Lesson& lesson, const Options& options)
        : lesson_(lesson),
          options_(options),
          judge_(lesson, options.impl_dir, options.reference_dir, options.for_worker(), worker_limit()) {
        require_judged(lesson.toml(), lesson);
        judge_.show_progress(isatty(STDERR_FILENO) == 1);
        reports_.resize(lesson.ops().size());
        for (std::size_t i = 0; i < reports_.size(); i++) {
            reports_[i].op = lesson.ops()[i].name;
            reports_[i].asked_for = false;
            reports_[i].library_chooses = !device_backend().is_host() && device_backend().has_times();
            const std::filesystem::path source = options.source(lesson.name(), reports_[i].op);
            reports_[i].file = source.string();
            reports_[i].included = included_solution(i);
            if (options.subject == "lessons") {
                reports_[i].is_stub = is_stub(source.lexically_relative("lessons"));
                look_at_helpers(reports_[i]);
            }
        }
    }

    // Throws std::runtime_error where the device that the ops run on is not there, or is not what the lesson requires.
    void require_device() { judge_.require_device(lesson_.toml()); }

    void run_case(std::size_t op, std::size_t case_index) {
        const Case& c = lesson_.ops()[op].cases[case_index];
        OpReport& report = reports_[op];
        report.asked_for = true;
        const CaseReport& result = report.cases.emplace_back(report_of_case(op, case_index));
        const auto never_ends = [](const Finding& finding) {
            return finding.kind == "hang" || finding.kind == "spin" || finding.kind == "time_limit";
        };
        if (std::ranges::any_of(result.findings, never_ends)) {
            hung_.insert(op);
        }
        if (!result.ok && result.ran) {
            wrong_at_.try_emplace(op, bytes_of(c));
        }
        if (!result.ok) {
            ADD_FAILURE() << report.file << ": " << c.shape << ": " << first_text(result.findings);
        } else if (const CounterResult* counted = result.wasteful()) {
            ADD_FAILURE() << report.file << ": " << c.shape << ": " << text_of(*counted);
        } else if (!result.ran && !result.note.empty()) {
            GTEST_SKIP() << result.note;
        }
    }

    // The CPU device takes seconds for a large shape, and a mistake that a smaller one has shown needs no more of them.
    bool is_left_out(std::size_t op, const Case& c) const {
        const bool is_slow = device_backend().runs_two_schedules();
        const auto wrong = wrong_at_.find(op);
        return is_slow && !options_.verbose && wrong != wrong_at_.end() && !c.is_sampled() &&
               bytes_of(c) > wrong->second;
    }

    // Returns the case that shows that this one, which is much larger, would take long on the CPU device: what asks for
    // several times the bytes there may ask for thousands of times as many here. Null if there is none.
    const CaseReport* much_smaller_slow_case(std::size_t op, const Case& c) const {
        constexpr double kSeveral = 1.5, kMuch = 64;
        const CaseReport* const slow = reports_[op].wasteful();
        if (slow == nullptr || options_.verbose || c.is_sampled() || !device_backend().runs_two_schedules()) {
            return nullptr;
        }
        const auto& cases = lesson_.ops()[op].cases;
        const auto smaller = std::ranges::find(cases, slow->name, &Case::name);
        const CounterResult& counted = *slow->wasteful();
        const bool several = counted.needed > 0 && counted.value > kSeveral * counted.needed;
        return several && smaller != cases.end() &&
                       static_cast<double>(bytes_of(c)) > kMuch * static_cast<double>(bytes_of(*smaller))
                   ? slow
                   : nullptr;
    }

    // Adds to operations in double what makes them so. If the line is of variables of that type, they are meant: a note
    // names it.
    void explain_doubles(CaseReport& result, const std::filesystem::path& file) const {
        const auto counted = std::ranges::find(result.counted, "operations_of_doubles", &CounterResult::counter);
        if (counted == result.counted.end() || counted->most.empty()) {
            return;
        }
        const std::vector<std::string_view> place = split(counted->most, ':');  // file, line, what
        const std::vector<std::filesystem::path> files = files_of_exercise(file);
        const auto named = std::ranges::find_if(files, [&](const std::filesystem::path& one) {
            return one.filename() == std::filesystem::path(place[0]).filename();
        });
        if (named == files.end() || place.size() < 2) {
            return;
        }
        const std::string source = read_file_if_there(*named).value_or("");
        const int line = std::atoi(std::string(place[1]).c_str());
        if (means_double(source, line)) {
            result.note = result.note.empty()
                              ? fmt::format(
                                    "{}:{} computes in double, {} operations: a GPU does 1/2 to 1/64 as many of "
                                    "them at a time as of floats",
                                    place[0], place[1], format_count(std::lround(counted->value)))
                              : result.note;
            result.counted.erase(counted);
            return;
        }
        counted->most += reason_for_double(source, line, false);
    }

    // Asks nvcc whether wide blocks can have their registers, once for an op. What it emits of the solutions is recorded
    // and tested.
    void judge_registers(std::size_t op, CaseReport& result) {
        const auto wide = std::ranges::find(result.counted, "threads_of_wide_blocks", &CounterResult::counter);
        if (wide == result.counted.end() || wide->value == 0) {
            return;
        }
        const std::string kernel = wide->most;
        const long threads = std::lround(wide->value);
        result.counted.erase(wide);
        if (options_.subject != "lessons" || !result.ok || !registers_asked_.insert(op).second) {
            return;
        }
        std::string note;
        if (std::optional<Finding> finding = find_too_many_registers(reports_[op].file, kernel, threads, note)) {
            result.ok = false;
            result.calls = 1;  // none of them is the reason
            result.findings.push_back(std::move(*finding));
        }
        result.note = result.note.empty() ? note : result.note;
    }

    // Returns true if nvcc is to be asked how much of a thread an op's kernels keep in local memory.
    bool judges_local_memory(const std::string& op) const {
        return options_.subject == "lessons" && !at_most(op).empty();
    }

    // Asks nvcc, if the op is right in all its cases. A note and a count belong to the last of them.
    void judge_local_memory(std::size_t op) {
        OpReport& report = reports_[op];
        if (report.cases.empty() || report.verdict() != Verdict::ok) {
            GTEST_SKIP() << "nvcc is not asked: first it must be right";
        }
        std::string note;
        CaseReport& last = report.cases.back();
        const std::optional<CounterResult> counted = find_local_memory(
            report.file, std::filesystem::path("solutions") / lesson_.name() / (report.op + ".cu"), note);
        last.note = last.note.empty() ? note : last.note;
        if (counted) {
            last.counted.push_back(*counted);
            ADD_FAILURE() << report.file << ": " << text_of(*counted);
        }
    }

    // Returns the report of a case; if it is not run, with the reason.
    CaseReport report_of_case(std::size_t op, std::size_t case_index) {
        const Case& c = lesson_.ops()[op].cases[case_index];
        CaseReport result{.name = c.name, .shape = c.shape};
        if (std::optional<Finding> finding = judge_.missing(op, compiler_log(op))) {
            result.findings.push_back(std::move(*finding));
        } else if (hung_.contains(op)) {
            result.ran = false;
            result.findings.push_back({"hang", "not run: an earlier shape did not end"});
        } else if (const CaseReport* slow = much_smaller_slow_case(op, c)) {
            result.ran = false;
            result.ok = true;
            result.note = fmt::format("{} is not run: {} shows that it is slow", c.shape, slow->shape);
        } else if (is_left_out(op, c)) {
            result.ran = false;
            result.untouched = true;  // as far as is known
            result.findings.push_back({kLeftOut, "not run: a smaller shape is wrong already"});
        } else {
            result = judge_.check_case(op, case_index, at_most(reports_[op].op));
            reports_[op].printed += judge_.take_output();
            explain_doubles(result, reports_[op].file);
            judge_registers(op, result);
        }
        return result;
    }

    // Returns the limits of lesson.toml for the counters, if the device has some; the others are not judged.
    std::map<std::string, double> at_most(const std::string& op) const {
        const auto targets = lesson_.toml().counters.find(op);
        const bool counts = !device_backend().counters().empty();
        return counts && targets != lesson_.toml().counters.end() ? targets->second : std::map<std::string, double>();
    }

    void run_timing(std::size_t op) {
        OpReport& report = reports_[op];
        report.asked_for = true;
        if (report.is_stub && report.cases.empty()) {
            FAIL() << report.file << " is not written yet";
        }
        const bool any_wrong = std::ranges::any_of(
            reports_, [](const OpReport& r) { return !r.cases.empty() && r.verdict() == Verdict::wrong; });
        if (any_wrong || !report.correct()) {
            GTEST_SKIP() << "not timed: first it must be right";
        }
        if (judge_.missing(op, compiler_log(op))) {
            GTEST_SKIP() << "not timed: " << report.file << " is not built";
        }
        if (!report.included.empty()) {
            GTEST_SKIP() << "not timed: " << report.file << " includes " << report.included;
        }
        read_roof();
        report.timing = judge_.time(op, lesson_.toml().targets.at(report.op), roof_, options_.timing_only);
        report.printed += judge_.take_output();
        raise_roof(report.timing);
        note_slow_machine(report.timing);
        if (!report.timing.ran()) {
            const std::vector<std::string>& notes = report.timing.notes;
            GTEST_SKIP() << (notes.empty() ? "not timed: none of its shapes is judged" : notes.front());
        }
        const Verdict verdict = report.timing.verdict();
        if (verdict == Verdict::slow && device_backend().is_host()) {
            note_doubles(report);
        }
        if (verdict != Verdict::ok && verdict != Verdict::no_verdict) {
            const ShapeTiming& worst = report.timing.worst();
            ADD_FAILURE() << report.file << ": " << worst.shape << ": " << first_text(worst.findings);
        }
    }

    // Runs the whole step with the subject's files, if each op is right by itself. Runs nothing where model.so was not built.
    void run_model() {
        for (std::size_t i = 0; i < reports_.size(); i++) {
            const bool passes = reports_[i].asked_for && reports_[i].verdict() == Verdict::ok;
            if (options_.only.empty() && !passes && !is_left_to_earlier_lesson(i)) {
                GTEST_SKIP() << "not run: first each op must pass";
            }
        }
        CaseReport result;
        const std::string said = read_file_if_there(options_.log_dir / "model.log").value_or("");
        if (std::filesystem::exists(options_.impl_dir / "model.so")) {
            result = judge_.check_case(reports_.size(), 0, {});
        } else if (!said.empty()) {
            result.findings.push_back(not_linked(said));
        } else {
            GTEST_SKIP() << "not run: " << (options_.impl_dir / "model.so").string() << " is not built";
        }
        OpReport& report = model_.emplace();
        report.op = "model";
        const bool is_of_course = options_.subject == "lessons" || options_.subject == "solutions";
        report.file = reports_.size() == 1 ? reports_.front().file
                      : is_of_course       ? options_.subject + '/' + lesson_.name()
                                           : options_.subject;
        report.printed = judge_.take_output();
        if (!result.ok && !result.findings.empty()) {
            std::string& text = result.findings.front().text;
            text = "each op is right by itself, and together they are not: " + text;
            ADD_FAILURE() << report.file << ": " << text;
        }
        report.cases.push_back(std::move(result));
    }

    // Adds the best times that a card could reach with the right ops that are not given. A process of its own counts them,
    // with few seconds of a processor (and, on a busy machine, more of the clock): no fault there changes a verdict.
    void estimate() {
        if (!options_.at_best || device_backend().is_host() || !device_backend().samples_blocks()) {
            return;
        }
        for (OpReport& report : reports_) {
            const bool given = std::ranges::count(lesson_.toml().given, report.op) > 0;
            if (report.asked_for && !report.cases.empty() && report.correct() && !given) {
                add_estimate(report);
            }
        }
    }

    bool has_target(const std::string& op) const { return lesson_.toml().targets.contains(op); }

    // Returns true if the op's file is an earlier lesson's, which serves this one too. This lesson does not ask for it.
    bool is_shared(std::size_t op) const {
        const std::string folder = std::filesystem::path(reports_[op].file).parent_path().filename().string();
        return folder != lesson_.name() && (options_.subject == "lessons" || options_.subject == "solutions");
    }

    // A shared file is judged once it is written, or where it is asked for.
    bool is_left_to_earlier_lesson(std::size_t op) const {
        return is_shared(op) && reports_[op].is_stub && options_.only.empty();
    }

    // Returns the part of the report that is recorded as this lesson's.
    LessonReport report_of_exercises() const {
        LessonReport own = report();
        std::erase_if(own.ops, [this](const OpReport& op) { return is_shared(op.op); });
        return own;
    }

    LessonReport report() const {
        LessonReport result{.lesson = lesson_.name(), .subject = options_.subject};
        result.times_asked = options_.timing_only;
        result.dry_run = device_backend().dry_run();
        result.device = options_.device.empty() ? device_backend().name() : options_.device;
        result.roof = roof_;
        result.estimates_are = estimates_are_;
        result.model = model_;
        for (std::size_t i = 0; i < reports_.size(); i++) {
            if (reports_[i].asked_for) {
                result.ops.push_back(reports_[i]);
                result.ops.back().all_cases = reports_[i].cases.size() == lesson_.ops()[i].cases.size();
            }
        }
        result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
        return result;
    }

  private:
    void add_estimate(OpReport& report) {
        constexpr const char* kCard = "H100-SXM";
        const std::filesystem::path out =
            std::filesystem::temp_directory_path() / fmt::format("sol-estimate-{}.json", getpid());
        std::string command =
            "ulimit -t 5; timeout 30 " + quoted(std::filesystem::read_symlink("/proc/self/exe").string());
        for (const std::string& word : options_.for_worker()) { command += ' ' + quoted(word); }
        command += fmt::format(" --estimate --quick --cards {} --subject {} --only {} --json {} 2>&1", kCard,
                               quoted(options_.subject), report.op, quoted(out.string()));
        try {
            if (run_command(command).status == 0) {
                take_estimate(report, Json::parse(read_file(out)));
            }
        } catch (const std::exception&) {  // then nothing is said
        }
        std::error_code ignored;
        std::filesystem::remove(out, ignored);
    }

    void take_estimate(OpReport& report, const Json& estimated) {
        if (estimated.at("ops").elements().empty()) {
            return;
        }
        const Json& op = estimated.at("ops").elements().front();
        const std::vector<Json>& sides = op.at("sides").elements();
        const Json& own = sides.front().at("at_best").elements().front();
        if (!own.at("launchable").boolean()) {
            report.at_best = fmt::format("it cannot be launched on {} at {}: make estimate-lesson{}",
                                         own.at("name").text(), op.at("shape").text(), lesson_number(lesson_.name()));
            return;
        }
        report.at_best = fmt::format("at best {} at {} on {}, bound by {}", own.at("speed").text(),
                                     op.at("shape").text(), own.at("name").text(), own.at("limit").text());
        // Side by side stands what was counted alike.
        const Json* const older = sides.back().find("at_best");
        const bool looser = sides.front().at("looser").boolean();
        if (older != nullptr && sides.back().at("who").text().starts_with("lesson ") && !looser &&
            !sides.back().at("looser").boolean()) {
            const Json& its = older->elements().front();
            report.at_best += fmt::format(" ({}: {}, {})", sides.back().at("who").text(), its.at("speed").text(),
                                          its.at("limit").text());
        }
        if (looser) {
            report.at_best += fmt::format(", by the source's own accesses; by what nvcc emits: make estimate-lesson{}",
                                          lesson_number(lesson_.name()));
        }
        report.estimate = own;
        report.estimate["shape"] = op.at("shape");
        report.estimate["instructions"] = sides.front().at("instructions");
        estimates_are_ = estimated.at("estimates_are").text();
    }

    // Returns the finding for ops that the linker does not put into one library; `said` is what it says.
    Finding not_linked(const std::string& said) const {
        const std::string twice = "multiple definition of `";
        const std::size_t begin = said.find(twice);
        if (begin == std::string::npos) {
            return {"not_linked", fmt::format("they do not link; {} has what the linker says",
                                              (options_.log_dir / "model.log").string())};
        }
        const std::size_t name = begin + twice.size();
        return {"not_linked", fmt::format("two files define {}: put all but the op into an unnamed namespace",
                                          said.substr(name, said.find('\'', name) - name))};
    }

    // A helper beside the op's file is the learner's. Of one of an earlier lesson make takes the solution's where the learner's
    // is not written yet.
    static void look_at_helpers(OpReport& report) {
        for (const std::filesystem::path helper : helpers_of(report.file)) {
            const std::string file = ("lessons" / helper).string();
            if (!is_stub(helper)) {
                report.helpers.push_back(file);
            } else if (std::filesystem::path(file).parent_path() == std::filesystem::path(report.file).parent_path()) {
                report.unwritten_helper = file;
            } else {
                report.stand_ins.push_back(
                    fmt::format("with {}: {} is not written yet", ("solutions" / helper).string(), file));
            }
        }
    }

    // This machine's roof, once something is timed: from the file, or measured where all times are wanted.
    void read_roof() {
        if (options_.roof.empty() || roof_asked_ || !device_backend().is_host()) {
            return;
        }
        roof_asked_ = true;
        std::string why;
        const std::optional<Roof> known = load_roof(options_.roof, cpu_name(), why);
        if (known) {
            roof_ = known->cpu;
        } else if (options_.timing_only) {
            fmt::print(stderr, "{}; measuring it now …\n", why);
            const Roof measured{
                .cpu = measure_cpu_roof([](const std::string&) {}), .gpu = {}, .measured_at = utc_now()};
            save_roof(measured, options_.roof);
            roof_ = measured.cpu;
        }
    }

    // Returns the rate of multiply-adds on this core in a run, in FLOP a second; nothing if they were not timed.
    static std::optional<double> multiply_adds(const ShapeTiming& shape) {
        const std::optional<Ratio> share = shape.of(Baseline::arithmetic);
        return share ? std::optional(shape.rate() / share->value) : std::nullopt;
    }

    // A file that a run beats by a tenth was measured while something else was running: it takes what the run reached.
    void raise_roof(TimingReport& timing) {
        constexpr double kBeaten = 1.1;
        double best = 0;
        for (const ShapeTiming& shape : timing.shapes) { best = std::max(best, multiply_adds(shape).value_or(0)); }
        if (!roof_ || best <= kBeaten * roof_->fma_one) {
            return;
        }
        std::string why;
        std::optional<Roof> known = load_roof(options_.roof, cpu_name(), why);
        if (!known || best <= kBeaten * known->cpu.fma_one) {
            return;
        }
        timing.notes.push_back(
            fmt::format("this core reached {} GFLOP/s of multiply-adds, which {} says from now on; it said {}, "
                        "measured while something else was running",
                        significant(best * 1e-9), options_.roof.string(), significant(known->cpu.fma_one * 1e-9)));
        known->cpu.fma_one = best;
        known->cpu.fma_all = std::max(known->cpu.fma_all, best);
        save_roof(*known, options_.roof);
        roof_ = known->cpu;
    }

    // Literals such as 0.5 turn arithmetic of floats into one of doubles, which takes longer and is not more right.
    static void note_doubles(OpReport& report) {
        if (const std::string note = first_double(report.file); !note.empty()) {
            report.timing.notes.push_back(note);
        }
    }

    // Notes that something else is running if multiply-adds were much slower than when the roof was measured.
    void note_slow_machine(TimingReport& timing) const {
        constexpr double kMuch = 0.75;
        for (const ShapeTiming& shape : timing.shapes) {
            const std::optional<double> now = multiply_adds(shape);
            if (roof_ && now && *now < kMuch * roof_->fma_one) {
                timing.notes.push_back(
                    fmt::format("this core did {} of its best in this run: something else is running",
                                percent(*now / roof_->fma_one)));
                return;
            }
        }
    }

    bool is_shared(const std::string& op) const {
        const auto found = std::ranges::find(lesson_.ops(), op, &Op::name);
        return is_shared(static_cast<std::size_t>(found - lesson_.ops().begin()));
    }

    // The solution's file that an op's file includes, as the compiler's list of what it has read tells; empty if none. An
    // earlier lesson's helper is none.
    std::string included_solution(std::size_t op) const {
        if (options_.subject == "solutions") {
            return "";
        }
        std::ifstream list(compiler_log(op).replace_extension(".d"));
        for (std::string name; list >> name;) {
            const std::filesystem::path file = std::filesystem::path(name).lexically_normal();
            const bool is_own = file.extension() == ".cuh" && file.parent_path().filename() == lesson_.name();
            const bool is_code = file.extension() == ".cpp" || file.extension() == ".cu" || is_own;
            if (is_code && file.begin()->string() == "solutions") {
                return file.string();
            }
        }
        return "";
    }

    std::filesystem::path compiler_log(std::size_t op) const {
        const std::string name = reports_[op].op + ".log";
        const std::filesystem::path host = std::filesystem::path("build/ops") / options_.subject;
        return is_shared(op) ? host / std::filesystem::path(reports_[op].file).parent_path().filename() / name
                             : options_.log_dir / name;
    }

    const Lesson& lesson_;
    const Options& options_;
    Judge judge_;
    std::vector<OpReport> reports_;
    std::optional<OpReport> model_;
    std::set<std::size_t> hung_;
    std::set<std::size_t> registers_asked_;
    std::map<std::size_t, std::size_t> wrong_at_;  // by op: bytes of the first wrong shape
    std::optional<CpuRoof> roof_;
    bool roof_asked_ = false;
    std::string estimates_are_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// GoogleTest groups by suite in the order of first registration: correctness of every op, then every timing.
void register_tests(const Lesson& lesson, const Options& options, Session& session) {
    const bool times = device_backend().has_times();
    std::vector<std::size_t> timed;
    for (std::size_t op = 0; op < lesson.ops().size(); op++) {
        const Op& o = lesson.ops()[op];
        if (session.is_left_to_earlier_lesson(op)) {
            continue;
        }
        for (std::size_t c = 0; c < o.cases.size() && !options.timing_only; c++) {
            if (options.wants(o.name, o.cases[c].name) && !(options.no_large && o.cases[c].is_sampled())) {
                register_test(camel_case(o.name), o.cases[c].name, [&session, op, c] { session.run_case(op, c); });
            }
        }
        if (!options.timing_only && options.wants(o.name, "local_memory") && session.judges_local_memory(o.name)) {
            register_test(camel_case(o.name), "local_memory", [&session, op] { session.judge_local_memory(op); });
        }
        if (times && !options.no_timing && options.wants(o.name, "timing") && !o.timed.empty() &&
            session.has_target(o.name)) {
            timed.push_back(op);
        }
    }
    if (lesson.has_model() && options.wants("model") && !options.timing_only) {
        register_test("Model", "small", [&session] { session.run_model(); });
    }
    for (const std::size_t op : timed) {
        register_test("Timing", lesson.ops()[op].name, [&session, op] { session.run_timing(op); });
    }
}

// Prints the verdict in place of GoogleTest's own lines, and keeps it among the results.
class VerdictListener : public testing::EmptyTestEventListener {
  public:
    VerdictListener(Session& session, const Options& options, Next next)
        : session_(session), options_(options), next_(std::move(next)) {}

    void OnTestProgramEnd(const testing::UnitTest& /*unit_test*/) override {
        session_.estimate();
        const LessonReport report = session_.report();
        if (report.ops.empty() && !report.model) {
            return;
        }
        fmt::print("{}", verdict_text(report, next_, Terminal::of_stdout(options_.verbose)));
        std::fflush(stdout);
        if (options_.results.empty()) {
            return;
        }
        try {
            append_results(options_.results, session_.report_of_exercises());
        } catch (const FileError& e) {
            fmt::print(stderr, "warning: {}; the verdict stands, it is only not recorded\n", e.what());
        }
    }

  private:
    Session& session_;
    const Options& options_;
    Next next_;
};

// The folder of the lesson after this one; empty if there is none.
std::string lesson_after(const std::filesystem::path& lesson_dir) {
    const std::string here = lesson_dir.filename().string();
    std::string next;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(lesson_dir.parent_path(), error)) {
        const std::string name = entry.path().filename().string();
        next = is_lesson(name) && name > here && (next.empty() || name < next) ? name : next;
    }
    return next;
}

Next next_commands(const Options& options, const Lesson& lesson) {
    const std::string number = lesson_number(lesson.name());
    const bool yours = options.subject == "lessons";
    Next next;
    const DeviceBackend& device = device_backend();
    next.check =
        fmt::format("make check-lesson{}{}{}{}", number, options.subject == "solutions" ? " SOLUTION=1" : "",
                    !device.is_host() && device.has_times() ? " DEVICE=gpu" : "", device.dry_run() ? " DRY=1" : "");
    next.hint = yours ? fmt::format("make hint-lesson{}", number) : "";
    if (!yours || !options.last) {
        return next;
    }
    if (!options.only_case().empty()) {
        next.done.push_back(fmt::format("{} ONLY={}   all its shapes", next.check, options.only_op()));
        return next;
    }
    if (!options.only.empty() && lesson.ops().size() > 1) {
        next.done.push_back(fmt::format("{}   the lesson's other ops too", next.check));
        return next;
    }
    next.done.push_back(fmt::format("make diff-lesson{}   yours beside the solution", number));
    if (is_step(lesson.name())) {
        next.done.push_back(fmt::format("make gpt2 STEP={} BASE=lessons   GPT-2 on your ops", number));
    }
    if (const std::string after = lesson_after(options.lesson_dir); !after.empty()) {
        next.done.push_back(fmt::format("lessons/{}/README.md   the next lesson", after));
    }
    return next;
}

}  // namespace

void take_test_options(int& argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
}

int run_tests(const Lesson& lesson, const Options& options) {
    Session session(lesson, options);
    register_tests(lesson, options, session);
    testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new VerdictListener(session, options, next_commands(options, lesson)));
    const bool runs = !testing::GTEST_FLAG(list_tests);
    if (!device_backend().is_host() && runs) {
        session.require_device();
    }
    // Exceptions of the code under test are findings. An exception of the check itself ends all tests, because the check
    // cannot go on: it must not fail one test alone and leave a verdict on the rest.
    testing::GTEST_FLAG(catch_exceptions) = false;
    const int status = RUN_ALL_TESTS();
    const LessonReport report = session.report();
    const bool is_empty = report.ops.empty() && !report.model;
    if (is_empty && runs) {
        throw std::invalid_argument("nothing was checked: the options leave no test");
    }
    if (!is_empty && !options.json.empty()) {  // not in the listener, whose exceptions GoogleTest catches
        write_whole(options.json, to_json(report));
    }
    return status == 0 && !report.ok() ? 1 : status;  // some of what the cases show is judged when all have been run
}

}  // namespace checker
