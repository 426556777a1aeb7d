// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/streams/graphs.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/report/findings.h"

namespace simt {
namespace {

// Says so where a handle was destroyed.
template <class Handles, class Handle>
bool is_alive(const Handles& handles, Handle handle, const char* what, const char* call, const void* site) {
    const auto entry = handles.find(handle);
    if (entry == handles.end()) {
        return false;
    }
    const void* const destroyed_at = entry->second->destroyed_at;
    if (destroyed_at != nullptr) {
        report(Kind::use_after_free, "", site, [&] {
            return fmt::format("{}() is given {} that was made at {} and destroyed at {}", call, what,
                               text_of(source_of(entry->second->made_at)), text_of(source_of(destroyed_at)));
        });
    }
    return destroyed_at == nullptr;
}

// For each lane how many of its nodes happen before a node, or are it.
using LaneClock = std::vector<std::size_t>;

void join(LaneClock& clock, const LaneClock& other) {
    clock.resize(std::max(clock.size(), other.size()));
    for (std::size_t i = 0; i < other.size(); i++) { clock[i] = std::max(clock[i], other[i]); }
}

// Gives each node a lane whose last node comes before it. Returns how many lanes there are.
std::size_t assign_lanes(std::vector<ExecutableNode>& nodes) {
    std::vector<LaneClock> clocks(nodes.size());
    std::vector<std::size_t> lengths;  // of the lanes
    for (std::size_t i = 0; i < nodes.size(); i++) {
        LaneClock& clock = clocks[i];
        for (const std::size_t before : nodes[i].after) { join(clock, clocks[before]); }
        clock.resize(std::max(clock.size(), lengths.size()));
        std::size_t lane = 0;
        while (lane < lengths.size() && clock[lane] != lengths[lane]) { lane++; }
        if (lane == lengths.size()) {
            lengths.push_back(0);
            clock.resize(lengths.size());
        }
        clock[lane] = ++lengths[lane];
        nodes[i].lane = lane;
    }
    return lengths.size();
}

}  // namespace

Graphs& Graphs::instance() {
    static auto& graphs = *new Graphs;  // never destroyed: what is left is reported at the end
    return graphs;
}

// ---- handles --------------------------------------------------------------------------------------------------------------

bool Graphs::exists(cudaGraph_t graph) const {
    const ApiLock turn;
    const auto entry = graphs_.find(graph);
    return entry != graphs_.end() && graph->destroyed_at == nullptr;
}

bool Graphs::exists(cudaGraphNode_t node) const {
    const ApiLock turn;
    return nodes_.contains(node);
}

bool Graphs::exists(cudaGraphExec_t executable) const {
    const ApiLock turn;
    const auto entry = executables_.find(executable);
    return entry != executables_.end() && executable->destroyed_at == nullptr;
}

bool Graphs::is_usable(cudaGraph_t graph, const char* call, const void* site) const {
    const ApiLock turn;
    return is_alive(graphs_, graph, "a graph", call, site);
}

bool Graphs::is_usable(cudaGraphExec_t executable, const char* call, const void* site) const {
    const ApiLock turn;
    return is_alive(executables_, executable, "an executable graph", call, site);
}

// ---- graphs ---------------------------------------------------------------------------------------------------------------

cudaGraph_t Graphs::create(const void* site) {
    const ApiLock turn;
    auto graph = std::make_unique<CUgraph_st>();
    graph->made_at = site;
    cudaGraph_t const handle = graph.get();
    graphs_.emplace(handle, std::move(graph));
    return handle;
}

void Graphs::destroy(cudaGraph_t graph, const void* site) {
    const ApiLock turn;
    for (const auto& node : graph->nodes) { nodes_.erase(node.get()); }
    graph->nodes.clear();
    graph->nodes.shrink_to_fit();
    graph->destroyed_at = site;
}

cudaGraphNode_t Graphs::add(cudaGraph_t graph, Operation operation, std::vector<cudaGraphNode_t> after) {
    const ApiLock turn;
    graph->nodes.push_back(std::make_unique<CUgraphNode_st>(CUgraphNode_st{.graph = graph,
                                                                           .operation = std::move(operation),
                                                                           .after = std::move(after),
                                                                           .number = graph->numbered++,
                                                                           .id = ++nodes_made_}));
    cudaGraphNode_t const node = graph->nodes.back().get();
    nodes_.insert(node);
    return node;
}

void Graphs::remove(cudaGraphNode_t node) {
    const ApiLock turn;
    nodes_.erase(node);
    auto& nodes = node->graph->nodes;
    for (const auto& other : nodes) { std::erase(other->after, node); }
    std::erase_if(nodes, [&](const auto& other) { return other.get() == node; });
}

std::vector<cudaGraphNode_t> Graphs::ordered(cudaGraph_t graph) const {
    const ApiLock turn;
    std::unordered_map<cudaGraphNode_t, std::size_t> open;  // how many nodes each still waits for
    std::unordered_map<cudaGraphNode_t, std::vector<cudaGraphNode_t>> before;
    const auto later = [](cudaGraphNode_t a, cudaGraphNode_t b) { return a->number > b->number; };
    std::vector<cudaGraphNode_t> ready, order;  // `ready` is a heap, the node that was made first on top
    for (const auto& node : graph->nodes) {
        open[node.get()] = node->after.size();
        for (cudaGraphNode_t const other : node->after) { before[other].push_back(node.get()); }
        if (node->after.empty()) {
            ready.push_back(node.get());
        }
    }
    std::make_heap(ready.begin(), ready.end(), later);
    while (!ready.empty()) {
        std::pop_heap(ready.begin(), ready.end(), later);
        order.push_back(ready.back());
        ready.pop_back();
        for (cudaGraphNode_t const next : before[order.back()]) {
            if (--open[next] == 0) {
                ready.push_back(next);
                std::push_heap(ready.begin(), ready.end(), later);
            }
        }
    }
    return order;
}

// ---- executables ----------------------------------------------------------------------------------------------------------

cudaGraphExec_t Graphs::instantiate(cudaGraph_t graph, unsigned long long flags, const void* site) {
    const ApiLock turn;
    const std::vector<cudaGraphNode_t> order = ordered(graph);
    if (order.size() != graph->nodes.size()) {
        return nullptr;
    }
    auto executable = std::make_unique<CUgraphExec_st>();
    std::unordered_map<cudaGraphNode_t, std::size_t> index;
    std::vector<bool> is_last(order.size(), true);
    for (cudaGraphNode_t const node : order) {
        ExecutableNode made{.node = node, .id = node->id, .operation = node->operation, .after = {}};
        for (cudaGraphNode_t const other : node->after) {
            made.after.push_back(index.at(other));
            is_last[index.at(other)] = false;
        }
        index[node] = executable->nodes.size();
        executable->nodes.push_back(std::move(made));
    }
    const std::size_t lanes = assign_lanes(executable->nodes);
    for (std::size_t lane = 1; lane < lanes; lane++) { executable->lanes.push_back(Streams::instance().create_lane()); }
    for (std::size_t i = 0; i < is_last.size(); i++) {
        if (is_last[i]) {
            executable->last.push_back(i);
        }
    }
    executable->flags = flags;
    executable->made_at = site;
    cudaGraphExec_t const handle = executable.get();
    executables_.emplace(handle, std::move(executable));
    return handle;
}

void Graphs::destroy(cudaGraphExec_t executable, const void* site) {
    const ApiLock turn;
    for (cudaStream_t const lane : executable->lanes) { Streams::instance().destroy_lane(lane); }
    *executable = {.made_at = executable->made_at, .destroyed_at = site};
}

ExecutableNode* Graphs::find(cudaGraphExec_t executable, cudaGraphNode_t node) const {
    const ApiLock turn;
    for (ExecutableNode& candidate : executable->nodes) {
        if (candidate.node == node && (!exists(node) || candidate.id == node->id)) {
            return &candidate;
        }
    }
    return nullptr;
}

// Each lane is a stream; what is in two of them is ordered by the graph's edges, as events order it. The first lane is the
// stream of the launch. Where there are others, all begin behind one operation there and end before another one.
void Graphs::launch(cudaGraphExec_t executable, cudaStream_t stream, const void* site) {
    const ApiLock turn;
    Streams& streams = Streams::instance();
    const auto replay = std::make_shared<Replay>(
        Replay{fmt::format("the graph launched at {} in {}", text_of(source_of(site)), streams.name_of(stream))});
    const auto order_only = [&](const std::vector<OperationPointer>& after) {
        return streams.issue(stream, {.name = "cudaGraphLaunch", .site = site, .replay = replay}, after);
    };
    OperationPointer begin = executable->last_launch;
    const bool has_one_lane = executable->lanes.empty() && !executable->nodes.empty();
    if (!has_one_lane) {
        begin = order_only({begin});
    }
    std::vector<OperationPointer> issued, after;
    issued.reserve(executable->nodes.size());
    for (const ExecutableNode& node : executable->nodes) {
        after.clear();
        for (const std::size_t before : node.after) { after.push_back(issued[before]); }
        if (node.after.empty()) {
            after.push_back(begin);
        }
        Operation operation = node.enabled ? node.operation : Operation{.name = node.operation.name};
        operation.replay = replay;
        issued.push_back(
            streams.issue(node.lane == 0 ? stream : executable->lanes[node.lane - 1], std::move(operation), after));
    }
    if (has_one_lane) {
        executable->last_launch = issued.back();
        return;
    }
    after.clear();
    for (const std::size_t last : executable->last) { after.push_back(issued[last]); }
    executable->last_launch = order_only(after);
}

// ---- what is left ---------------------------------------------------------------------------------------------------------

namespace {

template <class Handles>
std::size_t count_alive(const Handles& handles) {
    return static_cast<std::size_t>(std::count_if(
        handles.begin(), handles.end(), [](const auto& entry) { return entry.second->destroyed_at == nullptr; }));
}

template <class Handles>
void report_left(const Handles& handles, const char* what) {
    for (const auto& [handle, object] : handles) {
        if (object->destroyed_at == nullptr) {
            report(Kind::leak, "", object->made_at, [&] { return fmt::format("{} was never destroyed", what); });
        }
    }
}

}  // namespace

std::size_t Graphs::graphs() const {
    const ApiLock turn;
    return count_alive(graphs_);
}

std::size_t Graphs::executables() const {
    const ApiLock turn;
    return count_alive(executables_);
}

void Graphs::report_left() const {
    simt::report_left(graphs_, "a graph");
    simt::report_left(executables_, "an executable graph");
}

void Graphs::destroy_all(const void* site) {
    const ApiLock turn;
    for (const auto& [graph, object] : graphs_) {
        if (object->destroyed_at == nullptr) {
            destroy(graph, site);
        }
    }
    for (const auto& [executable, object] : executables_) {
        if (object->destroyed_at == nullptr) {
            destroy(executable, site);
        }
    }
}

}  // namespace simt
