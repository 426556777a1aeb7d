// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/graph_api/parameters.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <variant>

#include "checker/simt/runtime/api/operations.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/streams/streams.h"

namespace simt {
namespace {

// What CUDA has and the device lacks.
cudaError_t refuse(const char* what, const void* site) {
    note(site, fmt::format("{} are not on the CPU device", what));
    return result(cudaErrorNotSupported);
}

const char* name_of(cudaGraphNodeType type) {
    switch (type) {
        case cudaGraphNodeTypeGraph:
            return "child graphs";
        case cudaGraphNodeTypeWaitEvent:
        case cudaGraphNodeTypeEventRecord:
            return "nodes that record events or wait for them";
        case cudaGraphNodeTypeExtSemaphoreSignal:
        case cudaGraphNodeTypeExtSemaphoreWait:
            return "nodes for external semaphores";
        case cudaGraphNodeTypeMemAlloc:
        case cudaGraphNodeTypeMemFree:
            return "nodes that allocate or free memory";
        case cudaGraphNodeTypeConditional:
            return "conditional nodes";
        default:
            return nullptr;
    }
}

// How the rows of all slices follow each other. 0: not at one distance.
std::size_t row_pitch(const cudaPitchedPtr& end, const cudaExtent& extent) {
    if (extent.depth == 1) {
        return extent.height == 1 ? extent.width : end.pitch;
    }
    return extent.height == 1 ? end.pitch * end.ysize : extent.height == end.ysize ? end.pitch : 0;
}

char* begin_of(const cudaPitchedPtr& end, const cudaPos& position) {
    return static_cast<char*>(end.ptr) + (position.z * end.ysize + position.y) * end.pitch + position.x;
}

}  // namespace

cudaError_t make_operation(const cudaKernelNodeParams& kernel, const void* site, Operation& made) {
    if (kernel.extra != nullptr) {
        return kernel.kernelParams != nullptr ? result(cudaErrorInvalidValue)
                                              : refuse("arguments in one buffer (extra)", site);
    }
    const auto* const before = std::get_if<KernelWork>(&made.work);
    const auto attributes = before == nullptr ? KernelAttributes() : before->attributes;
    return make_kernel(kernel, attributes, source_of(site), made);
}

cudaError_t make_operation(const cudaMemcpy3DParms& copy, const void* site, Operation& made) {
    if (copy.srcArray != nullptr || copy.dstArray != nullptr) {
        return refuse("arrays of textures", site);
    }
    const cudaExtent& extent = copy.extent;
    if (copy.srcPtr.ptr == nullptr || copy.dstPtr.ptr == nullptr || extent.width == 0 || extent.height == 0 ||
        extent.depth == 0) {
        return result(cudaErrorInvalidValue);
    }
    const std::size_t to_pitch = row_pitch(copy.dstPtr, extent), from_pitch = row_pitch(copy.srcPtr, extent);
    if (to_pitch == 0 || from_pitch == 0) {
        return refuse("copies of some rows of each of several slices", site);
    }
    return make_copy({.to = begin_of(copy.dstPtr, copy.dstPos),
                      .to_pitch = to_pitch,
                      .from = begin_of(copy.srcPtr, copy.srcPos),
                      .from_pitch = from_pitch,
                      .width = extent.width,
                      .height = extent.height * extent.depth,
                      .kind = copy.kind},
                     "a memcpy node", site, made);
}

cudaError_t make_operation(const Copy1D& copy, const void* site, Operation& made) {
    return make_copy({.to = copy.to,
                      .to_pitch = copy.bytes,
                      .from = copy.from,
                      .from_pitch = copy.bytes,
                      .width = copy.bytes,
                      .height = 1,
                      .kind = copy.kind},
                     "a memcpy node", site, made);
}

cudaError_t make_operation(const cudaMemsetParams& memset, const void* site, Operation& made) {
    return make_memset({.to = memset.dst,
                        .pitch = memset.height == 1 ? memset.width * memset.elementSize : memset.pitch,
                        .value = memset.value,
                        .element_bytes = memset.elementSize,
                        .width = memset.width,
                        .height = memset.height},
                       "a memset node", site, made);
}

cudaError_t make_operation(const cudaHostNodeParams& host, const void* site, Operation& made) {
    return make_host({.function = host.fn, .data = host.userData}, site, made);
}

cudaError_t make_operation(const NoParameters&, const void* site, Operation& made) {
    made = {.name = "an empty node", .site = site};
    return result(cudaSuccess);
}

cudaError_t make_operation(const cudaGraphNodeParams& any, const void* site, Operation& made) {
    if (std::any_of(std::begin(any.reserved0), std::end(any.reserved0), [](int x) { return x != 0; }) ||
        any.reserved2 != 0) {
        return result(cudaErrorInvalidValue);
    }
    switch (any.type) {
        case cudaGraphNodeTypeKernel:
            return make_operation(any.kernel, site, made);
        case cudaGraphNodeTypeMemcpy:
            return any.memcpy.flags != 0 ? result(cudaErrorInvalidValue)
                                         : make_operation(any.memcpy.copyParams, site, made);
        case cudaGraphNodeTypeMemset:
            return make_operation(any.memset, site, made);
        case cudaGraphNodeTypeHost:
            return make_operation(any.host, site, made);
        case cudaGraphNodeTypeEmpty:
            return make_operation(NoParameters{}, site, made);
        default:
            const char* const what = name_of(any.type);
            return what == nullptr ? result(cudaErrorInvalidValue) : refuse(what, site);
    }
}

cudaError_t judge(const cudaGraphEdgeData* edge_data, std::size_t count, const void* site) {
    for (std::size_t i = 0; edge_data != nullptr && i < count; i++) {
        if (edge_data[i].type == cudaGraphDependencyTypeProgrammatic) {
            return refuse("programmatic dependencies", site);
        }
        constexpr cudaGraphEdgeData kWhole = {};
        if (std::memcmp(&edge_data[i], &kWhole, sizeof kWhole) != 0) {
            return result(cudaErrorInvalidValue);
        }
    }
    return cudaSuccess;
}

cudaKernelNodeParams parameters_of(const KernelWork& kernel) {
    return {.func = const_cast<void*>(kernel.function),
            .gridDim = kernel.grid,
            .blockDim = kernel.block,
            .sharedMemBytes = static_cast<unsigned int>(kernel.dynamic_bytes),
            .kernelParams = kernel.arguments == nullptr ? nullptr : kernel.arguments->pointers(),
            .extra = nullptr};
}

cudaMemcpy3DParms parameters_of(const CopyWork& copy) {
    return {.srcArray = nullptr,
            .srcPos = {},
            .srcPtr = {const_cast<void*>(copy.from), copy.from_pitch, copy.width, copy.height},
            .dstArray = nullptr,
            .dstPos = {},
            .dstPtr = {copy.to, copy.to_pitch, copy.width, copy.height},
            .extent = {copy.width, copy.height, 1},
            .kind = copy.kind};
}

cudaMemsetParams parameters_of(const MemsetWork& memset) {
    return {.dst = memset.to,
            .pitch = memset.pitch,
            .value = memset.value,
            .elementSize = memset.element_bytes,
            .width = memset.width,
            .height = memset.height};
}

cudaHostNodeParams parameters_of(const HostWork& host) {
    return {.fn = host.function, .userData = host.data};
}

}  // namespace simt
