// SPDX-License-Identifier: MIT
#include "checker/devices/simt/simt_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "checker/base/text.h"
#include "checker/simt/libraries/library_call.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/streams/streams.h"

namespace checker {
namespace {

// Numbers by name: the runtime's metrics (simt::metrics_of), and what the host asked for.
using Metrics = std::map<std::string, double>;

// The value of a metric; of a name with * the sum over loads, stores and atomics. A name that the device does not have
// is an error of the table below.
double at(const Metrics& metrics, std::string_view name) {
    const std::size_t star = name.find('*');
    double sum = 0;
    for (const std::string_view op : {"ld", "st", "atom"}) {
        std::string one(name);
        if (star != std::string_view::npos) {
            one.replace(star, 1, op);
        }
        const auto found = metrics.find(one);
        if (found == metrics.end()) {
            throw std::logic_error(fmt::format("the CPU device has no metric {}", one));
        }
        sum += found->second;
        if (star == std::string_view::npos) {
            break;
        }
    }
    return sum;
}

// ---- what a source line needs at least, where each of `blocks` blocks uses a byte of global memory once. With one block
// that is: where the whole launch uses each byte once.

using Least = double (*)(const Metrics& line, double blocks);

double different_bytes(const Metrics& line, double blocks) {
    return blocks * at(line, "unique bytes, *");
}

double least_asked(const Metrics& line, double blocks) {
    return std::min(at(line, "sm__sass_data_bytes_mem_global_op_*.sum"), different_bytes(line, blocks));
}

double least_moved(const Metrics& line, double blocks) {
    constexpr double kSector = simt::kSectorBytes;
    return std::min(kSector * at(line, "memory_l2_theoretical_sectors_global_ideal"), different_bytes(line, blocks));
}

double least_requests(const Metrics& line, double blocks) {
    constexpr double kRequestBytes = 32 * 16;
    return std::ceil(least_asked(line, blocks) / kRequestBytes);
}

double least_sectors(const Metrics& line, double /*blocks*/) {
    return at(line, "memory_l2_theoretical_sectors_global_ideal");
}

// ---- the table -------------------------------------------------------------------------------------------------------

struct Row {
    Counter counter;
    std::string_view noun;         // "84% of the …" or "4,096 …"; none where no line is to be named
    Least least = nullptr;         // without it a line needs nothing: the one that has most is named
    std::string_view needed = "";  // the metric that says what would have done; without it check.cpp does
};

constexpr const char* kApiCalls = "calls of the runtime and of libraries";
constexpr const char* kInDouble = "operations and special functions of doubles";
constexpr const char* kOffTensorCores = "needed operations that tensor cores have not done";
constexpr const char* kWaits = "waits of the host";
constexpr const char* kIdleBlocks = "idle blocks of a launch";
constexpr const char* kWideBlock = "threads of the widest block";

constexpr std::array kRows{
    Row{{"bytes_asked", "sm__sass_data_bytes_mem_global_op_*.sum", "asks for {} bytes of global memory"},
        "bytes asked for",
        least_asked},
    Row{{"bytes_moved", "l1tex__t_bytes_pipe_lsu_mem_global_op_*.sum", "moves {} bytes of global memory"},
        "bytes moved",
        least_moved},
    Row{{"requests", "l1tex__t_requests_pipe_lsu_mem_global_op_*.sum", "makes {} requests to global memory"},
        "requests",
        least_requests},
    Row{{"sectors", "memory_l2_theoretical_sectors_global", "moves {} sectors of global memory"},
        "sectors",
        least_sectors,
        "memory_l2_theoretical_sectors_global_ideal"},
    Row{{"shared_bytes_asked", "sm__sass_data_bytes_mem_shared_op_ld.sum", "loads {} bytes from shared memory"},
        "bytes loaded from shared memory"},
    Row{{"shared_bytes_distinct", "distinct bytes of shared requests, ld",
         "loads {} different bytes from shared memory"},
        "different bytes loaded from shared memory"},
    Row{{"shared_bytes_alone", "bytes of shared loads that nothing overlaps",
         "loads {} bytes from shared memory while no asynchronous copy is on its way"},
        "bytes loaded while no copy is on its way"},
    Row{{"excess_wavefronts", "derived__memory_l1_wavefronts_shared_excessive",
         "loses {} wavefronts of shared memory to bank conflicts"},
        "wavefronts lost to bank conflicts"},
    Row{{"barriers", "sass__inst_executed_per_opcode BAR", "makes its warps wait {} times at a barrier"},
        "barriers, each warp's"},
    Row{{"special_functions", "special functions", "evaluates {} special functions"}, "special functions"},
    Row{{"special_functions_of_doubles", "special functions of doubles", "evaluates {} special functions of doubles"},
        "special functions of doubles"},
    Row{{"kernel_launches", "kernel launches", "launches {} kernels"}, ""},
    Row{{"api_calls", kApiCalls, "calls the runtime and its libraries {} times"}, ""},
    Row{{"waits", kWaits, "waits {} times for the device: the caller decides when, and the next op's launch is late",
         JudgedIn::warm_calls},
        ""},
    Row{{"operations", "operations issued to streams", "issues {} operations to the device"}, ""},
    Row{{"library_calls", "calls of libraries", "calls libraries {} times"}, ""},
    Row{{"library_setups", "setups of libraries",
         "sets libraries up {} times: handles and chosen algorithms can be kept between calls", JudgedIn::warm_calls},
        ""},
    Row{{"bytes_in_small_pieces", "bytes that libraries move in small pieces",
         "has libraries move {} bytes in smaller pieces than their addresses allow"},
        ""},
    Row{{"library_flop", "floating-point operations of libraries", "has libraries do {} floating-point operations"},
        ""},
    Row{{"mma_instructions", "sm__inst_executed_pipe_tensor_op_hmma.sum", "executes {} mma instructions"},
        "mma instructions"},
    Row{{"operations_off_tensor_cores", kOffTensorCores,
         "does {} of its floating-point operations elsewhere than in mma instructions"},
        ""},
    Row{{"matrix_wavefronts", "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum",
         "takes {} wavefronts of shared memory for ldmatrix"},
        "wavefronts of ldmatrix"},
    Row{{"truncated_to_tf32", "elements that mma truncates to tf32",
         "hands {} elements to mma that nobody has rounded to TF32"},
        "elements that mma truncates"},
    Row{{"allocations", "allocations", "allocates {} times"}, ""},
    Row{{"bytes_allocated", "bytes allocated", "allocates {} bytes"}, ""},
    Row{{"operations_of_doubles", kInDouble, "does {} of its operations in double", JudgedIn::all_calls},
        "operations of doubles"},
    Row{{"idle_blocks", kIdleBlocks, "launches {} blocks that have nothing to do", JudgedIn::large_calls}, ""},
    Row{{"threads_of_wide_blocks", kWideBlock, "launches blocks of {} threads", JudgedIn::all_calls}, ""},
};

// What the host has asked of the device since the process began.
Metrics host_metrics() {
    Metrics metrics{{"allocations", 0}, {"bytes allocated", 0}};
    for (const auto& [begin, allocation] : simt::Memory::instance().allocations()) {
        metrics["allocations"] += 1;
        metrics["bytes allocated"] += static_cast<double>(allocation.bytes);
    }
    metrics["operations issued to streams"] = static_cast<double>(simt::Streams::instance().issued());
    metrics[kApiCalls] = static_cast<double>(simt::api_calls());
    metrics[kWaits] = static_cast<double>(simt::waits());
    metrics["setups of libraries"] = static_cast<double>(simt::library_setups());
    return metrics;
}

Metrics by_name(const simt::Traffic& traffic) {
    Metrics metrics;
    for (const simt::Metric& metric : simt::every_metric_of(traffic)) {
        metrics[metric.name] = static_cast<double>(metric.value);
    }
    metrics[kInDouble] =
        at(metrics, "floating-point operations of doubles") + at(metrics, "special functions of doubles");
    metrics["bytes of shared loads that nothing overlaps"] =
        at(metrics, "sm__sass_data_bytes_mem_shared_op_ld.sum") - at(metrics, "bytes of shared loads during copies");
    return metrics;
}

// ---- the line to look at ----------------------------------------------------------------------------------------------

struct Line {
    std::string kernel;
    const simt::LineTraffic* line;
    Metrics metrics;
    double blocks;  // of a launch that has it
};

std::vector<Line> lines_of(const std::vector<simt::LaunchTraffic>& kernels) {
    std::vector<Line> lines;
    for (const simt::LaunchTraffic& kernel : kernels) {
        if (kernel.launches == 0) {
            continue;  // a library's function has no lines
        }
        const double blocks = static_cast<double>(kernel.blocks_run) / static_cast<double>(kernel.launches);
        for (const simt::LineTraffic& line : kernel.lines) {
            lines.push_back({kernel.kernel, &line, by_name(line.traffic), blocks});
        }
    }
    return lines;
}

// Returns the launch with most blocks that have used no global memory: of a launch at least as many as have, and more
// than a GPU runs at a time. Half of a triangle of blocks is less than that, and so is what the last row of a grid leaves
// over. Null if there is none.
const simt::LaunchTraffic* idlest(const std::vector<simt::LaunchTraffic>& launches) {
    constexpr std::uint64_t kFew = 512;
    const simt::LaunchTraffic* most = nullptr;
    for (const simt::LaunchTraffic& launch : launches) {
        const bool idle = launch.idle_blocks >= kFew && 2 * launch.idle_blocks >= launch.blocks_run;
        most = idle && (most == nullptr || launch.idle_blocks > most->idle_blocks) ? &launch : most;
    }
    return most;
}

double threads_of(const simt::LaunchTraffic& launch) {
    return static_cast<double>(launch.block.x) * launch.block.y * launch.block.z;
}

// Returns the launch with the widest blocks; null if all of them fit whatever registers their threads take.
const simt::LaunchTraffic* widest(const std::vector<simt::LaunchTraffic>& launches) {
    constexpr double kAlwaysFit = 256;  // a thread has at most 255 of the 65,536 registers
    const auto most = std::ranges::max_element(launches, {}, threads_of);
    return most == launches.end() || threads_of(*most) <= kAlwaysFit ? nullptr : &*most;
}

std::string whole(double x) {
    return format_count(std::lround(x));
}

// The line that takes most beyond what it needs. What it needs is judged block by block; where that does not explain at
// least half of `too_many`, blocks that share nothing do, and each byte should come once a launch.
std::string line_with_most(const std::vector<Line>& lines, const Row& row, double total, double too_many) {
    const auto value = [&](const Line& line) { return at(line.metrics, row.counter.metric); };
    const auto least = [&](const Line& line, bool by_block) {
        return row.least == nullptr ? 0 : row.least(line.metrics, by_block ? line.blocks : 1);
    };
    const auto excess = [&](const Line& line, bool by_block) {
        return std::max(0.0, value(line) - least(line, by_block));
    };
    double explained = 0;
    for (const Line& line : lines) { explained += excess(line, true); }
    const bool by_block = 2 * explained >= too_many;
    const auto most = std::ranges::max_element(lines, {}, [&](const Line& line) { return excess(line, by_block); });
    if (most == lines.end() || excess(*most, by_block) == 0) {
        return "";
    }
    const std::string place =
        most->line->line.file.empty() ? "a function that " + most->kernel + " calls" : text_of(most->line->line);
    if (row.least == nullptr) {
        return fmt::format("{}: {} of the {}", place, percent(value(*most) / total), row.noun);
    }
    const simt::Traffic& traffic = most->line->traffic;
    return fmt::format("{}: {} {} where {} would do{}; {:.1f} sectors a request", place, whole(value(*most)), row.noun,
                       whole(least(*most, by_block)), by_block ? "" : " if each byte came once",
                       static_cast<double>(traffic.global_sectors()) / static_cast<double>(traffic.global_requests()));
}

}  // namespace

std::vector<Counter> simt_counters() {
    std::vector<Counter> counters;
    std::ranges::transform(kRows, std::back_inserter(counters), &Row::counter);
    return counters;
}

CountingCall::CountingCall() : host_(host_metrics()) {}

void CountingCall::op_begins() {
    host_.at(kApiCalls) = static_cast<double>(simt::api_calls());
    host_.at(kWaits) = static_cast<double>(simt::waits());
    copied_before_ = simt::copied_bytes();
}

void CountingCall::host_is_done() {
    const Metrics now = host_metrics();
    for (auto& [name, value] : host_) { value = now.at(name) - value; }
}

std::vector<CounterResult> CountingCall::of(const std::vector<Needed>& needed) const {
    const simt::LaunchTraffic all = simt::traffic_in_all();
    Metrics total = by_name(all.total);
    const simt::CopiedBytes copied = simt::copied_bytes();
    for (const char* bytes :
         {"sm__sass_data_bytes_mem_global_op_{}.sum", "l1tex__t_bytes_pipe_lsu_mem_global_op_{}.sum"}) {
        total[fmt::format(fmt::runtime(bytes), "ld")] +=
            at(total, "bytes that libraries read") + static_cast<double>(copied.read - copied_before_.read);
        total[fmt::format(fmt::runtime(bytes), "st")] +=
            at(total, "bytes that libraries write") + static_cast<double>(copied.written - copied_before_.written);
    }
    total.insert(host_.begin(), host_.end());
    total["kernel launches"] = static_cast<double>(all.launches);
    total[kWideBlock] = total[kIdleBlocks] = 0;
    std::map<std::string_view, std::string> most;  // by metric: of one launch
    if (const simt::LaunchTraffic* const wide = widest(simt::traffic_of_launches())) {
        total[kWideBlock] = threads_of(*wide);
        most[kWideBlock] = wide->kernel;
    }
    if (const simt::LaunchTraffic* const idle = idlest(simt::traffic_of_launches())) {
        total[kIdleBlocks] = static_cast<double>(idle->idle_blocks);
        most[kIdleBlocks] = fmt::format("{}: {} of {} blocks of {} use no global memory; is the grid too large?",
                                        text_of(idle->line), whole(static_cast<double>(idle->idle_blocks)),
                                        whole(static_cast<double>(idle->blocks_run)), idle->kernel);
    }
    const std::vector<Line> lines = lines_of(simt::traffic_of_kernels());
    const auto in_tensor_cores = static_cast<double>(2 * all.total.tensor.multiply_adds());
    std::vector<CounterResult> result;
    for (const Needed& need : needed) {
        total[kOffTensorCores] = std::max(0.0, need.value - in_tensor_cores);
        const auto row = std::ranges::find(kRows, need.counter, [](const Row& r) { return r.counter.name; });
        if (row == kRows.end()) {
            throw std::logic_error(fmt::format("the CPU device has no counter {}", need.counter));
        }
        CounterResult counted{.counter = need.counter,
                              .takes = std::string(row->counter.takes),
                              .value = at(total, row->counter.metric),
                              .needed = row->needed.empty() ? need.value : at(total, row->needed)};
        if (row->counter.metric == kOffTensorCores) {
            counted.needed = 0;  // none may be missing
        }
        counted.most = row->noun.empty() ? most[row->counter.metric]
                                         : line_with_most(lines, *row, counted.value, counted.value - counted.needed);
        result.push_back(std::move(counted));
    }
    return result;
}

}  // namespace checker
