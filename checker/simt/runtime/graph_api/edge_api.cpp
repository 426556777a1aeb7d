// SPDX-License-Identifier: MIT
//
// The runtime's functions for a graph's edges, for what it is made of, and for its clones.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "checker/simt/include/simt/graph_api.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/graph_api/parameters.h"
#include "checker/simt/runtime/streams/capture.h"
#include "checker/simt/runtime/streams/graphs.h"

namespace simt {
namespace {

using Nodes = std::vector<cudaGraphNode_t>;
using Edges = std::vector<std::pair<cudaGraphNode_t, cudaGraphNode_t>>;

Graphs& graphs() {
    return Graphs::instance();
}

// Fills a list that has room for `count` as the API documents it: what is left is null, and `count` what there was. Without a
// list, `count` is how many there are.
void fill(const Nodes& nodes, cudaGraphNode_t* list, std::size_t& count) {
    const std::size_t told = list == nullptr ? nodes.size() : std::min(count, nodes.size());
    if (list != nullptr) {
        std::fill(std::copy_n(nodes.begin(), told, list), list + count, nullptr);
    }
    count = told;
}

cudaError_t tell(const Nodes& nodes, cudaGraphNode_t* list, cudaGraphEdgeData* edge_data, std::size_t* count) {
    if (count == nullptr || (edge_data != nullptr && list == nullptr)) {
        return result(cudaErrorInvalidValue);
    }
    fill(nodes, list, *count);
    if (edge_data != nullptr) {
        std::fill_n(edge_data, *count, cudaGraphEdgeData{});
    }
    return result(cudaSuccess);
}

Nodes nodes_of(cudaGraph_t graph) {
    Nodes nodes;
    for (const auto& node : graph->nodes) { nodes.push_back(node.get()); }
    return nodes;
}

bool is_edge(cudaGraphNode_t from, cudaGraphNode_t to) {
    return std::find(to->after.begin(), to->after.end(), from) != to->after.end();
}

// The edges that a call names: between nodes of the graph, none twice, and all of them there already or none. Empty where
// one is wrong.
Edges edges_named(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, std::size_t count,
                  bool there) {
    Edges edges;
    for (std::size_t i = 0; from != nullptr && to != nullptr && i < count; i++) {
        const bool known = graphs().exists(from[i]) && graphs().exists(to[i]) && from[i]->graph == graph &&
                           to[i]->graph == graph && from[i] != to[i];
        const std::pair edge(from[i], to[i]);
        if (!known || is_edge(from[i], to[i]) != there || std::find(edges.begin(), edges.end(), edge) != edges.end()) {
            return {};
        }
        edges.push_back(edge);
    }
    return edges;
}

}  // namespace
}  // namespace simt

using simt::graphs;
using simt::result;

extern "C" {

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     const cudaGraphEdgeData* edge_data, std::size_t count) {
    const simt::ApiLock turn;
    const void* const site = __builtin_return_address(0);
    if (const cudaError_t error = simt::judge(edge_data, count, site); error != cudaSuccess) {
        return error;
    }
    if (!graphs().is_usable(graph, "cudaGraphAddDependencies", site)) {
        return result(cudaErrorInvalidValue);
    }
    const simt::Edges edges = simt::edges_named(graph, from, to, count, false);
    for (const auto& [before, behind] : edges) { behind->after.push_back(before); }
    return result(edges.size() == count ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                        const cudaGraphEdgeData* edge_data, std::size_t count) {
    const simt::ApiLock turn;
    const void* const site = __builtin_return_address(0);
    if (const cudaError_t error = simt::judge(edge_data, count, site); error != cudaSuccess) {
        return error;
    }
    if (!graphs().is_usable(graph, "cudaGraphRemoveDependencies", site)) {
        return result(cudaErrorInvalidValue);
    }
    const simt::Edges edges = simt::edges_named(graph, from, to, count, true);
    for (const auto& [before, behind] : edges) { std::erase(behind->after, before); }
    return result(edges.size() == count ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
    const simt::ApiLock turn;
    if (type == nullptr || !graphs().exists(node)) {
        return result(cudaErrorInvalidValue);
    }
    *type = type_of(node->operation.work);
    return result(cudaSuccess);
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
    const simt::ApiLock turn;
    return graphs().is_usable(graph, "cudaGraphGetNodes", __builtin_return_address(0))
               ? simt::tell(simt::nodes_of(graph), nodes, nullptr, count)
               : result(cudaErrorInvalidValue);
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
    const simt::ApiLock turn;
    if (!graphs().is_usable(graph, "cudaGraphGetRootNodes", __builtin_return_address(0))) {
        return result(cudaErrorInvalidValue);
    }
    simt::Nodes roots = simt::nodes_of(graph);
    std::erase_if(roots, [](cudaGraphNode_t node) { return !node->after.empty(); });
    return simt::tell(roots, nodes, nullptr, count);
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* edge_data, std::size_t* count) {
    const simt::ApiLock turn;
    if (!graphs().is_usable(graph, "cudaGraphGetEdges", __builtin_return_address(0)) || count == nullptr ||
        (from == nullptr) != (to == nullptr)) {
        return result(cudaErrorInvalidValue);
    }
    simt::Nodes before, behind;
    for (const auto& node : graph->nodes) {
        before.insert(before.end(), node->after.begin(), node->after.end());
        behind.resize(before.size(), node.get());
    }
    std::size_t room = *count;
    simt::fill(before, from, room);
    return simt::tell(behind, to, edge_data, count);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* edge_data,
                                         std::size_t* count) {
    const simt::ApiLock turn;
    return graphs().exists(node) ? simt::tell(node->after, nodes, edge_data, count) : result(cudaErrorInvalidValue);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* edge_data,
                                           std::size_t* count) {
    const simt::ApiLock turn;
    if (!graphs().exists(node)) {
        return result(cudaErrorInvalidValue);
    }
    simt::Nodes behind = simt::nodes_of(node->graph);
    std::erase_if(behind, [&](cudaGraphNode_t other) { return !simt::is_edge(node, other); });
    return simt::tell(behind, nodes, edge_data, count);
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
    const simt::ApiLock turn;
    if (!graphs().exists(node) || simt::Captures::instance().builds(node->graph)) {
        return result(graphs().exists(node) ? cudaErrorNotPermitted : cudaErrorInvalidValue);
    }
    graphs().remove(node);
    return result(cudaSuccess);
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original) {
    const simt::ApiLock turn;
    const void* const site = __builtin_return_address(0);
    if (clone == nullptr || !graphs().is_usable(original, "cudaGraphClone", site)) {
        return result(cudaErrorInvalidValue);
    }
    *clone = graphs().create(site);
    std::map<cudaGraphNode_t, cudaGraphNode_t> made_of;
    for (const auto& node : original->nodes) {
        made_of[node.get()] = graphs().add(*clone, node->operation, {});
        made_of[node.get()]->original = node->id;
    }
    for (const auto& node : original->nodes) {
        for (cudaGraphNode_t const before : node->after) { made_of[node.get()]->after.push_back(made_of[before]); }
    }
    return result(cudaSuccess);
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original, cudaGraph_t clone) {
    const simt::ApiLock turn;
    if (node == nullptr || !graphs().exists(original) ||
        !graphs().is_usable(clone, "cudaGraphNodeFindInClone", __builtin_return_address(0))) {
        return result(cudaErrorInvalidValue);
    }
    const auto found = std::find_if(clone->nodes.begin(), clone->nodes.end(),
                                    [&](const auto& made) { return made->original == original->id; });
    if (found == clone->nodes.end()) {
        return result(cudaErrorInvalidValue);
    }
    *node = found->get();
    return result(cudaSuccess);
}

}  // extern "C"
