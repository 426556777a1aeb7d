// SPDX-License-Identifier: MIT
//
// Graphs, their nodes, and executables. A node holds an operation (streams.h) that was not issued when it was made, by
// stream capture (capture.h) or by a function of the API: each launch of an executable issues all of its operations, in the
// order that the edges ask for, and no other.
//
// The handles of graphs and executables are never given out twice, so that who uses a destroyed one is told so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_set>
#include <vector>

#include "checker/simt/include/driver_types.h"
#include "checker/simt/runtime/base/source.h"
#include "checker/simt/runtime/streams/streams.h"

struct CUgraphNode_st {
    cudaGraph_t graph;
    simt::Operation operation;           // `operation.work` says what it does
    std::vector<cudaGraphNode_t> after;  // what must have ended before: no node twice
    std::size_t number;                  // in its graph, in the order in which nodes were made
    std::uint64_t id;                    // of all nodes that ever were
    std::uint64_t original = 0;          // of a clone's node: the id of the node that it was made of
};

// Emptied when it is destroyed.
struct CUgraph_st {
    std::vector<std::unique_ptr<CUgraphNode_st>> nodes = {};  // in the order in which they were made
    const void* made_at = nullptr;                            // return address
    const void* destroyed_at = nullptr;                       // null: it is alive
    std::size_t numbered = 0;                                 // nodes, those that were removed too
};

namespace simt {

struct ExecutableNode {
    cudaGraphNode_t node;  // of the graph that was instantiated, which may be no more; `id` is the node's
    std::uint64_t id;
    Operation operation;
    std::vector<std::size_t> after;  // by their indices
    std::size_t lane = 0;            // nodes of one lane come one after the other by edges alone
    bool enabled = true;             // otherwise it only orders others
};

}  // namespace simt

struct CUgraphExec_st {
    std::vector<simt::ExecutableNode> nodes = {};  // each behind those that it comes after
    std::vector<cudaStream_t> lanes = {};          // streams for all lanes but the first, which is the launch's own
    std::vector<std::size_t> last = {};            // nodes that no node comes after
    simt::OperationPointer last_launch = {};       // behind all of it
    unsigned long long flags = 0;
    const void* made_at = nullptr;
    const void* destroyed_at = nullptr;
};

namespace simt {

class Graphs {
  public:
    static Graphs& instance();

    // ---- handles. `exists` is silent; `is_usable` says so where the handle was destroyed: "cudaGraphLaunch".
    bool exists(cudaGraph_t graph) const;
    bool exists(cudaGraphNode_t node) const;
    bool exists(cudaGraphExec_t executable) const;
    bool is_usable(cudaGraph_t graph, const char* call, const void* site) const;
    bool is_usable(cudaGraphExec_t executable, const char* call, const void* site) const;

    // ---- graphs
    cudaGraph_t create(const void* site);
    void destroy(cudaGraph_t graph, const void* site);
    // Adds a node behind the others, which are the graph's.
    cudaGraphNode_t add(cudaGraph_t graph, Operation operation, std::vector<cudaGraphNode_t> after);
    void remove(cudaGraphNode_t node);  // with its edges
    // Each node behind those that it comes after, otherwise in the order in which they were made. Fewer than the graph has:
    // there is a cycle.
    std::vector<cudaGraphNode_t> ordered(cudaGraph_t graph) const;

    // ---- executables. Null: the graph has a cycle.
    cudaGraphExec_t instantiate(cudaGraph_t graph, unsigned long long flags, const void* site);
    void destroy(cudaGraphExec_t executable, const void* site);
    // Null: the executable has no such node.
    ExecutableNode* find(cudaGraphExec_t executable, cudaGraphNode_t node) const;
    // Issues all of it into the stream, behind what is in it and behind the last launch of this executable.
    void launch(cudaGraphExec_t executable, cudaStream_t stream, const void* site);

    // ---- how many the program holds
    std::size_t graphs() const;
    std::size_t executables() const;
    void report_left() const;            // at the end of the process: each is a finding
    void destroy_all(const void* site);  // the device is reset

  private:
    std::map<cudaGraph_t, std::unique_ptr<CUgraph_st>> graphs_;  // those that were destroyed too
    std::map<cudaGraphExec_t, std::unique_ptr<CUgraphExec_st>> executables_;
    std::unordered_set<cudaGraphNode_t> nodes_;  // that exist
    std::uint64_t nodes_made_ = 0;
};

}  // namespace simt
