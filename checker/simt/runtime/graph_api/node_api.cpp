// SPDX-License-Identifier: MIT
//
// The runtime's functions that add nodes to graphs, and tell and change their parameters.
#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "checker/simt/include/simt/graph_api.h"
#include "checker/simt/runtime/api/operations.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/graph_api/parameters.h"
#include "checker/simt/runtime/streams/graphs.h"
#include "checker/simt/runtime/streams/streams.h"

namespace simt {
namespace {

Graphs& graphs() {
    return Graphs::instance();
}

// A graph, where a node is put, and by which call.
struct NodePosition {
    cudaGraph_t graph;
    const cudaGraphNode_t* after;
    std::size_t count;
    const char* call;
    const void* site;
};

// Whether the new node can come after those: all are the graph's, and none is there twice.
bool is_right(const NodePosition& place) {
    if (place.count != 0 && place.after == nullptr) {
        return false;
    }
    std::vector<cudaGraphNode_t> after(place.after, place.after + place.count);
    std::sort(after.begin(), after.end());
    return std::adjacent_find(after.begin(), after.end()) == after.end() &&
           std::all_of(after.begin(), after.end(),
                       [&](cudaGraphNode_t node) { return graphs().exists(node) && node->graph == place.graph; });
}

template <class Parameters>
cudaError_t add(cudaGraphNode_t* node, const NodePosition& place, const Parameters* parameters) {
    const ApiLock turn;
    if (Streams::instance().running()) {
        return result(cudaErrorNotPermitted);
    }
    if (node == nullptr || parameters == nullptr || !graphs().is_usable(place.graph, place.call, place.site) ||
        !is_right(place)) {
        return result(cudaErrorInvalidValue);
    }
    Operation made;
    const cudaError_t error = make_operation(*parameters, place.site, made);
    if (error == cudaSuccess) {
        *node = graphs().add(place.graph, std::move(made), {place.after, place.after + place.count});
    }
    return error;
}

bool is_node(cudaGraphNode_t node, cudaGraphNodeType type) {
    return graphs().exists(node) && type_of(node->operation.work) == type;
}

template <class Parameters>
cudaError_t set(cudaGraphNode_t node, const Parameters* parameters, const void* site) {
    const ApiLock turn;
    if (parameters == nullptr || !is_node(node, type_of(*parameters)) || Streams::instance().running()) {
        return result(Streams::instance().running() ? cudaErrorNotPermitted : cudaErrorInvalidValue);
    }
    Operation made = node->operation;
    const cudaError_t error = make_operation(*parameters, site, made);
    if (error == cudaSuccess) {
        node->operation = std::move(made);
    }
    return error;
}

// Null: the node does not do such work.
template <class OfNode>
const OfNode* work_of(cudaGraphNode_t node) {
    return graphs().exists(node) ? std::get_if<OfNode>(&node->operation.work) : nullptr;
}

template <class OfNode, class Parameters>
cudaError_t get(cudaGraphNode_t node, Parameters* parameters) {
    const ApiLock turn;
    const OfNode* const work = work_of<OfNode>(node);
    if (work == nullptr || parameters == nullptr) {
        return result(cudaErrorInvalidValue);
    }
    *parameters = parameters_of(*work);
    return result(cudaSuccess);
}

// `change` changes a kernel's attributes.
template <class Change>
cudaError_t change_attributes(cudaGraphNode_t node, const Change& change) {
    const ApiLock turn;
    const auto* const kernel = work_of<KernelWork>(node);
    if (kernel == nullptr) {
        return result(cudaErrorInvalidValue);
    }
    KernelAttributes attributes = kernel->attributes;
    change(attributes);
    if (kernel->function == nullptr) {  // a library's own
        std::get<KernelWork>(node->operation.work).attributes = attributes;
        return result(cudaSuccess);
    }
    Operation made;
    const cudaError_t error = make_kernel(parameters_of(*kernel), attributes, node->operation.launch, made);
    if (error == cudaSuccess) {
        node->operation = std::move(made);
    }
    return error;
}

}  // namespace
}  // namespace simt

using simt::result;

extern "C" {

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   std::size_t count, const cudaKernelNodeParams* parameters) {
    return simt::add(node, {graph, dependencies, count, "cudaGraphAddKernelNode", __builtin_return_address(0)},
                     parameters);
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   std::size_t count, const cudaMemcpy3DParms* parameters) {
    return simt::add(node, {graph, dependencies, count, "cudaGraphAddMemcpyNode", __builtin_return_address(0)},
                     parameters);
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                     std::size_t count, void* to, const void* from, std::size_t bytes,
                                     cudaMemcpyKind kind) {
    const simt::Copy1D copy = {to, from, bytes, kind};
    return simt::add(node, {graph, dependencies, count, "cudaGraphAddMemcpyNode1D", __builtin_return_address(0)},
                     &copy);
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   std::size_t count, const cudaMemsetParams* parameters) {
    return simt::add(node, {graph, dependencies, count, "cudaGraphAddMemsetNode", __builtin_return_address(0)},
                     parameters);
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                 std::size_t count, const cudaHostNodeParams* parameters) {
    return simt::add(node, {graph, dependencies, count, "cudaGraphAddHostNode", __builtin_return_address(0)},
                     parameters);
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                  std::size_t count) {
    const simt::NoParameters none;
    return simt::add(node, {graph, dependencies, count, "cudaGraphAddEmptyNode", __builtin_return_address(0)}, &none);
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                             const cudaGraphEdgeData* edge_data, std::size_t count, cudaGraphNodeParams* parameters) {
    if (const cudaError_t error = simt::judge(edge_data, count, __builtin_return_address(0)); error != cudaSuccess) {
        return error;
    }
    return simt::add(node, {graph, dependencies, count, "cudaGraphAddNode", __builtin_return_address(0)}, parameters);
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters) {
    const simt::ApiLock turn;
    if (const auto* const kernel = simt::work_of<simt::KernelWork>(node);
        kernel != nullptr && kernel->function == nullptr) {
        return result(cudaErrorInvalidDeviceFunction);  // a library's own
    }
    return simt::get<simt::KernelWork>(node, parameters);
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID attribute,
                                            cudaKernelNodeAttrValue* value) {
    const simt::ApiLock turn;
    const auto* const kernel = simt::work_of<simt::KernelWork>(node);
    if (kernel == nullptr || value == nullptr || !simt::is_of_kernels(attribute)) {
        return result(cudaErrorInvalidValue);
    }
    const auto known = kernel->attributes.find(attribute);
    *value = known == kernel->attributes.end() ? cudaKernelNodeAttrValue{} : known->second;
    return result(cudaSuccess);
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID attribute,
                                            const cudaKernelNodeAttrValue* value) {
    if (value == nullptr || !simt::is_of_kernels(attribute)) {
        return result(cudaErrorInvalidValue);
    }
    return simt::change_attributes(node, [&](simt::KernelAttributes& attributes) { attributes[attribute] = *value; });
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
    const simt::ApiLock turn;
    const auto* const source = simt::work_of<simt::KernelWork>(from);
    if (source == nullptr) {
        return result(cudaErrorInvalidValue);
    }
    return simt::change_attributes(to, [&](simt::KernelAttributes& attributes) { attributes = source->attributes; });
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* parameters) {
    return simt::get<simt::CopyWork>(node, parameters);
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* parameters) {
    return simt::get<simt::MemsetWork>(node, parameters);
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* parameters) {
    return simt::get<simt::HostWork>(node, parameters);
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* parameters) {
    return simt::set(node, parameters, __builtin_return_address(0));
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* parameters) {
    return simt::set(node, parameters, __builtin_return_address(0));
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from, std::size_t bytes,
                                           cudaMemcpyKind kind) {
    const simt::Copy1D copy = {to, from, bytes, kind};
    return simt::set(node, &copy, __builtin_return_address(0));
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* parameters) {
    return simt::set(node, parameters, __builtin_return_address(0));
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* parameters) {
    return simt::set(node, parameters, __builtin_return_address(0));
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* parameters) {
    return simt::set(node, parameters, __builtin_return_address(0));
}

}  // extern "C"
