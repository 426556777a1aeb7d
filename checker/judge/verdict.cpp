// SPDX-License-Identifier: MIT
#include "checker/judge/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "checker/base/course.h"
#include "checker/base/text.h"

namespace checker {
namespace {

constexpr std::size_t kColumns = 80;

enum class Tone { plain, good, bad, warning, faint, strong };
constexpr std::array kEscapes{"", "\033[32m", "\033[1;31m", "\033[33m", "\033[2m", "\033[1m"};  // by Tone

// A character is a code point: everything we print is one column wide.
bool begins_character(char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
}

std::size_t width(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

// The beginning of a text that fits so many columns, in whole characters.
std::string_view first_columns(std::string_view text, std::size_t columns) {
    std::size_t shown = 0;
    const auto end = std::ranges::find_if(text, [&](char c) { return begins_character(c) && ++shown > columns; });
    return {text.begin(), end};
}

// Breaks a text into lines of at most `columns`; a word that is longer than that stays whole, and so do runs of spaces.
std::vector<std::string> wrapped(const std::string& text, std::size_t columns) {
    std::vector<std::string> lines;
    std::string rest = text;
    while (width(rest) > columns) {
        std::size_t cut = std::string::npos;
        for (std::size_t i = rest.find(' '); i != std::string::npos; i = rest.find(' ', i + 1)) {
            if (width(std::string_view(rest).substr(0, i)) > columns) {
                break;
            }
            if (rest.find_first_not_of(' ') < i) {
                cut = i;
            }
        }
        if (cut == std::string::npos) {
            break;
        }
        lines.push_back(rest.substr(0, rest.find_last_not_of(' ', cut) + 1));
        rest.erase(0, rest.find_first_not_of(' ', cut));
    }
    lines.push_back(rest);
    return lines;
}

constexpr std::string_view kDeviceNote = "simt: note: ";  // begins a note of the CPU device

class Printer {
  public:
    Printer(const LessonReport& report, const Next& next, const Terminal& terminal)
        : report_(report), next_(next), terminal_(terminal) {
        for (const OpReport& op : report.ops) { name_width_ = std::max(name_width_, op.op.size()); }
        name_width_ = report.model ? std::max(name_width_, report.model->op.size()) : name_width_;
    }

    std::string text() {
        heading();
        const OpReport* detailed = first_to_show();
        for (const OpReport& op : report_.ops) { print(op, terminal_.verbose || &op == detailed); }
        if (report_.model) {
            print(*report_.model, terminal_.verbose || &*report_.model == detailed);
        }
        if (!report_.estimates_are.empty()) {
            line("");
            wrap("  ", 2, report_.estimates_are, Tone::faint);
        }
        closing(detailed);
        return std::move(out_);
    }

  private:
    std::string coloured(Tone tone, const std::string& text) const {
        if (!terminal_.colour || tone == Tone::plain || text.empty()) {
            return text;
        }
        return fmt::format("{}{}\033[0m", kEscapes.at(static_cast<std::size_t>(tone)), text);
    }

    std::string dot() const { return terminal_.unicode ? " · " : " - "; }

    void line(const std::string& text) { out_ += text + "\n"; }

    // `head`, which takes `left` columns, then text, which is wrapped under itself.
    void wrap(std::string head, std::size_t left, const std::string& text, Tone tone = Tone::plain) {
        for (const std::string& part : wrapped(text, kColumns - left)) {
            line(std::exchange(head, std::string(left, ' ')) + coloured(tone, part));
        }
    }

    void labelled(std::size_t indent, std::string_view label, std::size_t label_width, const std::string& text,
                  Tone tone = Tone::plain) {
        wrap(fmt::format("{:{}}{:<{}}", "", indent, label, label_width), indent + label_width, text, tone);
    }

    std::string files() const {
        if (report_.subject == "lessons") {
            return "your files in lessons/" + report_.lesson;
        }
        if (report_.subject == "solutions") {
            return "the solution in solutions/" + report_.lesson;
        }
        return report_.subject;
    }

    void heading() {
        line(coloured(Tone::strong, fmt::format("lesson {}{}{}", lesson_number(report_.lesson), dot(),
                                                lesson_title(report_.lesson))) +
             dot() + files() + dot() + report_.device);
        if (report_.times_asked && report_.roof) {
            line(fmt::format("one core: {} GFLOP/s of multiply-adds, {} GB/s of copies in memory (make calibrate)",
                             significant(report_.roof->fma_one * 1e-9), significant(report_.roof->copy_one * 1e-9)));
        }
        line("");
    }

    // An op that cannot be run at all has one finding, the same for every shape.
    static bool cannot_run(const OpReport& op) {
        return op.verdict() == Verdict::wrong && !op.cases.empty() && !op.cases.front().findings.empty() &&
               op.cases.front().findings.front().kind.starts_with("not_");
    }

    // What the learner should look at first: what does not compile, what is wrong, what is slow, what is not there.
    const OpReport* first_to_show() const {
        auto found = std::ranges::find_if(report_.ops, cannot_run);
        for (const Verdict verdict :
             {Verdict::wrong, Verdict::impossible, Verdict::slow, Verdict::not_yours, Verdict::not_written}) {
            found = found == report_.ops.end() ? std::ranges::find(report_.ops, verdict, &OpReport::verdict) : found;
        }
        if (found == report_.ops.end()) {
            return report_.model && !report_.model->correct() ? &*report_.model : nullptr;
        }
        return &*found;
    }

    static std::string first_finding(const OpReport& op) {
        for (const CaseReport& c : op.cases) {
            if (!c.ok && !c.findings.empty()) {
                return c.findings.front().text;
            }
        }
        return op.file;
    }

    void op_line(const std::string& name, Tone tone, const std::string& word, const std::string& text) {
        constexpr std::size_t kWord = 8;
        const std::string head = fmt::format("  {:<{}}  ", name, name_width_);
        const std::string mark = coloured(tone, word) + std::string(kWord - std::min(kWord - 1, word.size()), ' ');
        wrap(head + mark, head.size() + kWord, text);
    }

    void print(const OpReport& op, bool in_full) {
        const Verdict verdict = op.verdict();
        if (verdict == Verdict::not_written) {
            line(fmt::format("  {:<{}}  {}   {}", op.op, name_width_, coloured(Tone::faint, to_string(verdict)),
                             op.file_to_edit()));
        } else if (!std::ranges::all_of(op.cases, &CaseReport::ok)) {
            op_line(op.op, Tone::bad, to_string(Verdict::wrong), in_full ? op.file : first_finding(op));
            if (in_full && cannot_run(op)) {
                findings(op.cases.front().findings, true);
            } else if (in_full) {
                wrong_cases(op);
                for (const std::string& helper : op.helpers) { labelled(4, "with", 10, helper + ", yours too"); }
            } else {
                fits_lines(op, *std::ranges::find(op.cases, false, &CaseReport::ok));
            }
            for (const std::string& text : op.stand_ins) { labelled(4, "", 10, text, Tone::faint); }
        } else if (!op.cases.empty()) {
            const bool is_model = report_.model && &op == &*report_.model;
            const std::string shapes =
                is_model ? fmt::format("the whole step, {} in turn", format_count(op.cases.front().calls, "call"))
                         : format_count(std::ranges::count(op.cases, true, &CaseReport::ran), "shape");
            op_line(op.op, Tone::good, "ok", fmt::format("{}, {}", shapes, budget_text(op.budget_used())));
            if (!op.included.empty()) {
                op_line(
                    "", Tone::warning, to_string(Verdict::not_yours),
                    fmt::format("it includes {}, so it is not passed: write the code into {}", op.included, op.file));
            }
            for (const std::string& text : op.stand_ins) { labelled(4, "", 8, text, Tone::faint); }
            if (const CaseReport* c = op.too_accurate()) {
                op_line("", Tone::warning, to_string(Verdict::slow),
                        fmt::format("correct, not yet fast: at {} {}", c->shape, c->too_accurate()->text));
            }
            counters_line(op);
            if (!op.at_best.empty()) {
                op_line("", Tone::plain, "", op.at_best);
            }
            const auto noted = std::ranges::find_if(op.cases, [](const CaseReport& c) { return !c.note.empty(); });
            if (noted != op.cases.end()) {
                labelled(4, "note:", 6, noted->note, Tone::faint);
            }
            if (const std::string note = note_of_device(op.printed); !in_full && !note.empty()) {
                labelled(4, "note:", 6, note, Tone::faint);
            }
            if (terminal_.verbose) {
                right_cases(op);
            }
        }
        if (op.timing.ran()) {
            print(op.timing, op.cases.empty() ? op.op : "", op.file);
        } else if (op.cases.empty()) {  // no line names the op yet
            std::string name = op.op;
            for (const std::string& note : op.timing.notes) {
                op_line(name, Tone::warning, name.empty() ? "" : "no time", note);
                name.clear();
            }
        } else {
            for (const std::string& note : op.timing.notes) { labelled(4, "", 8, note, Tone::faint); }
        }
        if (in_full) {
            printed(op);
        }
    }

    // What the op takes of a device, beside what is needed.
    void counters_line(const OpReport& op) {
        if (const CaseReport* c = op.wasteful()) {
            const CounterResult& counted = *c->wasteful();
            std::string target = "none is the target";
            if (counted.needed > 0) {
                const bool alike = times(counted.at_most) == times(counted.value / counted.needed);  // as rounded
                target =
                    fmt::format("at most {} are asked for",
                                alike ? checker::format_count(std::lround(std::floor(counted.at_most * counted.needed)))
                                      : times(counted.at_most));
            }
            op_line("", Tone::warning, to_string(Verdict::slow),
                    fmt::format("correct, not yet fast: at {} it {}; {}", c->shape, text_of(counted), target));
            if (!counted.most.empty()) {
                labelled(4, "most", 8, counted.most);
            }
            return;
        }
        // For each counter, the case that comes nearest to its target.
        std::map<std::string, double> share;
        std::set<std::string> none;  // of what is not needed
        for (const CaseReport& c : op.cases) {
            for (const CounterResult& counted : c.counted) {
                if (counted.value > 0 && counted.needed > 0) {
                    share[counted.counter] = std::max(share[counted.counter], counted.value / counted.needed);
                } else if (counted.needed == 0) {
                    none.insert("no " + in_words(counted.counter));
                }
            }
        }
        if (none.empty() && share.size() == 1 && share.begin()->first == "bytes_asked") {
            op_line("", Tone::good, to_string(Verdict::ok), "asks for no more bytes than are needed");
        } else if (!share.empty() || !none.empty()) {
            std::vector<std::string> parts, all;
            for (const auto& [counter, most] : share) {
                parts.push_back(fmt::format("{} {:.2f}", in_words(counter), most));
            }
            if (!parts.empty()) {
                all.push_back(fmt::format("times what is needed: {}", fmt::join(parts, ", ")));
            }
            std::ranges::copy(none, std::back_inserter(all));
            op_line("", Tone::good, to_string(Verdict::ok), fmt::format("{}", fmt::join(all, "; ")));
        }
    }

    // A counter's name, "bytes_moved", as words.
    static std::string in_words(std::string counter) {
        if (counter == "excess_wavefronts") {
            return "wavefronts lost to bank conflicts";
        }
        std::ranges::replace(counter, '_', ' ');
        return counter;
    }

    static std::string budget_text(double used) {
        return used == 0.0 ? "bit for bit" : fmt::format("at most {} of the error budget used", percent(used));
    }

    void right_cases(const OpReport& op) {
        for (const CaseReport& c : op.cases) {
            labelled(4, "ok", 8, fmt::format("{:<16} {:<22} {}", c.name, c.shape, percent(c.budget_used)));
        }
    }

    // Whether it says more than which values are wrong: a place, or what they fit.
    static bool names_a_cause(const CaseReport& c) {
        return std::ranges::any_of(c.findings, [](const Finding& finding) {
            return finding.kind != "mismatch" && finding.kind != "nonfinite" && finding.kind != "untouched";
        });
    }

    // Shows the first wrong case that says more than which values are wrong, or else the first.
    void wrong_cases(const OpReport& op) {
        const auto wrong = [](const CaseReport& c) { return c.ran && !c.ok; };
        const auto telling =
            std::ranges::find_if(op.cases, [&](const CaseReport& c) { return wrong(c) && names_a_cause(c); });
        const auto shown = telling == op.cases.end() ? std::ranges::find_if(op.cases, wrong) : telling;
        for (const CaseReport& c : op.cases) {
            if (wrong(c) && (&c == &*shown || terminal_.verbose)) {
                case_line(c);
                findings(c.findings, terminal_.verbose);
                if (!terminal_.verbose && !has_suspect(c)) {
                    fits_lines(op, c);
                }
            }
        }
        const auto is_left_out = [](const CaseReport& c) {
            return !c.ran && std::ranges::find(c.findings, kLeftOut, &Finding::kind) != c.findings.end();
        };
        const long more_wrong = terminal_.verbose ? 0 : std::ranges::count_if(op.cases, wrong) - 1;
        const long larger = std::ranges::count_if(op.cases, is_left_out);
        std::vector<std::string> rest;
        const auto add = [&](long n, const char* what, const char* how) {
            if (n > 0) {
                rest.push_back(format_count(n, what) + how);
            }
        };
        add(more_wrong, "other shape", " wrong too");
        add(std::ranges::count(op.cases, true, &CaseReport::ok), "shape", " ok");
        add(std::ranges::count(op.cases, false, &CaseReport::ran) - larger, "shape", " not run");
        add(larger, "larger shape", " not run");
        if (!rest.empty()) {
            labelled(4, "besides", 10, fmt::format("{}", fmt::join(rest, ", ")));
        }
    }

    void case_line(const CaseReport& c) {
        std::string text = fmt::format("{} ({})", c.shape, c.name);
        if (c.calls > 1) {
            text += ", " + c.where;
            if (c.calls_wrong > 1) {
                text += fmt::format(" first; {} of {} calls wrong", c.calls_wrong, c.calls);
            }
        }
        labelled(4, "shape", 10, text);
    }

    // Says which known mistakes an op fits: those of the case `shown`, or of the first other one, if no case refutes them.
    void fits_lines(const OpReport& op, const CaseReport& shown) {
        const auto is_refuted = [&](const Finding& finding) {
            return std::ranges::any_of(op.cases, [&](const CaseReport& c) {
                return std::ranges::find(c.refuted, finding.id) != c.refuted.end();
            });
        };
        const auto print_those_of = [&](const CaseReport& c) {
            bool any = false;
            for (const Finding& finding : c.findings) {
                if (finding.kind == "suspect" && !was_too_late(c.findings) && (&c == &shown || !is_refuted(finding))) {
                    fits_line(finding, &c == &shown ? "" : fmt::format("{} ({})", c.shape, c.name));
                    any = true;
                }
            }
            return any;
        };
        if (!print_those_of(shown)) {
            std::ranges::find_if(op.cases, [&](const CaseReport& c) { return &c != &shown && print_those_of(c); });
        }
    }

    static bool has_suspect(const CaseReport& c) {
        return std::ranges::find(c.findings, "suspect", &Finding::kind) != c.findings.end();
    }

    // Returns true if work was in another stream: values are wrong because of that, and what they resemble would name
    // another mistake.
    static bool was_too_late(const std::vector<Finding>& all) { return !all.empty() && all.front().kind == "stream"; }

    // `where`: the case, if it is not the one that is shown.
    void fits_line(const Finding& finding, std::string where) {
        if (!finding.details.empty()) {
            where = finding.details.front() + (where.empty() ? "" : ", " + where);
        }
        labelled(4, "fits", 10,
                 fmt::format("{}   (all elements agree{})", finding.text, where.empty() ? "" : " at " + where),
                 Tone::warning);
    }

    // The first finding and what explains a wrong value; the rest is counted.
    void findings(const std::vector<Finding>& all, bool every) {
        long more = 0;
        bool first = true;
        for (const Finding& finding : all) {
            if (finding.kind == "suspect" && (every || !was_too_late(all))) {
                fits_line(finding, "");
                continue;
            }
            const bool explains = finding.kind == "displaced";
            if (!first && all.front().text.starts_with(finding.text)) {
                continue;  // the first says it, of values that are not finite too
            }
            if (!first && !every && !explains) {
                more++;
                continue;
            }
            first = false;
            labelled(4, explains ? "moved" : "finding", 10, finding.text, explains ? Tone::warning : Tone::bad);
            for (const std::string& text : finding.details) {
                const std::size_t tab = text.find('\t');
                labelled(4, text.substr(0, tab), 10, text.substr(tab + 1));
            }
        }
        if (more > 0) {
            labelled(4, "", 10,
                     fmt::format("and {}: {} VERBOSE=1", format_count(more, "further finding"), next_.check));
        }
    }

    // Whether it was timed beside what its target is a share of.
    static bool is_comparison(const TimingReport& timing) {
        return timing.ran() && timing.worst().judged && timing.worst().of(timing.against);
    }

    // A target as lesson.toml has it: "67%", "11.5%"; of the older solution's speed "1.5".
    static std::string of_target(const TimingReport& timing, Medal medal) {
        if (timing.against == Baseline::older) {
            return fmt::format("{} {}", to_string(medal), significant(timing.target.of(medal)));
        }
        return fmt::format("{} {:.3g}%", to_string(medal), 100 * timing.target.of(medal));
    }

    // How much of its time the device worked, or how long it did not, beside the target of a medal.
    static std::string busy_text(const TimingReport& timing, const ShapeTiming& shape, Medal target) {
        const std::string where = timing.shapes.size() > 1 ? " at " + shape.shape : "";
        const std::string time = milliseconds(shape.seconds.median);
        return shape.by_gap() ? fmt::format("{}{}, gaps of {} for each of the GPU's nodes ({} {})", time, where,
                                            milliseconds(std::max(shape.gap->median, 0.0)), to_string(target),
                                            milliseconds(timing.gap.of(target)))
                              : fmt::format("{}{}, of which the GPU works {} ({})", time, where,
                                            percent(shape.of(Baseline::busy)->value), of_target(timing, target));
    }

    // The worst shape stands for all. A library that is not there is no measure: a note says why.
    static std::string measured(const TimingReport& timing, Medal target) {
        const ShapeTiming& worst = timing.worst();
        const bool several = timing.judged() > 1;
        const std::string time = milliseconds(worst.seconds.median);
        const std::string whose_speed = whose(to_string(timing.against), timing.library);
        const std::optional<Ratio> share = worst.of(timing.against);
        if (!worst.judged) {
            return time + ", reported only";
        }
        if (share && timing.against == Baseline::busy) {
            return busy_text(timing, worst, target);
        }
        if (!share && timing.against == Baseline::busy) {
            return fmt::format("{}, of which nobody says how much the GPU works ({})", time, of_target(timing, target));
        }
        if (!share) {
            return fmt::format("{}, {} speed unknown ({})", time, whose_speed, of_target(timing, target));
        }
        const std::string much = timing.against == Baseline::older
                                     ? times(share->value) + " as fast as the older lesson's solution"
                                     : fmt::format("{} of {} speed", percent(share->value), whose_speed);
        return fmt::format("{}{}{} ({})", several ? "at least " : time + ", ", much,
                           several ? fmt::format(" at {} shapes", timing.judged()) : "", of_target(timing, target));
    }

    void print(const TimingReport& timing, const std::string& name, const std::string& file) {
        speed_line(timing, name, file);
        if (timing.verdict() == Verdict::wrong) {
            return;
        }
        const bool several = std::ranges::count_if(timing.shapes, [](const ShapeTiming& shape) {
                                 return shape.of(Baseline::older).has_value();
                             }) > 1;
        for (const ShapeTiming& shape : timing.shapes) {
            if (&shape != &timing.worst() && shape.judged && shape.of(Baseline::busy)) {
                labelled(4, "", 8, busy_text(timing, shape, after(shape.medal)));
            }
            older_and_threads(shape, timing, several);
        }
        for (const std::string& note : timing.notes) { labelled(4, "", 8, note, Tone::faint); }
        if (report_.times_asked || terminal_.verbose) {
            table(timing);
        }
    }

    void speed_line(const TimingReport& timing, const std::string& name, const std::string& file) {
        const ShapeTiming& worst = timing.worst();
        const std::string time = milliseconds(worst.seconds.median);
        switch (const Verdict verdict = timing.verdict()) {
            case Verdict::wrong:
                op_line(name, Tone::bad, to_string(verdict), name.empty() ? "" : file);
                findings(worst.findings, true);
                return;
            case Verdict::impossible:
                op_line(name, Tone::bad, to_string(verdict), fmt::format("{} at {}", time, worst.shape));
                findings(worst.findings, true);
                return;
            case Verdict::slow:
                op_line(name, Tone::warning, to_string(verdict),
                        fmt::format("correct, not yet fast: {}, {}{}", time, worst.findings.front().text,
                                    timing.judged() > 1 ? " at " + worst.shape : ""));
                return;
            case Verdict::no_verdict:
                op_line(name, Tone::warning, "time", measured(timing, Medal::bronze) + why_no_verdict(timing));
                return;
            default:
                op_line(name, Tone::good, to_string(worst.medal), next_medal(timing));
        }
    }

    std::string why_no_verdict(const TimingReport& timing) const {
        return report_.dry_run                ? ": a rehearsal, no time means anything"
               : timing.worst().roof_is_wrong ? ": no verdict, the roof of this run is wrong"
               : is_comparison(timing)        ? ": no verdict, the intervals overlap"
               : timing.worst().judged        ? ": no verdict"
                                              : "";
    }

    static Medal after(Medal medal) { return medal < Medal::silver ? Medal::silver : Medal::gold; }

    // The time beside the medal that comes next, if it can be earned; after gold there is none.
    static std::string next_medal(const TimingReport& timing) {
        const ShapeTiming& worst = timing.worst();
        const bool exists = worst.by_gap() || std::isfinite(timing.target.of(after(worst.medal)));
        const Medal next = exists ? after(worst.medal) : worst.medal;
        const bool noisy = next > worst.medal && !worst.by_gap() &&
                           worst.share.at(timing.against).interval.low < timing.target.of(next) &&
                           worst.share.at(timing.against).value >= timing.target.of(next);
        return measured(timing, next) +
               (noisy ? fmt::format("; at least {}: too noisy for more", to_string(worst.medal)) : "");
    }

    // With the target of the next medal, where that is missed.
    void older_and_threads(const ShapeTiming& shape, const TimingReport& timing, bool names_shape) {
        const Shares& target = timing.older;
        if (const std::optional<Ratio> older = shape.of(Baseline::older); older && timing.against != Baseline::older) {
            const Medal next = shape.verdict == Verdict::ok ? after(shape.medal) : Medal::bronze;
            const bool missed = !(older->interval.low >= target.of(next));
            labelled(4, "", 8,
                     fmt::format("{} as fast as the older lesson's solution{}{}", times(older->value),
                                 names_shape ? " at " + shape.shape : "",
                                 missed ? fmt::format(" ({} {})", to_string(next), significant(target.of(next))) : ""));
        }
        if (const std::optional<Ratio> threads = shape.of(Baseline::two_threads)) {
            labelled(4, "", 8, fmt::format("two threads are {} as fast as one", times(inverse(*threads).value)));
        }
    }

    // As `significant`, with zeros at the end, so that columns line up.
    static std::string three_digits(double x) {
        if (!(x < 999.5)) {
            return significant(x);
        }
        const std::string text = fmt::format("{:#.3g}", x);
        return x < 99.95 ? text : text.substr(0, text.find('.'));
    }

    // Times in ms, then the rate, then shares of others' speed; a column that no row has is left out.
    void table(const TimingReport& timing) {
        struct Column {
            std::string head;
            std::size_t width;
            std::function<std::string(const ShapeTiming&)> cell;
        };
        const auto ms = [](double seconds) { return three_digits(seconds * 1e3); };
        const auto share = [](Baseline baseline) {
            return [baseline](const ShapeTiming& shape) {
                const std::optional<Ratio> of = shape.of(baseline);
                return of ? percent(of->value) : "";
            };
        };
        const bool flop = timing.shapes.front().flop > 0;
        std::vector<Column> columns{
            {"median", 8, [&](const ShapeTiming& shape) { return ms(shape.seconds.median); }},
            {"p10", 7, [&](const ShapeTiming& shape) { return ms(shape.seconds.p10); }},
            {"p90", 7, [&](const ShapeTiming& shape) { return ms(shape.seconds.p90); }},
            {flop ? "GFLOP/s" : "GB/s", 8,
             [](const ShapeTiming& shape) {
                 return shape.flop > 0 || shape.bytes > 0 ? three_digits(shape.rate() * 1e-9) : "";
             }},
            {flop ? "roof" : "copy", 6, share(flop ? Baseline::arithmetic : Baseline::copy)},
            {"read", 6, share(Baseline::read)},
            {timing.library, 9, share(Baseline::library)},
            {"solution", 9, share(Baseline::solution)},
            {"GPU works", 11, share(Baseline::busy)},
            {"gap, us", 9,
             [](const ShapeTiming& shape) { return shape.gap ? three_digits(shape.gap->median * 1e6) : ""; }},
        };
        const std::string what = "times in ms";
        std::size_t shape_width = what.size();
        for (const ShapeTiming& shape : timing.shapes) { shape_width = std::max(shape_width, shape.shape.size()); }
        std::erase_if(columns, [&](const Column& column) {
            return std::ranges::all_of(timing.shapes, &std::string::empty, column.cell);
        });
        for (Column& column : columns) {  // a cell may be wider than the others of its kind
            for (const ShapeTiming& shape : timing.shapes) {
                column.width = std::max(column.width, column.cell(shape).size() + 1);
            }
        }
        std::string head = fmt::format("    {:<{}}", what, shape_width);
        for (const Column& column : columns) { head += fmt::format("{:>{}}", column.head, column.width); }
        line(coloured(Tone::faint, head));
        for (const ShapeTiming& shape : timing.shapes) {
            std::string row = fmt::format("    {:<{}}", shape.shape, shape_width);
            for (const Column& column : columns) { row += fmt::format("{:>{}}", column.cell(shape), column.width); }
            line(row);
        }
    }

    // Returns the first note of the CPU device among the printed lines; empty: none.
    static std::string note_of_device(const std::string& printed) {
        std::istringstream text(printed);
        for (std::string one; std::getline(text, one);) {
            if (one.starts_with(kDeviceNote)) {
                return one.substr(kDeviceNote.size());
            }
        }
        return "";
    }

    void printed(const OpReport& op) {
        if (op.printed.empty()) {
            return;
        }
        std::istringstream text(op.printed);
        const std::size_t most = terminal_.verbose ? 40 : 3;
        std::size_t count = 0;
        std::string last;
        for (std::string one; std::getline(text, one); last = one) {
            if (count > 0 && one == last) {
                continue;
            }
            std::string clean;  // nothing that moves the cursor
            for (const char c : one) { clean += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c; }
            if (count++ == most) {
                labelled(4, "", 10, "| and more");
                return;
            }
            // A note of the CPU device is a sentence: it is shown whole.
            const std::vector<std::string> parts = clean.starts_with(kDeviceNote)
                                                       ? wrapped(clean, kColumns - 16)
                                                       : std::vector{std::string(first_columns(clean, kColumns - 16))};
            for (std::size_t i = 0; i < parts.size(); i++) {
                labelled(4, count == 1 && i == 0 ? "printed" : "", 10, "| " + parts[i]);
            }
        }
    }

    void closing(const OpReport* detailed) {
        line("");
        const std::string took = "took " + milliseconds(report_.seconds);
        const long untimed = std::ranges::count_if(report_.ops, [&](const OpReport& op) {
            return report_.times_asked && op.verdict() == Verdict::ok && !op.timing.ran();
        });
        const std::string ops = format_count(static_cast<long>(report_.ops.size()), "op");
        if (detailed == nullptr && untimed > 0) {
            labelled(0, "result", 8,
                     fmt::format("{} of {} timed; {}", static_cast<long>(report_.ops.size()) - untimed, ops, took));
            return;
        }
        const long uncompared = std::ranges::count(report_.ops, Verdict::not_compared, &OpReport::verdict);
        if (detailed == nullptr && uncompared > 0) {
            labelled(0, "result", 8, fmt::format("{} of {} not compared; {}", uncompared, ops, took));
            return;
        }
        if (detailed == nullptr) {
            const long unclear = std::ranges::count_if(report_.ops, [](const OpReport& op) {
                return op.verdict() == Verdict::no_verdict && is_comparison(op.timing) &&
                       !op.timing.worst().roof_is_wrong;
            });
            labelled(0, "all ok", 8, fmt::format("{}; {}", ops, took), Tone::good);
            if (unclear > 0 && !report_.dry_run) {
                labelled(0, "", 8,
                         fmt::format("{} too close to the target to tell: again when the machine is idle", unclear));
            }
            for (std::size_t i = 0; i < next_.done.size(); i++) { labelled(0, i == 0 ? "next" : "", 8, next_.done[i]); }
            return;
        }
        std::vector<std::string> counts;
        for (const Verdict verdict : {Verdict::ok, Verdict::no_verdict, Verdict::wrong, Verdict::impossible,
                                      Verdict::slow, Verdict::not_compared, Verdict::not_yours, Verdict::not_written}) {
            const long n =
                std::ranges::count(report_.ops, verdict, &OpReport::verdict) - (verdict == Verdict::ok ? untimed : 0);
            if (n > 0) {
                counts.push_back(fmt::format("{} {}", n, to_string(verdict)));
            }
        }
        if (untimed > 0) {
            counts.push_back(fmt::format("{} not timed", untimed));
        }
        labelled(0, "result", 8,
                 fmt::format("{} of {}{}; {}", fmt::join(counts, ", "), ops,
                             report_.model && !report_.model->correct() ? ", the model WRONG" : "", took));
        const std::string edit = fmt::format("edit {}, then: {}", detailed->file_to_edit(), next_.check);
        if (width(edit) + 8 <= kColumns) {
            labelled(0, "next", 8, edit);
        } else {  // a command stays in one piece
            labelled(0, "next", 8, fmt::format("edit {}, then:", detailed->file_to_edit()));
            labelled(0, "", 8, next_.check);
        }
        if (!next_.hint.empty()) {
            labelled(0, "stuck?", 8, next_.hint);
        }
    }

    const LessonReport& report_;
    const Next& next_;
    const Terminal& terminal_;
    std::size_t name_width_ = 0;
    std::string out_;
};

std::string ascii(std::string text) {
    for (const auto& [from, to] : {std::pair{"…", "..."}, std::pair{"·", "-"}, std::pair{"×", "x"}}) {
        for (std::size_t i = text.find(from); i != std::string::npos; i = text.find(from)) {
            text.replace(i, std::string_view(from).size(), to);
        }
    }
    return text;
}

}  // namespace

Terminal Terminal::of_stdout(bool verbose) {
    const auto variable = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value == nullptr ? "" : value);
    };
    Terminal terminal{.colour = isatty(STDOUT_FILENO) == 1 && variable("NO_COLOR").empty(), .verbose = verbose};
    std::string locale;  // the first that is set says it
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) { locale = locale.empty() ? variable(name) : locale; }
    std::ranges::transform(locale, locale.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    terminal.unicode = locale.find("UTF-8") != std::string::npos || locale.find("UTF8") != std::string::npos;
    return terminal;
}

std::string verdict_text(const LessonReport& report, const Next& next, const Terminal& terminal) {
    const std::string text = Printer(report, next, terminal).text();
    return terminal.unicode ? text : ascii(text);
}

}  // namespace checker
