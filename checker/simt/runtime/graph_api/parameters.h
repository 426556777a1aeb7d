// SPDX-License-Identifier: MIT
//
// The parameters of nodes, as the API has them: to operations, and back.
#pragma once

#include <cstddef>

#include "checker/simt/include/driver_types.h"
#include "checker/simt/runtime/streams/work.h"

namespace simt {

struct Operation;

// What the functions that copy along one dimension are given.
struct Copy1D {
    void* to;
    const void* from;
    std::size_t bytes;
    cudaMemcpyKind kind;
};
struct NoParameters {};  // of an empty node

// Each makes a node's operation, and returns the API's error where the parameters are wrong. `made` is what the node did
// before, if it did anything: a kernel keeps its attributes.
cudaError_t make_operation(const cudaKernelNodeParams& kernel, const void* site, Operation& made);
cudaError_t make_operation(const cudaMemcpy3DParms& copy, const void* site, Operation& made);
cudaError_t make_operation(const Copy1D& copy, const void* site, Operation& made);
cudaError_t make_operation(const cudaMemsetParams& memset, const void* site, Operation& made);
cudaError_t make_operation(const cudaHostNodeParams& host, const void* site, Operation& made);
cudaError_t make_operation(const NoParameters&, const void* site, Operation& made);
cudaError_t make_operation(const cudaGraphNodeParams& any, const void* site, Operation& made);

// The kind of node that has such parameters.
inline cudaGraphNodeType type_of(const cudaKernelNodeParams&) {
    return cudaGraphNodeTypeKernel;
}
inline cudaGraphNodeType type_of(const cudaMemcpy3DParms&) {
    return cudaGraphNodeTypeMemcpy;
}
inline cudaGraphNodeType type_of(const Copy1D&) {
    return cudaGraphNodeTypeMemcpy;
}
inline cudaGraphNodeType type_of(const cudaMemsetParams&) {
    return cudaGraphNodeTypeMemset;
}
inline cudaGraphNodeType type_of(const cudaHostNodeParams&) {
    return cudaGraphNodeTypeHost;
}
inline cudaGraphNodeType type_of(const cudaGraphNodeParams& any) {
    return any.type;
}

// The dependencies that edges stand for are whole ones here.
cudaError_t judge(const cudaGraphEdgeData* edge_data, std::size_t count, const void* site);

cudaKernelNodeParams parameters_of(const KernelWork& kernel);
cudaMemcpy3DParms parameters_of(const CopyWork& copy);
cudaMemsetParams parameters_of(const MemsetWork& memset);
cudaHostNodeParams parameters_of(const HostWork& host);

}  // namespace simt
