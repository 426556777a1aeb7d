// SPDX-License-Identifier: MIT
//
// The runtime's functions for devices.
#include <cstdio>
#include <optional>

#include "checker/simt/include/simt/api.h"
#include "checker/simt/runtime/base/device.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/memory/heap.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/memory/shared.h"

namespace simt {
namespace {

constexpr int kMaxPitch = 2147483647;
constexpr int kClockRate = 1000000;  // kHz

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
            return kClockRate;
        case cudaDevAttrMultiProcessorCount:
        case cudaDevAttrGpuOverlap:
        case cudaDevAttrCanMapHostMemory:
        case cudaDevAttrConcurrentKernels:
        case cudaDevAttrCanUseHostPointerForRegisteredMem:
        case cudaDevAttrHostRegisterSupported:
        case cudaDevAttrMemoryPoolsSupported:
            return 1;
        case cudaDevAttrKernelExecTimeout:
        case cudaDevAttrIntegrated:
        case cudaDevAttrComputeMode:
        case cudaDevAttrEccEnabled:
        case cudaDevAttrPciBusId:
        case cudaDevAttrPciDeviceId:
        case cudaDevAttrPciDomainId:
        case cudaDevAttrAsyncEngineCount:
        case cudaDevAttrStreamPrioritiesSupported:
        case cudaDevAttrGlobalL1CacheSupported:
        case cudaDevAttrLocalL1CacheSupported:
        case cudaDevAttrHostNativeAtomicSupported:
        case cudaDevAttrPageableMemoryAccess:
        case cudaDevAttrComputePreemptionSupported:
        case cudaDevAttrClusterLaunch:
            return 0;
        case cudaDevAttrMaxPitch:
            return kMaxPitch;
        case cudaDevAttrTextureAlignment:
            return 512;
        case cudaDevAttrGlobalMemoryBusWidth:
            return 256;
        case cudaDevAttrL2CacheSize:
        case cudaDevAttrMaxPersistingL2CacheSize:
        case cudaDevAttrMaxAccessPolicyWindowSize:
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

// What cudaDeviceSetLimit has set, or CUDA's default. The device's stacks do not grow with it.
std::size_t* limit_of(cudaLimit limit) {
    static std::size_t stack = 1024, printf_bytes = 1 << 20, granularity = 64, persisting = 0;
    switch (limit) {
        case cudaLimitStackSize:
            return &stack;
        case cudaLimitPrintfFifoSize:
            return &printf_bytes;
        case cudaLimitMallocHeapSize:
            return &heap_size();
        case cudaLimitMaxL2FetchGranularity:
            return &granularity;
        case cudaLimitPersistingL2CacheSize:
            return &persisting;
        case cudaLimitDevRuntimeSyncDepth:
        case cudaLimitDevRuntimePendingLaunchCount:
            return nullptr;
    }
    return nullptr;
}

cudaFuncCache cache_config = cudaFuncCachePreferNone;
unsigned device_flags = cudaDeviceScheduleAuto;
constexpr unsigned kDeviceFlags = 0x1f;

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
    p.memPitch = simt::kMaxPitch;
    p.maxThreadsPerBlock = static_cast<int>(simt::kMaxThreads);
    p.maxThreadsDim[0] = p.maxThreadsDim[1] = static_cast<int>(simt::kMaxThreads);
    p.maxThreadsDim[2] = static_cast<int>(simt::kMaxBlockZ);
    p.maxGridSize[0] = static_cast<int>(simt::kMaxGridX);
    p.maxGridSize[1] = p.maxGridSize[2] = static_cast<int>(simt::kMaxGridYZ);
    p.totalConstMem = simt::kConstantBytes;
    p.major = simt::kMajor;
    p.minor = simt::kMinor;
    p.multiProcessorCount = 1;
    p.canMapHostMemory = p.concurrentKernels = p.unifiedAddressing = p.managedMemory = p.cooperativeLaunch = 1;
    p.canUseHostPointerForRegisteredMem = p.hostRegisterSupported = p.memoryPoolsSupported = 1;
    p.textureAlignment = 512;
    p.memoryBusWidth = 256;
    p.maxThreadsPerMultiProcessor = static_cast<int>(simt::kMaxThreadsPerMultiprocessor);
    p.sharedMemPerMultiprocessor = simt::kSharedPerMultiprocessor;
    p.sharedMemPerBlockOptin = simt::kDynamicSharedLimit;
    p.maxBlocksPerMultiProcessor = static_cast<int>(simt::kMaxBlocksPerMultiprocessor);
    p.reservedSharedMemPerBlock = simt::kReservedSharedPerBlock;
    p.clockRate = p.memoryClockRate = simt::kClockRate;
    p.deviceOverlap = 1;
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

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
    if (value == nullptr) {
        return result(cudaErrorInvalidValue);
    }
    const std::size_t* known = simt::limit_of(limit);
    *value = known == nullptr ? *value : *known;
    return result(known == nullptr ? cudaErrorUnsupportedLimit : cudaSuccess);
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
    std::size_t* known = simt::limit_of(limit);
    if (known == nullptr) {
        return result(cudaErrorUnsupportedLimit);
    }
    *known = value;
    return result(cudaSuccess);
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
    if (config == nullptr) {
        return result(cudaErrorInvalidValue);
    }
    *config = simt::cache_config;
    return result(cudaSuccess);
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
    if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual) {
        return result(cudaErrorInvalidValue);
    }
    simt::cache_config = config;
    return result(cudaSuccess);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    for (int* priority : {least, greatest}) {
        if (priority != nullptr) {
            *priority = 0;
        }
    }
    return result(cudaSuccess);
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
    if (can == nullptr || device != 0 || peer != 0) {
        return result(can == nullptr ? cudaErrorInvalidValue : cudaErrorInvalidDevice);
    }
    *can = 0;
    return result(cudaSuccess);
}

cudaError_t cudaDeviceEnablePeerAccess(int, unsigned int) {
    return result(cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceDisablePeerAccess(int) {
    return result(cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceGetP2PAttribute(int*, cudaDeviceP2PAttr, int, int) {
    return result(cudaErrorInvalidDevice);
}

cudaError_t cudaCtxResetPersistingL2Cache() {
    return result(cudaSuccess);
}

cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
    if (flags == nullptr) {
        return result(cudaErrorInvalidValue);
    }
    *flags = simt::device_flags;
    return result(cudaSuccess);
}

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
    if ((flags & ~simt::kDeviceFlags) != 0) {
        return result(cudaErrorInvalidValue);
    }
    simt::device_flags = flags;
    return result(cudaSuccess);
}

cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags) {
    if (device != 0) {
        return result(cudaErrorInvalidDevice);
    }
    constexpr unsigned kFlagsAreValid = 1;
    if (flags == 0 && device_flags == 0) {
        return result(cudaSuccess);
    }
    return flags == kFlagsAreValid ? cudaSetDeviceFlags(device_flags) : result(cudaErrorInvalidValue);
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

}  // extern "C"
