// SPDX-License-Identifier: MIT
//
// The runtime's functions that change what an executable graph does from its next launch on, and that upload it.
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "checker/simt/include/simt/graph_api.h"
#include "checker/simt/runtime/api/side.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/graph_api/parameters.h"
#include "checker/simt/runtime/streams/capture.h"
#include "checker/simt/runtime/streams/graphs.h"
#include "checker/simt/runtime/streams/streams.h"

namespace simt {
namespace {

Graphs& graphs() {
    return Graphs::instance();
}

// The documented limits of cudaGraphExecUpdate. `now` does what `before` does not, in an executable.
cudaGraphExecUpdateResult judge_change(const Work& before, const Work& now) {
    if (before.index() != now.index()) {
        return cudaGraphExecUpdateErrorNodeTypeChanged;
    }
    if (const auto* const kernel = std::get_if<KernelWork>(&now)) {
        return is_cooperative(kernel->attributes) == is_cooperative(std::get<KernelWork>(before).attributes)
                   ? cudaGraphExecUpdateSuccess
                   : cudaGraphExecUpdateErrorAttributesChanged;
    }
    bool right = true;
    if (const auto* const copy = std::get_if<CopyWork>(&now)) {
        const auto& old = std::get<CopyWork>(before);
        right = side_of(copy->to) == side_of(old.to) && side_of(copy->from) == side_of(old.from);
    } else if (const auto* const memset = std::get_if<MemsetWork>(&now)) {
        const auto& old = std::get<MemsetWork>(before);
        right = memset->height == old.height &&
                (old.height == 1 || (memset->width == old.width && memset->pitch == old.pitch &&
                                     memset->element_bytes == old.element_bytes));
    }
    return right ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorParametersChanged;
}

// A node of an executable, by the graph's node that it was made of, which must still be there.
ExecutableNode* node_of(cudaGraphExec_t executable, cudaGraphNode_t node, const char* call, const void* site) {
    return graphs().is_usable(executable, call, site) && graphs().exists(node) ? graphs().find(executable, node)
                                                                               : nullptr;
}

template <class Parameters>
cudaError_t set(cudaGraphExec_t executable, cudaGraphNode_t node, const Parameters* parameters, const char* call,
                const void* site) {
    const ApiLock turn;
    if (Streams::instance().running()) {
        return result(cudaErrorNotPermitted);
    }
    ExecutableNode* const known = node_of(executable, node, call, site);
    if (known == nullptr || parameters == nullptr || type_of(*parameters) != type_of(known->operation.work)) {
        return result(cudaErrorInvalidValue);
    }
    Operation made = known->operation;
    if (const cudaError_t error = make_operation(*parameters, site, made); error != cudaSuccess) {
        return error;
    }
    const auto* const copy = std::get_if<CopyWork>(&made.work);
    const bool has_rows = copy != nullptr && (copy->height > 1 || std::get<CopyWork>(known->operation.work).height > 1);
    if (has_rows || judge_change(known->operation.work, made.work) != cudaGraphExecUpdateSuccess) {
        return result(cudaErrorInvalidValue);
    }
    known->operation = std::move(made);
    return cudaSuccess;
}

// Whether such a node of an executable may be turned off.
bool can_be_disabled(const Work& work) {
    return std::holds_alternative<KernelWork>(work) || std::holds_alternative<CopyWork>(work) ||
           std::holds_alternative<MemsetWork>(work);
}

// Pairs the nodes of an executable with those of a graph, from the nodes that no other comes after backwards, edge by edge in
// the order in which edges were made: as cudaGraphExecUpdate documents it.
class Pairing {
  public:
    // Where the two differ in shape, what CUDA says of it.
    std::optional<cudaGraphExecUpdateResultInfo> pair(cudaGraphExec_t executable, cudaGraph_t graph) {
        const auto differs = [](cudaGraphNode_t node, cudaGraphNode_t from) {
            return cudaGraphExecUpdateResultInfo{cudaGraphExecUpdateErrorTopologyChanged, node, from};
        };
        const std::vector<cudaGraphNode_t> nodes = graphs().ordered(graph);
        if (nodes.size() != executable->nodes.size() || nodes.size() != graph->nodes.size()) {
            return differs(nullptr, nullptr);
        }
        std::set<cudaGraphNode_t> has_behind;
        for (cudaGraphNode_t const node : nodes) { has_behind.insert(node->after.begin(), node->after.end()); }
        std::vector<cudaGraphNode_t> ends;
        for (cudaGraphNode_t const node : nodes) {
            if (!has_behind.contains(node)) {
                ends.push_back(node);
            }
        }
        if (ends.size() != executable->last.size()) {
            return differs(ends.size() > executable->last.size() ? ends[executable->last.size()] : nullptr, nullptr);
        }
        for (std::size_t i = 0; i < ends.size(); i++) { add(executable->last[i], ends[i]); }
        for (std::size_t next = 0; next < pairs_.size(); next++) {
            const auto [index, node] = pairs_[next];
            const std::vector<std::size_t>& before = executable->nodes[index].after;
            if (before.size() != node->after.size()) {
                return differs(node, nullptr);
            }
            for (std::size_t i = 0; i < before.size(); i++) {
                if (!add(before[i], node->after[i])) {
                    return differs(node, node->after[i]);
                }
            }
        }
        return std::nullopt;
    }

    // The index of each node of the executable, and its partner.
    const std::vector<std::pair<std::size_t, cudaGraphNode_t>>& pairs() const { return pairs_; }

  private:
    // Whether each of the two is the other's partner from now on.
    bool add(std::size_t index, cudaGraphNode_t node) {
        const auto [of_index, is_new] = node_of_.try_emplace(index, node);
        const auto [of_node, is_new_too] = index_of_.try_emplace(node, index);
        if (is_new && is_new_too) {
            pairs_.emplace_back(index, node);
        }
        return of_index->second == node && of_node->second == index;
    }

    std::map<std::size_t, cudaGraphNode_t> node_of_;
    std::map<cudaGraphNode_t, std::size_t> index_of_;
    std::vector<std::pair<std::size_t, cudaGraphNode_t>> pairs_;
};

cudaGraphExecUpdateResultInfo update(cudaGraphExec_t executable, cudaGraph_t graph) {
    Pairing pairing;
    if (const auto difference = pairing.pair(executable, graph)) {
        return *difference;
    }
    for (const auto& [index, node] : pairing.pairs()) {
        const cudaGraphExecUpdateResult change =
            judge_change(executable->nodes[index].operation.work, node->operation.work);
        if (change != cudaGraphExecUpdateSuccess) {
            return {change, node, nullptr};
        }
    }
    for (const auto& [index, node] : pairing.pairs()) { executable->nodes[index].operation = node->operation; }
    return {cudaGraphExecUpdateSuccess, nullptr, nullptr};
}

}  // namespace
}  // namespace simt

using simt::result;

extern "C" {

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters) {
    return simt::set(executable, node, parameters, "cudaGraphExecKernelNodeSetParams", __builtin_return_address(0));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* parameters) {
    return simt::set(executable, node, parameters, "cudaGraphExecMemcpyNodeSetParams", __builtin_return_address(0));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node, void* to,
                                               const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    const simt::Copy1D copy = {to, from, bytes, kind};
    return simt::set(executable, node, &copy, "cudaGraphExecMemcpyNodeSetParams1D", __builtin_return_address(0));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemsetParams* parameters) {
    return simt::set(executable, node, parameters, "cudaGraphExecMemsetNodeSetParams", __builtin_return_address(0));
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const cudaHostNodeParams* parameters) {
    return simt::set(executable, node, parameters, "cudaGraphExecHostNodeSetParams", __builtin_return_address(0));
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                       cudaGraphNodeParams* parameters) {
    return simt::set(executable, node, parameters, "cudaGraphExecNodeSetParams", __builtin_return_address(0));
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node, unsigned int enabled) {
    const simt::ApiLock turn;
    auto* const known = simt::node_of(executable, node, "cudaGraphNodeSetEnabled", __builtin_return_address(0));
    if (known == nullptr || !simt::can_be_disabled(known->operation.work)) {
        return result(cudaErrorInvalidValue);
    }
    known->enabled = enabled != 0;
    return result(cudaSuccess);
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node, unsigned int* enabled) {
    const simt::ApiLock turn;
    const auto* const known = simt::node_of(executable, node, "cudaGraphNodeGetEnabled", __builtin_return_address(0));
    if (known == nullptr || enabled == nullptr || !simt::can_be_disabled(known->operation.work)) {
        return result(cudaErrorInvalidValue);
    }
    *enabled = known->enabled ? 1 : 0;
    return result(cudaSuccess);
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
    const simt::ApiLock turn;
    const void* const site = __builtin_return_address(0);
    const bool usable = info != nullptr && simt::graphs().is_usable(executable, "cudaGraphExecUpdate", site) &&
                        simt::graphs().is_usable(graph, "cudaGraphExecUpdate", site);
    if (info != nullptr) {
        *info = usable ? simt::update(executable, graph)
                       : cudaGraphExecUpdateResultInfo{cudaGraphExecUpdateError, nullptr, nullptr};
    }
    return result(!usable                                      ? cudaErrorInvalidValue
                  : info->result == cudaGraphExecUpdateSuccess ? cudaSuccess
                                                               : cudaErrorGraphExecUpdateFailure);
}

// There is nothing to upload; who waits for the stream waits for it all the same.
cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream) {
    const simt::ApiLock turn;
    const void* const site = __builtin_return_address(0);
    simt::Streams& streams = simt::Streams::instance();
    if (!simt::graphs().is_usable(executable, "cudaGraphUpload", site)) {
        return result(cudaErrorInvalidValue);
    }
    if (!streams.exists(stream) || streams.running()) {
        return result(streams.running() ? cudaErrorNotPermitted : cudaErrorInvalidResourceHandle);
    }
    simt::Captures& captures = simt::Captures::instance();
    const simt::ApiCall call{"cudaGraphUpload", site};
    cudaError_t error = captures.refuses(stream, cudaErrorStreamCaptureUnsupported,
                                         "cannot be captured: call it before cudaStreamBeginCapture()", call);
    if (error == cudaSuccess) {
        error = captures.may_issue(stream, call);
    }
    if (error == cudaSuccess) {
        streams.issue(stream, {.name = "cudaGraphUpload", .site = site}, {executable->last_launch});
    }
    return result(error);
}

}  // extern "C"
