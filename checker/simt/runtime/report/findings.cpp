// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/report/findings.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "checker/json_writer.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/base/hot.h"

namespace simt {

constinit RunningNow running_now;

namespace {

constexpr std::size_t kMostPrinted = 20;
constexpr std::size_t kMostKept = 10000;  // places, not times

struct Ledger {
    std::vector<DeviceFinding> findings;
    std::vector<const void*> addresses;              // the address of findings[i]; null if its line was known
    std::map<std::size_t, Specificity> specificity;  // findings[i]'s, if it is a race
    std::map<std::tuple<Kind, const void*, std::string>, std::size_t> by_place;
    std::set<std::string> noted;  // lines of notes
    std::string early_exits;
    bool at_exit = true;
    void (*hand_on)() = nullptr;
};

// Global and never destroyed: it is read when the process ends, after the destructors of the program's own objects.
Ledger& ledger() {
    static auto& instance = *new Ledger;
    return instance;
}

}  // namespace

const char* name_of(Kind kind) {
    switch (kind) {
        case Kind::out_of_bounds:
            return "out_of_bounds";
        case Kind::misaligned:
            return "misaligned";
        case Kind::uninitialised:
            return "uninitialised";
        case Kind::use_after_free:
            return "use_after_free";
        case Kind::double_free:
            return "double_free";
        case Kind::invalid_free:
            return "invalid_free";
        case Kind::leak:
            return "leak";
        case Kind::null_pointer:
            return "null_pointer";
        case Kind::host_pointer:
            return "host_pointer";
        case Kind::device_memory:
            return "device_memory";
        case Kind::read_only:
            return "read_only";
        case Kind::padding:
            return "padding";
        case Kind::barrier:
            return "barrier";
        case Kind::collective:
            return "collective";
        case Kind::spin:
            return "spin";
        case Kind::time_limit:
            return "time_limit";
        case Kind::bad_launch:
            return "bad_launch";
        case Kind::unchecked_error:
            return "unchecked_error";
        case Kind::stack_overflow:
            return "stack_overflow";
        case Kind::assertion:
            return "assertion";
        case Kind::trap:
            return "trap";
        case Kind::crash:
            return "crash";
        case Kind::bad_copy:
            return "bad_copy";
        case Kind::bad_capture:
            return "bad_capture";
        case Kind::race:
            return "race";
    }
    return "unknown";
}

void report(Kind kind, const char* space, const Location& place, const std::function<std::string()>& text) {
    const InRuntime in_runtime;
    Ledger& all = ledger();
    const std::string known = place.return_address == nullptr ? text_of(place.line) : std::string();
    const auto key = std::tuple(kind, place.return_address, known);
    if (const auto entry = all.by_place.find(key); entry != all.by_place.end()) {
        all.findings[entry->second].count++;
        return;
    }
    if (all.findings.size() == kMostKept) {
        return;
    }
    all.by_place.emplace(key, all.findings.size());
    DeviceFinding finding{.kind = kind,
                          .space = space,
                          .line = place.line,
                          .text = text() + (running_now.node == nullptr ? "" : running_now.node()),
                          .kernel = {},
                          .thread = {},
                          .other_line = {},
                          .details = {}};
    if (const Lane* lane = running_lane()) {
        finding.kernel = running_now.kernel();
        finding.thread = running_now.thread(*lane);
    }
    all.findings.push_back(std::move(finding));
    all.addresses.push_back(place.return_address);
}

void note(const void* site, const std::string& text) {
    const InRuntime in_runtime;
    const std::string line = text_of(source_of(site));
    if (ledger().noted.insert(line).second) {
        fmt::print(stderr, "simt: note: {}: {}\n", line, text);
    }
}

void note_who_left(const std::function<std::string()>& text) {
    if (ledger().early_exits.empty()) {
        const InRuntime in_runtime;
        ledger().early_exits = text();
    }
}

const std::string& early_exits() {
    return ledger().early_exits;
}

bool wants_notes() {
    const char* verbose = std::getenv("VERBOSE");
    return verbose != nullptr && *verbose != '\0';
}

std::size_t report_race(const char* space, RaceSide first, RaceSide second, Specificity specificity,
                        const std::function<RaceText()>& text) {
    const InRuntime in_runtime;
    Ledger& all = ledger();
    const auto place = [](const RaceSide& side) {
        const SourceLine& line = source_of(side.site);
        return std::pair(line.file, line.line);
    };
    if (place(second) < place(first)) {
        std::swap(first, second);  // the finding does not depend on the order in which they ran
    }
    const SourceLine& line = source_of(first.site);
    const SourceLine& other = source_of(second.site);
    const auto key = std::tuple(Kind::race, static_cast<const void*>(nullptr),
                                fmt::format("{} {} {}", space, text_of(line), text_of(other)));
    const auto [entry, is_new] = all.by_place.try_emplace(key, std::min(all.findings.size(), kMostKept));
    const std::size_t number = entry->second;
    if (!is_new) {
        count_again(number);
    }
    if (number == kMostKept || (!is_new && all.specificity[number] >= specificity)) {
        return number;
    }
    const auto detail = [](const RaceSide& side) {
        return fmt::format("{} {}: {}", text_with_caller(source_of(side.site)), side.what, side.thread);
    };
    const RaceText told = text();
    if (is_new) {
        all.findings.push_back({.kind = Kind::race,
                                .space = space,
                                .line = line,
                                .text = {},
                                .kernel = {},
                                .thread = {},
                                .other_line = other,
                                .details = {}});
        all.addresses.push_back(nullptr);
    }
    all.specificity[number] = specificity;
    all.findings[number].text = told.what;
    all.findings[number].kernel = told.kernel;
    all.findings[number].thread = first.thread;
    all.findings[number].details = {detail(first), detail(second), told.why};
    return number;
}

void count_again(std::size_t finding) {
    if (finding < ledger().findings.size()) {
        ledger().findings[finding].count++;
    }
}

std::string again_text(const DeviceFinding& finding) {
    std::string where = finding.kernel;
    if (finding.count > 1) {
        where += fmt::format("{}{} times", where.empty() ? "" : ", ", finding.count);
    }
    return fmt::format("{}{}SIMT_SEED={} runs it in this order again", where, where.empty() ? "" : "; ", seed());
}

// Somebody read what nobody had written yet, because nothing makes the reader wait for the writer. The race says so,
// and comes first. If an asynchronous copy is on its way, the finding about the read itself says what is missing.
static void put_races_before_their_reads(std::vector<DeviceFinding>& all) {
    for (auto read = all.begin(); read != all.end(); ++read) {
        if (read->kind != Kind::uninitialised || read->line.file.empty() ||
            read->text.find("asynchronous copy") != std::string::npos) {
            continue;
        }
        const std::string line = text_of(read->line);
        const auto race = std::find_if(read, all.end(), [&](const DeviceFinding& other) {
            return other.kind == Kind::race && other.space == read->space &&
                   (text_of(other.line) == line || text_of(other.other_line) == line);
        });
        if (race != all.end()) {
            std::rotate(read, race, std::next(race));
        }
    }
}

std::vector<DeviceFinding> findings() {
    const InRuntime in_runtime;
    const Ledger& all = ledger();
    std::vector<DeviceFinding> folded;
    std::map<std::tuple<Kind, std::string, std::string, std::string, std::string>, std::size_t> seen;
    for (std::size_t i = 0; i < all.findings.size(); i++) {
        DeviceFinding finding = all.findings[i];
        if (all.addresses[i] != nullptr) {
            finding.line = source_of(all.addresses[i]);
        }
        const auto [entry, is_new] = seen.try_emplace(
            {finding.kind, finding.space, text_of(finding.line), text_of(finding.other_line), finding.kernel},
            folded.size());
        if (is_new) {
            folded.push_back(std::move(finding));
        } else {
            folded[entry->second].count += finding.count;
        }
    }
    put_races_before_their_reads(folded);
    return folded;
}

std::size_t places_found() {
    return ledger().findings.size();
}

void forget_findings() {
    ledger().findings.clear();
    ledger().addresses.clear();
    ledger().by_place.clear();
    ledger().specificity.clear();
    ledger().early_exits.clear();
}

void report_at_exit(bool wanted) {
    ledger().at_exit = wanted;
}

void hand_on_at_fatal_finding(void (*hand_on)()) {
    ledger().hand_on = hand_on;
}

void end_with_findings() {
    if (ledger().hand_on != nullptr) {
        ledger().hand_on();
    }
    print_findings_once();
    std::fflush(nullptr);
    _exit(1);
}

namespace {

void print(const DeviceFinding& finding) {
    fmt::print(stderr, "simt: {}{}{}: {}\n", name_of(finding.kind), finding.space.empty() ? "" : " ", finding.space,
               finding.text);
    if (!finding.details.empty()) {
        for (const std::string& detail : finding.details) { fmt::print(stderr, "  {}\n", detail); }
        fmt::print(stderr, "  {}{}\n", finding.kernel.empty() ? "" : "in ", again_text(finding));
        return;
    }
    std::string where = "  at " + text_with_caller(finding.line);
    if (!finding.kernel.empty()) {
        where += " in " + finding.kernel + ", " + finding.thread;
    }
    fmt::print(stderr, "{}{}\n", where, finding.count > 1 ? fmt::format("; {} times", finding.count) : "");
}

void write_json(const std::vector<DeviceFinding>& all, const char* path) {
    checker::JsonWriter json;
    json.begin_array("findings");
    for (const DeviceFinding& finding : all) {
        json.begin_element();
        json.text("kind", name_of(finding.kind));
        json.text("space", finding.space);
        json.text("file", finding.line.file);
        json.integer("line", finding.line.line);
        if (finding.line.caller != nullptr) {
            json.text("caller", text_of(*finding.line.caller));
        }
        json.text("kernel", finding.kernel);
        json.text("thread", finding.thread);
        if (finding.kind == Kind::race) {
            json.text("other_file", finding.other_line.file);
            json.integer("other_line", finding.other_line.line);
            if (finding.other_line.caller != nullptr) {
                json.text("other_caller", text_of(*finding.other_line.caller));
            }
            json.text("first", finding.details[0]);
            json.text("second", finding.details[1]);
            json.text("why", finding.details[2]);
            json.integer("seed", static_cast<long>(seed()));
        }
        json.text("text", finding.text);
        json.integer("count", finding.count);
        json.end_object();
    }
    json.end_array();
    std::ofstream out(path, std::ios::binary);
    out << json.finish() << '\n';
    out.close();
    if (!out) {
        fmt::print(stderr, "simt: SIMT_REPORT={}: it cannot be written\n", path);
    }
}

}  // namespace

std::size_t print_findings() {
    const std::vector<DeviceFinding> all = findings();
    std::fflush(stdout);
    for (std::size_t i = 0; i < all.size() && i < kMostPrinted; i++) { print(all[i]); }
    if (all.size() > kMostPrinted) {
        fmt::print(stderr, "simt: and {} more\n", all.size() - kMostPrinted);
    }
    if (!all.empty()) {
        fmt::print(stderr, "simt: {} finding{} (SIMT_SEED={})\n", all.size(), all.size() == 1 ? "" : "s", seed());
    }
    if (const char* path = std::getenv("SIMT_REPORT"); path != nullptr && *path != '\0') {
        write_json(all, path);
    }
    return all.size();
}

bool print_findings_once(void (*find_the_last)()) {
    if (!std::exchange(ledger().at_exit, false) || !hot.checking) {
        return false;
    }
    if (find_the_last != nullptr) {
        find_the_last();
    }
    return print_findings() > 0;
}

}  // namespace simt
