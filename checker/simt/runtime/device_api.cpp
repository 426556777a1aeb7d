// SPDX-License-Identifier: MIT
//
// The functions of the runtime about devices, streams and events. Work runs when it is issued.
#include <chrono>
#include <cstdio>
#include <optional>
#include <set>

#include "checker/simt/include/simt/api.h"
#include "checker/simt/runtime/device.h"
#include "checker/simt/runtime/memory.h"
#include "checker/simt/runtime/shared.h"
#include "checker/simt/runtime/state.h"

struct CUstream_st {};
struct CUevent_st {
    bool timing;
    std::optional<std::chrono::steady_clock::time_point> recorded;
};

namespace simt {
namespace {

// Handles that exist: a call with another one is an error, not a crash.
struct Handles {
    std::set<cudaStream_t> streams;
    std::set<cudaEvent_t> events;
};

Handles& handles() {
    static auto& instance = *new Handles;
    return instance;
}

bool is_stream(cudaStream_t stream) {
    return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread ||
           handles().streams.contains(stream);
}

bool is_event(cudaEvent_t event) {
    return handles().events.contains(event);
}

cudaError_t stream_result(cudaStream_t stream) {
    return result(is_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

std::optional<int> attribute(cudaDeviceAttr which) {
    switch (which) {
        case cudaDevAttrMaxThreadsPerBlock:
        case cudaDevAttrMaxBlockDimX:
        case cudaDevAttrMaxBlockDimY:
            return static_cast<int>(kMaxThreads);
        case cudaDevAttrMaxBlockDimZ:
            return static_cast<int>(kMaxBlockZ);
        case cudaDevAttrMaxGridDimX:
            return static_cast<int>(kMaxGridX);
        case cudaDevAttrMaxGridDimY:
        case cudaDevAttrMaxGridDimZ:
            return static_cast<int>(kMaxGridYZ);
        case cudaDevAttrMaxSharedMemoryPerBlock:
            return static_cast<int>(kStaticSharedLimit);
        case cudaDevAttrTotalConstantMemory:
            return static_cast<int>(kConstantBytes);
        case cudaDevAttrWarpSize:
            return 32;
        case cudaDevAttrMaxRegistersPerBlock:
        case cudaDevAttrMaxRegistersPerMultiprocessor:
            return kRegistersPerMultiprocessor;
        case cudaDevAttrClockRate:
        case cudaDevAttrMemoryClockRate:
            return 1000000;  // kHz
        case cudaDevAttrMultiProcessorCount:
            return 1;
        case cudaDevAttrGlobalMemoryBusWidth:
            return 256;
        case cudaDevAttrL2CacheSize:
            return 0;
        case cudaDevAttrMaxThreadsPerMultiProcessor:
            return static_cast<int>(kMaxThreadsPerMultiprocessor);
        case cudaDevAttrUnifiedAddressing:
        case cudaDevAttrManagedMemory:
        case cudaDevAttrCooperativeLaunch:
            return 1;
        case cudaDevAttrConcurrentManagedAccess:
            return 0;
        case cudaDevAttrComputeCapabilityMajor:
            return kMajor;
        case cudaDevAttrComputeCapabilityMinor:
            return kMinor;
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
            return static_cast<int>(kSharedPerMultiprocessor);
        case cudaDevAttrMaxSharedMemoryPerBlockOptin:
            return static_cast<int>(kDynamicSharedLimit);
        case cudaDevAttrMaxBlocksPerMultiprocessor:
            return static_cast<int>(kMaxBlocksPerMultiprocessor);
        case cudaDevAttrReservedSharedMemoryPerBlock:
            return static_cast<int>(kReservedSharedPerBlock);
    }
    return std::nullopt;
}

}  // namespace
}  // namespace simt

using simt::result;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
    if (count == nullptr) {
        return result(cudaErrorInvalidValue);
    }
    *count = 1;
    return result(cudaSuccess);
}

cudaError_t cudaGetDevice(int* device) {
    if (device == nullptr) {
        return result(cudaErrorInvalidValue);
    }
    *device = 0;
    return result(cudaSuccess);
}

cudaError_t cudaSetDevice(int device) {
    return result(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    if (properties == nullptr || device != 0) {
        return result(properties == nullptr ? cudaErrorInvalidValue : cudaErrorInvalidDevice);
    }
    cudaDeviceProp p = {};
    std::snprintf(p.name, sizeof p.name, "CPU device (simt)");
    p.totalGlobalMem = simt::Memory::kTotal;
    p.sharedMemPerBlock = simt::kStaticSharedLimit;
    p.regsPerBlock = p.regsPerMultiprocessor = simt::kRegistersPerMultiprocessor;
    p.warpSize = 32;
    p.memPitch = 2147483647;
    p.maxThreadsPerBlock = static_cast<int>(simt::kMaxThreads);
    p.maxThreadsDim[0] = p.maxThreadsDim[1] = static_cast<int>(simt::kMaxThreads);
    p.maxThreadsDim[2] = static_cast<int>(simt::kMaxBlockZ);
    p.maxGridSize[0] = static_cast<int>(simt::kMaxGridX);
    p.maxGridSize[1] = p.maxGridSize[2] = static_cast<int>(simt::kMaxGridYZ);
    p.totalConstMem = simt::kConstantBytes;
    p.major = simt::kMajor;
    p.minor = simt::kMinor;
    p.multiProcessorCount = 1;
    p.canMapHostMemory = p.concurrentKernels = p.unifiedAddressing = p.managedMemory =
        p.cooperativeLaunch = 1;
    p.memoryBusWidth = 256;
    p.maxThreadsPerMultiProcessor = static_cast<int>(simt::kMaxThreadsPerMultiprocessor);
    p.sharedMemPerMultiprocessor = simt::kSharedPerMultiprocessor;
    p.sharedMemPerBlockOptin = simt::kDynamicSharedLimit;
    p.maxBlocksPerMultiProcessor = static_cast<int>(simt::kMaxBlocksPerMultiprocessor);
    p.reservedSharedMemPerBlock = simt::kReservedSharedPerBlock;
    *properties = p;
    return result(cudaSuccess);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int device) {
    const std::optional<int> answer = simt::attribute(which);
    if (value == nullptr || !answer || device != 0) {
        return result(device != 0 ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    }
    *value = *answer;
    return result(cudaSuccess);
}

cudaError_t cudaDeviceSynchronize() {
    return result(cudaSuccess);
}

cudaError_t cudaDriverGetVersion(int* version) {
    return cudaRuntimeGetVersion(version);
}

cudaError_t cudaRuntimeGetVersion(int* version) {
    if (version == nullptr) {
        return result(cudaErrorInvalidValue);
    }
    *version = 13000;
    return result(cudaSuccess);
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
    if (stream == nullptr || (flags & ~static_cast<unsigned>(cudaStreamNonBlocking)) != 0) {
        return result(cudaErrorInvalidValue);
    }
    *stream = new CUstream_st;
    simt::handles().streams.insert(*stream);
    return result(cudaSuccess);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int) {
    return cudaStreamCreateWithFlags(stream, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    if (simt::handles().streams.erase(stream) == 0) {
        return result(cudaErrorInvalidResourceHandle);
    }
    delete stream;
    return result(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    return simt::stream_result(stream);
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
    return simt::stream_result(stream);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
    if (!simt::is_event(event)) {
        return result(cudaErrorInvalidResourceHandle);
    }
    return flags == 0 ? simt::stream_result(stream) : result(cudaErrorInvalidValue);
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
    if (event == nullptr || (flags & ~static_cast<unsigned>(cudaEventBlockingSync | cudaEventDisableTiming)) != 0) {
        return result(cudaErrorInvalidValue);
    }
    *event = new CUevent_st{.timing = (flags & cudaEventDisableTiming) == 0, .recorded = {}};
    simt::handles().events.insert(*event);
    return result(cudaSuccess);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    if (simt::handles().events.erase(event) == 0) {
        return result(cudaErrorInvalidResourceHandle);
    }
    delete event;
    return result(cudaSuccess);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    if (!simt::is_event(event) || !simt::is_stream(stream)) {
        return result(cudaErrorInvalidResourceHandle);
    }
    event->recorded = std::chrono::steady_clock::now();
    return result(cudaSuccess);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return result(simt::is_event(event) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
    return cudaEventSynchronize(event);
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
    if (milliseconds == nullptr) {
        return result(cudaErrorInvalidValue);
    }
    if (!simt::is_event(begin) || !simt::is_event(end) || !begin->timing || !end->timing || !begin->recorded ||
        !end->recorded) {
        return result(cudaErrorInvalidResourceHandle);
    }
    *milliseconds = std::chrono::duration<float, std::milli>(*end->recorded - *begin->recorded).count();
    return result(cudaSuccess);
}

}  // extern "C"
