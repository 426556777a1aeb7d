// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/counting/traffic.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/counting/arithmetic.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/requests/traffic_trace.h"
#include "checker/simt/runtime/streams/streams.h"
#include "checker/simt/runtime/threads/launch_observer.h"
#include "checker/simt/runtime/threads/scheduler.h"

namespace simt {
namespace {

constexpr std::size_t kMostLaunches = 1000;  // that are kept one by one
constexpr std::size_t kMostBuffers = 4;

struct Ledger {
    std::vector<LaunchTraffic> launches, kernels;
};

// It is read when the process ends, and so never destroyed.
Ledger& ledger() {
    static auto& instance = *new Ledger;
    return instance;
}

// Adds what a launch did, or all launches of a kernel.
void note_kernel(LaunchTraffic counted) {
    std::vector<LaunchTraffic>& kernels = ledger().kernels;
    const auto kernel = std::find_if(kernels.begin(), kernels.end(),
                                     [&](const LaunchTraffic& other) { return other.kernel == counted.kernel; });
    if (kernel == kernels.end()) {
        kernels.push_back(std::move(counted));
    } else {
        kernel->add(counted);
    }
}

void note_launch(LaunchTraffic counted) {
    if (ledger().launches.size() < kMostLaunches) {
        ledger().launches.push_back(std::move(counted));
    }
}

std::pair<const std::string&, int> file_and_line(const SourceLine& line) {
    return {line.file, line.line};
}

GlobalTraffic* global_of(Traffic& traffic, TraceKind kind) {
    return kind == TraceKind::load     ? &traffic.loads
           : kind == TraceKind::store  ? &traffic.stores
           : kind == TraceKind::atomic ? &traffic.atomics
                                       : nullptr;
}

// The bytes that all sites of one kind touched.
void count_unique(LaunchTraffic& launch, Traffic& sum, const std::vector<const TrafficSite*>& sites,
                  ByteSet::Pool& pool) {
    for (const TraceKind kind : {TraceKind::load, TraceKind::store, TraceKind::atomic}) {
        std::vector<const TrafficSite*> those;
        std::copy_if(sites.begin(), sites.end(), std::back_inserter(those),
                     [&](const TrafficSite* site) { return site->kind == kind; });
        std::uint64_t& bytes = global_of(sum, kind)->bytes_unique;
        if (those.size() == 1) {
            bytes = those[0]->bytes.count();
            launch.unique_is_least = launch.unique_is_least || those[0]->bytes.incomplete();
        } else if (!those.empty()) {
            ByteSet all(pool);
            for (const TrafficSite* site : those) { all.add(site->bytes); }
            bytes = all.count();
            launch.unique_is_least = launch.unique_is_least || all.incomplete();
        }
    }
}

void add_buffer(LineTraffic& line, const std::string& name) {
    if (!name.empty() && line.buffers.size() < kMostBuffers &&
        std::find(line.buffers.begin(), line.buffers.end(), name) == line.buffers.end()) {
        line.buffers.push_back(name);
    }
}

void add_shared_load(LineTraffic& line, const SharedLoad& load) {
    const auto at = std::ranges::lower_bound(line.shared_loads, load.place, {}, &SharedLoad::place);
    if (at == line.shared_loads.end() || at->place != load.place) {
        line.shared_loads.insert(at, load);
    } else {
        at->traffic += load.traffic;
    }
}

void add_lines(std::vector<LineTraffic>& lines, const std::vector<LineTraffic>& others) {
    for (const LineTraffic& other : others) {
        const auto at = std::lower_bound(lines.begin(), lines.end(), other, [](const auto& a, const auto& b) {
            return file_and_line(a.line) < file_and_line(b.line);
        });
        if (at == lines.end() || file_and_line(at->line) != file_and_line(other.line)) {
            lines.insert(at, other);
            continue;
        }
        at->traffic += other.traffic;
        for (const std::string& name : other.buffers) { add_buffer(*at, name); }
        for (const SharedLoad& load : other.shared_loads) { add_shared_load(*at, load); }
    }
}

void add_distinct(std::vector<DistinctSectors>& sums, const std::vector<DistinctSectors>& others) {
    for (const DistinctSectors& other : others) {
        auto at = std::ranges::lower_bound(sums, other.blocks, {}, &DistinctSectors::blocks);
        if (at == sums.end() || at->blocks != other.blocks) {
            at = sums.insert(at, {.blocks = other.blocks});
        }
        at->runs += other.runs;
        at->load_sectors += other.load_sectors;
        at->store_sectors += other.store_sectors;
    }
}

}  // namespace

const LineTraffic* LaunchTraffic::costliest() const {
    const auto cost = [](const LineTraffic& one) {
        return std::pair(one.traffic.bytes_moved(), one.traffic.wavefronts());
    };
    const auto most = std::ranges::max_element(lines, {}, cost);
    return most == lines.end() || cost(*most) == std::pair<std::uint64_t, std::uint64_t>() ? nullptr : &*most;
}

void LaunchTraffic::add(const LaunchTraffic& other) {
    // Calls of libraries, which are no launches, have none that could be missing.
    arithmetic_counted = launches == 0         ? other.arithmetic_counted
                         : other.launches == 0 ? arithmetic_counted
                                               : arithmetic_counted && other.arithmetic_counted;
    launches += other.launches;
    blocks_run += other.blocks_run;
    blocks += other.blocks;
    idle_blocks += other.idle_blocks;
    shared_bytes = std::max(shared_bytes, other.shared_bytes);
    add_distinct(distinct, other.distinct);
    unique_is_least = unique_is_least || other.unique_is_least;
    total += other.total;
    add_lines(lines, other.lines);
}

// Adds up what a launch did, of which `blocks_run` blocks have run.
static void note_traffic(const Launch& launch, std::uint64_t blocks_run, LaunchTrace trace) {
    const InRuntime in_runtime;
    LaunchTraffic counted{.kernel = launch.kernel,
                          .grid = launch.grid,
                          .block = launch.block,
                          .line = launch.line,
                          .blocks_run = blocks_run,
                          .blocks = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z,
                          .idle_blocks = trace.idle_blocks,
                          .shared_bytes = launch.static_bytes + launch.dynamic_bytes,
                          .distinct = std::move(trace.distinct),
                          .arithmetic_counted = launch.counts_arithmetic,
                          .total = {},
                          .lines = {}};
    ByteSet::Pool& pool = TrafficTrace::instance().pool();
    std::vector<const TrafficSite*> all;
    std::map<std::pair<std::string, int>, std::vector<const TrafficSite*>> by_line;
    for (const auto& site : trace.sites) {
        if (!site->ignored && !is_mark(site->kind) && site->kind != TraceKind::arithmetic) {
            all.push_back(site.get());
            by_line[file_and_line(source_of(reinterpret_cast<const void*>(site->site)))].push_back(site.get());
            counted.total += site->traffic;
        }
    }
    count_unique(counted, counted.total, all, pool);
    for (const auto& [where, those] : by_line) {
        LineTraffic line{
            .line = source_of(reinterpret_cast<const void*>(those[0]->site)), .traffic = {}, .buffers = {}};
        for (const TrafficSite* site : those) {
            line.traffic += site->traffic;
            if (site->kind == TraceKind::shared_load) {
                add_shared_load(line, {.place = site->site, .traffic = site->traffic.shared_loads});
            }
            for (std::size_t i = 0; i < site->buffer_count; i++) {
                const Allocation* buffer = Memory::instance().find(site->buffers[i]);
                add_buffer(line, buffer == nullptr ? "" : buffer->name);
            }
        }
        count_unique(counted, line.traffic, those, pool);
        counted.lines.push_back(std::move(line));
    }
    const std::vector<LineTraffic> arithmetic = arithmetic_of(trace.sites);
    for (const LineTraffic& line : arithmetic) { counted.total += line.traffic; }
    add_lines(counted.lines, arithmetic);
    note_kernel(counted);
    note_launch(std::move(counted));
}

constinit const LaunchObserver traffic_observer = {
    .begin_launch = [](const Launch& launch) { return TrafficTrace::instance().begin_launch(launch); },
    .end_block =
        [](Block& block, bool completed) {
            if (completed) {
                TrafficTrace::instance().end_block(block);
            }
        },
    .begin_slice = [](const Lane& lane, std::uint32_t) { TrafficTrace::instance().begin_lane(lane); },
    .end_slice = [](const Lane& lane, std::uint32_t) { TrafficTrace::instance().end_lane(lane); },
    .reach_barrier = [](const void* site) { note_in_trace(packed(0, TraceKind::barrier, 0), site); },
    .reach_grid_barrier = [](const void* site) { note_in_trace(packed(0, TraceKind::barrier, 0), site); },
    .reach_collective =
        [](const Lane&, const Collective& request) {
            const bool is_wmma = request.kind == CollectiveKind::wmma_multiply;
            if (request.kind == CollectiveKind::mma || is_wmma) {
                const unsigned operation = request.operation | (is_wmma ? kTwoInstructions : 0);
                note_in_trace(packed(request.mask, TraceKind::mma, operation), request.site);
                return;
            }
            const TraceKind kind = request.shuffles == 0 ? TraceKind::collective : TraceKind::shuffle;
            note_in_trace(packed(request.mask, kind, request.shuffles), request.site);
        },
    .end_launch =
        [](const Launch& launch, std::uint64_t blocks) {
            if (hot.trace.merge != nullptr) {
                note_traffic(launch, blocks, TrafficTrace::instance().end_launch());
            }
        },
};

void note_library_call(const char* name, const void* site, const Traffic& traffic) {
    if (wants_traffic()) {
        note_kernel({.kernel = name,
                     .grid = {},
                     .block = {},
                     .line = source_of(site),
                     .launches = 0,
                     .total = traffic,
                     .lines = {{.line = source_of(site), .traffic = traffic, .buffers = {}}}});
    }
}

// Work that was issued earlier belongs to what was counted then.
CountingTraffic::CountingTraffic() : counted_before_(wants_traffic()) {
    Streams::instance().wait_for_all();
    launches_ = std::exchange(ledger().launches, {});
    kernels_ = std::exchange(ledger().kernels, {});
    want_traffic(true);
}

CountingTraffic::~CountingTraffic() {
    Streams::instance().wait_for_all();
    want_traffic(counted_before_);
    const Ledger inner = std::exchange(ledger(), {std::move(launches_), std::move(kernels_)});
    if (counted_before_) {
        for (const LaunchTraffic& launch : inner.launches) { note_launch(launch); }
        for (const LaunchTraffic& kernel : inner.kernels) { note_kernel(kernel); }
    }
}

const std::vector<LaunchTraffic>& traffic_of_launches() {
    Streams::instance().wait_for_all();
    return ledger().launches;
}

const std::vector<LaunchTraffic>& traffic_of_kernels() {
    Streams::instance().wait_for_all();
    return ledger().kernels;
}

LaunchTraffic traffic_in_all() {
    LaunchTraffic all{.kernel = {}, .grid = {}, .block = {}, .line = {}, .launches = 0, .total = {}, .lines = {}};
    for (const LaunchTraffic& kernel : traffic_of_kernels()) { all.add(kernel); }
    return all;
}

}  // namespace simt
