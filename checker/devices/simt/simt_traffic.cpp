// SPDX-License-Identifier: MIT
#include "checker/devices/simt/simt_traffic.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "checker/base/course.h"
#include "checker/base/files.h"
#include "checker/base/text.h"
#include "checker/devices/simt/simt_work.h"
#include "checker/estimate/marks.h"
#include "checker/estimate/sass.h"
#include "checker/json_writer.h"
#include "checker/simt/runtime/counting/traffic.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/streams/sampling.h"
#include "checker/worker/call_buffers.h"

namespace checker {
namespace {

namespace fs = std::filesystem;
using simt::LaunchTraffic;
using simt::LineTraffic;
using simt::Traffic;

constexpr std::uint64_t kBlocks = 32;  // of the launch with most of them

struct CountedVersion : Version {
    std::string failure = {};  // why it was not counted
    LaunchTraffic traffic = {};
    std::uint64_t api_calls = 0;                          // by the host
    std::optional<std::uint64_t> limited_api_calls = {};  // in the calls that the check counts
    std::size_t findings = 0;
    std::uint64_t most_blocks = 0;  // of a launch
    std::vector<LaunchTraffic> kernels = {};
};

// Objects stay loaded: lines are known by their code's address.
void count(CountedVersion& version, DeviceBackend& device, const Op& op, const Work& work,
           const std::optional<simt::Sampling>& wanted, std::deque<Library>& loaded) {
    try {
        loaded.emplace_back(version.object);
    } catch (const std::exception&) {
        version.failure = "it does not compile";
        return;
    }
    const Library& library = loaded.back();
    if (!op.defined(library)) {
        version.failure = "it does not define " + op.name;
        return;
    }
    MemoryFile memory;
    dup2(memory.fd(), kWorkerMemory);
    const simt::CountingTraffic counting;
    for (std::size_t i = 0; i < work.of.calls.size(); i++) {
        const CallRun run{.of = work.of, .index = i, .library = library, .counts = true};
        initialise(memory, run.call(), run.slots(), run.schedule);
        std::optional<simt::SamplingBlocks> sampling;
        if (wanted) {
            sampling.emplace(*wanted);
        }
        const Reply reply = device.run(run);
        version.findings += static_cast<std::size_t>(std::ranges::count_if(simt::findings(), [&](const auto& finding) {
            // What blocks that did not run would have written.
            return work.is_whole || finding.kind != simt::Kind::uninitialised;
        }));
        version.api_calls += static_cast<std::uint64_t>(reply.api_calls);
        if (reply.answer != Answer::done) {
            version.failure = reply.text;
            break;
        }
    }
    device.end_case();
    version.traffic = simt::traffic_in_all();
    for (const LaunchTraffic& launch : simt::traffic_of_launches()) {
        version.most_blocks = std::max(version.most_blocks, launch.blocks);
    }
    version.kernels = simt::traffic_of_kernels();
    simt::forget_findings();
}

// ---- the listing ------------------------------------------------------------------------------------------------------

std::string shortened(std::uint64_t count) {
    const auto x = static_cast<double>(count);
    return count < 100'000 ? std::to_string(count)
           : x < 1e6       ? fmt::format("{:.0f}k", x / 1e3)
           : x < 1e9       ? significant(x / 1e6) + "M"
                           : significant(x / 1e9) + "G";
}

std::string share_of(std::uint64_t part, std::uint64_t whole) {
    const double share = whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
    return part != 0 && share < 0.005 ? "<1%" : fmt::format("{:.0f}%", 100 * share);
}

std::string bytes_text(std::uint64_t bytes) {
    const auto x = static_cast<double>(bytes);
    return bytes < 1000 ? fmt::format("{} B", bytes)
           : x < 1e6    ? significant(x / 1e3) + " kB"
           : x < 1e9    ? significant(x / 1e6) + " MB"
                        : significant(x / 1e9) + " GB";
}

std::string per(std::uint64_t count, std::uint64_t requests) {
    return requests == 0 ? "" : fmt::format("{:.1f}", static_cast<double>(count) / static_cast<double>(requests));
}

// One row of a line: what it does with one kind of memory.
struct Row {
    std::string op, requests, sectors, ideal, conflicts, share;
};

std::vector<Row> rows_of(const Traffic& line, const Traffic& total) {
    std::vector<Row> rows;
    const auto global = [&](const char* op, const simt::GlobalTraffic& t) {
        if (t.requests != 0) {
            rows.push_back({op, shortened(t.requests), per(t.sectors, t.requests), per(t.ideal_sectors, t.requests), "",
                            share_of(t.bytes_moved(), total.bytes_moved())});
        }
    };
    const auto shared = [&](const char* op, const simt::SharedTraffic& t) {
        if (t.requests != 0) {
            rows.push_back({op, shortened(t.requests), "", "", shortened(t.excess_wavefronts()), ""});
        }
    };
    global("ld", line.loads);
    global("st", line.stores);
    global("atom", line.atomics);
    shared("lds", line.shared_loads);
    shared("sts", line.shared_stores);
    shared("atoms", line.shared_atomics);
    if (line.barriers != 0) {
        rows.push_back({"bar", shortened(line.barriers), "", "", "", ""});
    }
    if (line.special_requests != 0) {
        rows.push_back({"sfu", shortened(line.special_requests), "", "", "", ""});
    }
    if (line.library_calls != 0) {
        rows.push_back({"call", shortened(line.library_calls), "", "", "", ""});
    }
    return rows;
}

constexpr std::size_t kCodeColumns = 37;

std::size_t indentation(const std::string& code) {
    return std::min(code.find_first_not_of(' '), code.size());
}

std::string as_text(int line, const Row& row, std::string code) {
    if (code.size() > kCodeColumns) {
        code = code.substr(0, kCodeColumns - 3) + "...";
    }
    const std::string text = fmt::format("{:>4} {:<5}{:>8}{:>6}{:>6}{:>7}{:>5}  {}", line, row.op, row.requests,
                                         row.sectors, row.ideal, row.conflicts, row.share, code);
    return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::vector<std::string> lines_of(const fs::path& file) {
    std::vector<std::string> lines;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) { lines.push_back(line); }
    return lines;
}

// What is only there to make the stub of a solution.
bool is_marker(const std::string& line) {
    const std::size_t first = line.find_first_not_of(' ');
    return first != std::string::npos && (line.compare(first, 3, "//~") == 0 || line.compare(first, 6, "// >>>") == 0 ||
                                          line.compare(first, 6, "// <<<") == 0);
}

// One line of the listing.
struct Shown {
    int line;  // 0: something is left out here
    Row row;
    std::string code;
};

// ---- what nvcc emits -------------------------------------------------------------------------------------------------

using estimate::Kind;

struct Marks {
    std::string from;  // "nvcc 13.0.88 for sm_90a"
    std::map<estimate::MarkedLine, std::string> lines;
};

std::vector<estimate::SourceAccess> accesses_of(const LaunchTraffic& traffic, const fs::path& source) {
    std::vector<estimate::SourceAccess> accesses;
    for (const LineTraffic& line : traffic.lines) {
        const auto add = [&](Kind kind, const auto& of) {
            if (of.threads != 0 && of.bytes_asked % of.threads == 0) {  // else of more than one width
                accesses.push_back({line.line.line, kind, static_cast<int>(of.bytes_asked / of.threads)});
            }
        };
        if (line.line.file == source) {
            add(Kind::global_load, line.traffic.loads);
            add(Kind::global_store, line.traffic.stores);
            add(Kind::shared_load, line.traffic.shared_loads);
            add(Kind::shared_store, line.traffic.shared_stores);
        }
    }
    return accesses;
}

// Of a line in several kernels that were launched: of the first.
Marks marks_of(const CountedVersion& version) {
    Marks marks;
    const std::vector<estimate::SassFile> files = estimate::sass_of(version.source);
    if (files.empty()) {
        return marks;
    }
    const auto wanted = std::ranges::find(files, "sm_90a", &estimate::SassFile::arch);
    const estimate::SassFile& file = wanted == files.end() ? files.front() : *wanted;
    marks.from = fmt::format("nvcc {} for {}", file.nvcc, file.arch);
    for (const LaunchTraffic& kernel : version.kernels) {
        estimate::LaunchCounts launch;
        launch.kernel = kernel.kernel;
        launch.file = version.source;
        if (const estimate::KernelSass* emitted = estimate::find_kernel(files, launch, file.arch)) {
            marks.lines.merge(
                estimate::marks_of(accesses_of(kernel, version.source), *emitted, version.source.string()));
        }
    }
    return marks;
}

std::optional<Kind> kind_of(const std::string& op) {
    return op == "ld"    ? std::optional(Kind::global_load)
           : op == "st"  ? std::optional(Kind::global_store)
           : op == "lds" ? std::optional(Kind::shared_load)
           : op == "sts" ? std::optional(Kind::shared_store)
                         : std::nullopt;
}

// What a source line does, a row for each kind of access; the code stands beside the first.
void add_rows(std::vector<Shown>& shown, const LineTraffic& line, const Traffic& total, std::string code) {
    for (const Row& row : rows_of(line.traffic, total)) {
        shown.push_back({line.line.line, row, std::exchange(code, "")});
    }
}

// The file from its first counted line to its last. Between counted lines that are far apart only the last one is shown.
std::vector<Shown> shown_of(const std::vector<std::string>& text, const std::map<int, const LineTraffic*>& counted,
                            const Traffic& total) {
    constexpr int kFar = 3;
    const auto code = [&](int line) { return text[static_cast<std::size_t>(line) - 1]; };
    std::vector<Shown> shown;
    int last = counted.empty() ? 0 : counted.begin()->first - 1;
    for (const auto& [number, line] : counted) {
        if (number - last > kFar) {
            shown.push_back({0, {}, ""});
            last = number - 2;
        }
        for (last++; last < number; last++) {
            if (indentation(code(last)) < code(last).size() && !is_marker(code(last))) {
                shown.push_back({last, {}, code(last)});
            }
        }
        add_rows(shown, *line, total, code(number));
    }
    return shown;
}

// Below the row's code, or as far left as it needs.
void print_mark(const std::string& mark) {
    constexpr std::size_t kColumns = 80;
    const std::string text = "nvcc: " + mark;
    const std::size_t wide = std::min(text.size(), kColumns);
    fmt::print("{}{}\n", std::string(std::min(kColumns - kCodeColumns + 1, kColumns - wide), ' '), text);
}

void print_listing(const CountedVersion& version) {
    const std::vector<std::string> text = lines_of(version.source);
    std::map<int, const LineTraffic*> here;
    std::vector<Shown> elsewhere;  // in other files
    for (const LineTraffic& line : version.traffic.lines) {
        const fs::path file = line.line.file;
        if (file == version.source && line.line.line <= static_cast<int>(text.size())) {
            here[line.line.line] = &line;
        } else {
            add_rows(elsewhere, line, version.traffic.total, "in " + file.filename().string());
        }
    }
    const std::vector<Shown> shown = shown_of(text, here, version.traffic.total);
    const Marks marks = marks_of(version);
    std::size_t margin = kCodeColumns;
    for (const Shown& row : shown) { margin = row.code.empty() ? margin : std::min(margin, indentation(row.code)); }
    fmt::print("line      requests sect. ideal confl. share\n");
    for (const Shown& row : shown) {
        fmt::print("{}\n", row.line == 0 ? " ..."
                                         : as_text(row.line, row.row, row.code.empty() ? "" : row.code.substr(margin)));
        const std::optional<Kind> kind = kind_of(row.row.op);
        if (const auto mark = kind ? marks.lines.find({row.line, *kind}) : marks.lines.end();
            mark != marks.lines.end()) {
            print_mark(mark->second);
        }
    }
    for (const Shown& row : elsewhere) { fmt::print("{}\n", as_text(row.line, row.row, row.code)); }
    if (!marks.lines.empty()) {
        fmt::print("\nnvcc: what {} emits where it is not what the source says\n", marks.from);
    }
}

constexpr std::size_t kNameColumns = 34, kCellColumns = 14;

// Returns a row of the totals, with its end. A long name takes columns of the first cell.
std::string table_row(const std::string& name, const std::vector<std::string>& cells) {
    std::string text = fmt::format("{:<{}} ", name, kNameColumns - 1);
    std::size_t taken = std::min(text.size() - kNameColumns, kCellColumns);
    for (const std::string& cell : cells) {
        text += fmt::format("{:>{}}", cell, kCellColumns - std::exchange(taken, 0));
    }
    return text.substr(0, text.find_last_not_of(' ') + 1) + '\n';
}

std::string table_head(const std::string& name, const std::vector<CountedVersion>& versions) {
    std::vector<std::string> cells;
    std::ranges::transform(versions, std::back_inserter(cells), &CountedVersion::who);
    return '\n' + table_row(name, cells);
}

// Returns an empty string if no version has more than nothing.
template <typename Value>
std::string table_row(const std::string& name, const std::vector<CountedVersion>& versions, const Value& value) {
    std::vector<std::string> cells;
    bool any = false;
    for (const CountedVersion& version : versions) {
        cells.push_back(version.failure.empty() ? value(version) : "-");
        any = any || !(cells.back().empty() || cells.back() == "0" || cells.back() == "0 B" || cells.back() == "-");
    }
    return any ? table_row(name, cells) : "";
}

void print_totals(const std::vector<CountedVersion>& versions) {
    if (std::ranges::none_of(versions, [](const CountedVersion& version) { return version.failure.empty(); })) {
        return;
    }
    const auto row = [&](const char* name, auto&& value) {
        fmt::print("{}",
                   table_row(name, versions, [&](const CountedVersion& version) { return value(version.traffic); }));
    };
    fmt::print("{}", table_head("in all", versions));
    row("requests to global memory", [](const auto& t) { return shortened(t.total.global_requests()); });
    row("sectors a request", [](const auto& t) { return per(t.total.global_sectors(), t.total.global_requests()); });
    row("  side by side", [](const auto& t) { return per(t.total.ideal_sectors(), t.total.global_requests()); });
    row("bytes moved", [](const auto& t) { return bytes_text(t.total.bytes_moved()); });
    row("bytes asked for", [](const auto& t) { return bytes_text(t.total.bytes_asked()); });
    row("unique bytes, each launch's",
        [](const auto& t) { return (t.unique_is_least ? "at least " : "") + bytes_text(t.total.bytes_needed()); });
    row("bytes loaded from shared memory", [](const auto& t) { return bytes_text(t.total.shared_loads.bytes_asked); });
    row("  different ones in a request", [](const auto& t) { return bytes_text(t.total.shared_loads.bytes_distinct); });
    row("wavefronts lost to conflicts", [](const auto& t) { return shortened(t.total.excess_wavefronts()); });
    row("passes of atomics", [](const auto& t) { return shortened(t.total.atomic_passes); });
    row("barriers, each warp's", [](const auto& t) { return shortened(t.total.barriers); });
    row("accesses passed unequally often", [](const auto& t) { return shortened(t.total.uneven); });
    row("special functions, each thread's", [](const auto& t) { return shortened(t.total.special_functions); });
    row("launches", [](const auto& t) { return shortened(t.launches); });
    fmt::print("{}", table_row("calls of the runtime and libraries", versions,
                               [](const CountedVersion& version) { return shortened(version.api_calls); }));
    row("calls of libraries", [](const auto& t) { return shortened(t.total.library_calls); });
    row("  bytes read", [](const auto& t) { return bytes_text(t.total.library_bytes_read); });
    row("  bytes written", [](const auto& t) { return bytes_text(t.total.library_bytes_written); });
    row("  floating-point operations", [](const auto& t) { return shortened(t.total.library_flop); });
}

// ---- calls of the runtime that the lesson limits ----------------------------------------------------------------------

bool is_limited(const Call& call) {
    return std::ranges::find(call.needed, "api_calls", &Needed::counter) != call.needed.end();
}

// Returns the case with most calls whose `api_calls` lesson.toml limits, or null if none has any. If `wanted` is a case, no
// other one is returned.
const Case* limited_case(const Lesson& lesson, const Op& op, const std::string& wanted) {
    const auto& counters = lesson.toml().counters;
    if (const auto limits = counters.find(op.name); limits == counters.end() || !limits->second.contains("api_calls")) {
        return nullptr;
    }
    const auto chosen = std::ranges::find(op.cases, wanted, &Case::name);
    const auto most = chosen != op.cases.end() ? chosen : std::ranges::max_element(op.cases, {}, [](const Case& c) {
        return std::ranges::count_if(c.calls, is_limited);
    });
    return most != op.cases.end() && std::ranges::any_of(most->calls, is_limited) ? &*most : nullptr;
}

// Counts what the limited calls of a case call, as the check does: calls before them in a sequence run first. Returns
// nothing if a call fails.
std::optional<std::uint64_t> count_limited(DeviceBackend& device, const Case& of, const Library& library) {
    MemoryFile memory;
    dup2(memory.fd(), kWorkerMemory);
    std::uint64_t api_calls = 0;
    bool done = true;
    for (std::size_t i = 0; i < of.calls.size() && done; i++) {
        const CallRun run{.of = of, .index = i, .library = library, .counts = true};
        if (!of.sequence && !is_limited(run.call())) {
            continue;
        }
        initialise(memory, run.call(), run.slots(), run.schedule);
        const Reply reply = device.run(run);
        done = reply.answer == Answer::done;
        api_calls += is_limited(run.call()) ? static_cast<std::uint64_t>(reply.api_calls) : 0;
    }
    device.end_case();
    simt::forget_findings();
    return done ? std::optional(api_calls) : std::nullopt;
}

void print_limited(const std::vector<CountedVersion>& versions, const Case& of) {
    const auto limited = std::ranges::count_if(of.calls, is_limited);
    const std::string calls = of.limited_calls.empty()
                                  ? fmt::format("calls of the runtime in {} of {} calls", limited, of.calls.size())
                                  : "calls of " + of.limited_calls;
    const std::string row = table_row(calls, versions, [](const CountedVersion& version) {
        return version.limited_api_calls ? shortened(*version.limited_api_calls) : "-";
    });
    if (!row.empty()) {
        fmt::print("{}{}", table_head(fmt::format("{} ({})", of.shape, of.name), versions), row);
    }
}

void print_costliest(const CountedVersion& version) {
    const LineTraffic* most = version.traffic.costliest();
    if (most == nullptr || most->traffic.global_requests() == 0) {
        return;
    }
    const Traffic& t = most->traffic;
    const std::string sectors = per(t.global_sectors(), t.global_requests());
    fmt::print("\n{} moves most: {} of all bytes.\n", text_of(most->line),
               share_of(t.bytes_moved(), version.traffic.total.bytes_moved()));
    if (t.global_sectors() > t.ideal_sectors()) {
        fmt::print("A request takes {} sectors there; {} would hold the bytes asked for.\n", sectors,
                   per(t.ideal_sectors(), t.global_requests()));
    } else {
        fmt::print("A request takes {} sectors there, no more than hold the bytes asked for.\n", sectors);
    }
}

void write(JsonWriter& json, const std::string& op, const Work& work, const std::vector<CountedVersion>& versions) {
    json.begin_element();
    json.text("op", op);
    json.text("shape", work.shape);
    json.begin_array("sides");
    for (const CountedVersion& version : versions) {
        json.begin_element();
        json.text("who", version.who);
        json.text("source", version.source.string());
        json.text("failure", version.failure.empty() ? std::nullopt : std::optional(version.failure));
        simt::write_traffic(json, version.traffic);
        json.end_object();
    }
    json.end_array();
    json.end_object();
}

// Counts the same work of all: the same share of a launch's blocks, of which an implementation has more where each computes
// less. The learner's is counted last, and is not asked how many blocks it has: what it does wrong must not end the others.
void count(std::vector<CountedVersion>& versions, bool is_first_the_learners, DeviceBackend& device, const Op& op,
           const Work& work, const Case* limited, std::deque<Library>& loaded) {
    std::optional<simt::Sampling> sampling;
    if (!work.is_whole) {
        std::uint64_t most = kBlocks;
        for (std::size_t i = is_first_the_learners ? 1 : 0; i < versions.size(); i++) {
            CountedVersion probe = versions[i];
            count(probe, device, op, work, simt::Sampling{}, loaded);
            most = std::max(most, probe.most_blocks);
        }
        sampling = simt::Sampling{.share = static_cast<double>(kBlocks) / static_cast<double>(most)};
    }
    for (auto version = versions.rbegin(); version != versions.rend(); ++version) {
        count(*version, device, op, work, sampling, loaded);
        if (limited != nullptr && version->failure.empty()) {
            version->limited_api_calls = count_limited(device, *limited, loaded.back());
        }
    }
}

// Gives whether there was something to count.
bool show(DeviceBackend& device, const Lesson& lesson, const Options& options, const Op& op, JsonWriter& json,
          std::deque<Library>& loaded) {
    const Work work = work_of(op, options.only_case());
    const fs::path file = options.source(lesson.name(), op.name);
    fmt::print("{}: {} on the CPU device\n", op.name, file.string());
    std::fflush(stdout);
    std::vector<CountedVersion> versions;
    for (Version& version : versions_of(lesson, options, op)) { versions.push_back({std::move(version)}); }
    const Case* const limited = limited_case(lesson, op, options.only_case());
    count(versions, options.subject != "solutions", device, op, work, limited, loaded);
    const CountedVersion& shown = versions.front();
    const std::string check = fmt::format("make check-lesson{} ONLY={}", lesson_number(lesson.name()), op.name);
    const auto& [run, blocks] = std::pair(shown.traffic.blocks_run, shown.traffic.blocks);
    fmt::print("{}{}\n", work.shape,
               run == blocks
                   ? ""
                   : fmt::format("; counted: {} of {} blocks, first and last among them",
                                 format_count(static_cast<long>(run)), format_count(static_cast<long>(blocks))));
    if (!shown.failure.empty()) {
        fmt::print("not counted: {}; {}\n", shown.failure, check);
    } else if (shown.traffic.total.global_requests() + shown.traffic.total.shared_requests() == 0) {
        fmt::print("{}\n",
                   shown.traffic.total.library_calls != 0
                       ? "a library does it, and no kernel of its own asks for memory: make estimate counts such calls"
                       : "its kernels ask for no memory: is it written yet? " + check);
    } else {
        fmt::print("\n");
        print_listing(shown);
    }
    if (shown.findings != 0) {
        fmt::print("\nThe device found {} beside; {}\n", format_count(static_cast<long>(shown.findings), "mistake"),
                   check);
    }
    print_totals(versions);
    if (limited != nullptr) {
        print_limited(versions, *limited);
    }
    print_costliest(shown);
    write(json, op.name, work, versions);
    return shown.failure.empty();
}

}  // namespace

int show_traffic(DeviceBackend& device, const Lesson& lesson, const Options& options) {
    JsonWriter json;
    json.text("lesson", lesson.name());
    json.begin_array("ops");
    std::deque<Library> loaded;
    bool all = true;
    bool first = true;
    for (const Op& op : lesson.ops()) {
        if (options.wants(op.name)) {
            fmt::print("{}", std::exchange(first, false) ? "" : "\n\n");
            all = show(device, lesson, options, op, json, loaded) && all;
        }
    }
    json.end_array();
    fmt::print(
        "\nCounted is what warps ask for, request by request. L1 and L2 are not simulated:\n"
        "how much of it reaches DRAM depends on them (checker/simt/COUNTERS.md).\n");
    std::fflush(stdout);
    if (!options.json.empty()) {
        write_whole(options.json, json.finish() + '\n');
    }
    simt::report_at_exit(false);
    return all ? 0 : 1;
}

}  // namespace checker
