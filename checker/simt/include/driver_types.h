// SPDX-License-Identifier: MIT
//
// Types of the runtime: errors with CUDA's numbers, properties, handles.
#pragma once
#pragma GCC system_header

#define __DRIVER_TYPES_H__

#include <cstddef>

#include "vector_types.h"

// One line per error: name, number, CUDA's text. runtime/base/errors.cpp reads the texts.
// clang-format off
#define SIMT_ERRORS(error)                                                                                             \
    error(Success, 0, "no error")                                                                                      \
    error(ErrorInvalidValue, 1, "invalid argument")                                                                    \
    error(ErrorMemoryAllocation, 2, "out of memory")                                                                   \
    error(ErrorInitializationError, 3, "initialization error")                                                         \
    error(ErrorCudartUnloading, 4, "driver shutting down")                                                             \
    error(ErrorInvalidConfiguration, 9, "invalid configuration argument")                                              \
    error(ErrorInvalidPitchValue, 12, "invalid pitch argument")                                                        \
    error(ErrorInvalidSymbol, 13, "invalid device symbol")                                                             \
    error(ErrorInvalidHostPointer, 16, "invalid host pointer")                                                         \
    error(ErrorInvalidDevicePointer, 17, "invalid device pointer")                                                     \
    error(ErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                                        \
    error(ErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version")                 \
    error(ErrorInvalidDeviceFunction, 98, "invalid device function")                                                   \
    error(ErrorNoDevice, 100, "no CUDA-capable device is detected")                                                    \
    error(ErrorInvalidDevice, 101, "invalid device ordinal")                                                           \
    error(ErrorUnsupportedLimit, 215, "limit is not supported on this architecture")                                   \
    error(ErrorOperatingSystem, 304, "OS call failed or operation not supported on this OS")                           \
    error(ErrorInvalidResourceHandle, 400, "invalid resource handle")                                                  \
    error(ErrorIllegalState, 401, "the operation cannot be performed in the present state")                            \
    error(ErrorNotReady, 600, "device not ready")                                                                      \
    error(ErrorIllegalAddress, 700, "an illegal memory access was encountered")                                        \
    error(ErrorLaunchOutOfResources, 701, "too many resources requested for launch")                                   \
    error(ErrorLaunchTimeout, 702, "the launch timed out and was terminated")                                          \
    error(ErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                                        \
    error(ErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                                          \
    error(ErrorAssert, 710, "device-side assert triggered")                                                            \
    error(ErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped")        \
    error(ErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region")              \
    error(ErrorHardwareStackError, 714, "hardware stack error")                                                        \
    error(ErrorIllegalInstruction, 715, "an illegal instruction was encountered")                                      \
    error(ErrorMisalignedAddress, 716, "misaligned address")                                                           \
    error(ErrorInvalidAddressSpace, 717, "operation not supported on global/shared address space")                     \
    error(ErrorInvalidPc, 718, "invalid program counter")                                                              \
    error(ErrorLaunchFailure, 719, "unspecified launch failure")                                                       \
    error(ErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")                                \
    error(ErrorNotPermitted, 800, "operation not permitted")                                                           \
    error(ErrorNotSupported, 801, "operation not supported")                                                           \
    error(ErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing")                      \
    error(ErrorStreamCaptureInvalidated, 901, "operation failed due to a previous error during capture")               \
    error(ErrorStreamCaptureMerge, 902, "operation would result in a merge of separate capture sequences")             \
    error(ErrorStreamCaptureUnmatched, 903, "capture was not ended in the same stream as it began")                    \
    error(ErrorStreamCaptureUnjoined, 904, "capturing stream has unjoined work")                                       \
    error(ErrorStreamCaptureIsolation, 905, "dependency created on uncaptured work in another stream")                 \
    error(ErrorStreamCaptureImplicit, 906, "operation would make the legacy stream depend on a capturing blocking "    \
          "stream")                                                                                                    \
    error(ErrorCapturedEvent, 907, "operation not permitted on an event last recorded in a capturing stream")          \
    error(ErrorStreamCaptureWrongThread, 908, "attempt to terminate a thread-local capture sequence from another "     \
          "thread")                                                                                                    \
    error(ErrorGraphExecUpdateFailure, 910, "the graph update was not performed because it included changes which "    \
          "violated constraints specific to instantiated graph update")                                                \
    error(ErrorUnknown, 999, "unknown error")
// clang-format on

enum cudaError {
#define SIMT_ERROR(name, number, text) cuda##name = number,
    SIMT_ERRORS(SIMT_ERROR)
#undef SIMT_ERROR
};
using cudaError_t = cudaError;

enum cudaMemcpyKind {
    cudaMemcpyHostToHost = 0,
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault = 4,
};

enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9,
};

enum cudaFuncCache {
    cudaFuncCachePreferNone,
    cudaFuncCachePreferShared,
    cudaFuncCachePreferL1,
    cudaFuncCachePreferEqual
};

enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxBlockDimX = 2,
    cudaDevAttrMaxBlockDimY = 3,
    cudaDevAttrMaxBlockDimZ = 4,
    cudaDevAttrMaxGridDimX = 5,
    cudaDevAttrMaxGridDimY = 6,
    cudaDevAttrMaxGridDimZ = 7,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrTotalConstantMemory = 9,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrMaxPitch = 11,
    cudaDevAttrMaxRegistersPerBlock = 12,
    cudaDevAttrClockRate = 13,
    cudaDevAttrTextureAlignment = 14,
    cudaDevAttrGpuOverlap = 15,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrKernelExecTimeout = 17,
    cudaDevAttrIntegrated = 18,
    cudaDevAttrCanMapHostMemory = 19,
    cudaDevAttrComputeMode = 20,
    cudaDevAttrConcurrentKernels = 31,
    cudaDevAttrEccEnabled = 32,
    cudaDevAttrPciBusId = 33,
    cudaDevAttrPciDeviceId = 34,
    cudaDevAttrMemoryClockRate = 36,
    cudaDevAttrGlobalMemoryBusWidth = 37,
    cudaDevAttrL2CacheSize = 38,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrAsyncEngineCount = 40,
    cudaDevAttrUnifiedAddressing = 41,
    cudaDevAttrPciDomainId = 50,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrStreamPrioritiesSupported = 78,
    cudaDevAttrGlobalL1CacheSupported = 79,
    cudaDevAttrLocalL1CacheSupported = 80,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMaxRegistersPerMultiprocessor = 82,
    cudaDevAttrManagedMemory = 83,
    cudaDevAttrHostNativeAtomicSupported = 86,
    cudaDevAttrPageableMemoryAccess = 88,
    cudaDevAttrConcurrentManagedAccess = 89,
    cudaDevAttrComputePreemptionSupported = 90,
    cudaDevAttrCanUseHostPointerForRegisteredMem = 91,
    cudaDevAttrCooperativeLaunch = 95,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
    cudaDevAttrHostRegisterSupported = 99,
    cudaDevAttrMaxBlocksPerMultiprocessor = 106,
    cudaDevAttrMaxPersistingL2CacheSize = 108,
    cudaDevAttrMaxAccessPolicyWindowSize = 109,
    cudaDevAttrReservedSharedMemoryPerBlock = 111,
    cudaDevAttrMemoryPoolsSupported = 115,
    cudaDevAttrClusterLaunch = 120,
};

struct cudaDeviceProp {
    char name[256];
    std::size_t totalGlobalMem;
    std::size_t sharedMemPerBlock;
    int regsPerBlock;
    int warpSize;
    std::size_t memPitch;
    int maxThreadsPerBlock;
    int maxThreadsDim[3];
    int maxGridSize[3];
    std::size_t totalConstMem;
    int major;
    int minor;
    int multiProcessorCount;
    int integrated;
    int canMapHostMemory;
    int concurrentKernels;
    int ECCEnabled;
    int asyncEngineCount;
    int unifiedAddressing;
    int memoryBusWidth;
    int l2CacheSize;
    int persistingL2CacheMaxSize;
    int maxThreadsPerMultiProcessor;
    int managedMemory;
    int concurrentManagedAccess;
    int cooperativeLaunch;
    std::size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor;
    std::size_t sharedMemPerBlockOptin;
    int maxBlocksPerMultiProcessor;
    std::size_t reservedSharedMemPerBlock;
    // What the device lacks, and what it has no number for, is 0.
    struct {
        char bytes[16];
    } uuid;
    std::size_t textureAlignment, texturePitchAlignment, surfaceAlignment;
    int maxTexture1D, maxTexture2D[2], maxTexture3D[3], maxTexture1DLayered[2], maxTexture2DLayered[3];
    int pciBusID, pciDeviceID, pciDomainID;
    int tccDriver;
    int streamPrioritiesSupported;
    int globalL1CacheSupported, localL1CacheSupported;
    int isMultiGpuBoard, multiGpuBoardGroupID;
    int hostNativeAtomicSupported;
    int pageableMemoryAccess, pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost;
    int computePreemptionSupported;
    int canUseHostPointerForRegisteredMem, hostRegisterSupported;
    int accessPolicyMaxWindowSize;
    int memoryPoolsSupported;
    int clusterLaunch;
    int unifiedFunctionPointers;
    // CUDA 12's, which CUDA 13 has dropped for cudaDeviceGetAttribute. Rates are in kHz.
    int clockRate, memoryClockRate;
    int deviceOverlap;
    int kernelExecTimeoutEnabled;
    int computeMode;
    int singleToDoublePrecisionPerfRatio;
    int cooperativeMultiDeviceLaunch;
    int maxTexture1DLinear;
};

enum cudaComputeMode {
    cudaComputeModeDefault = 0,
    cudaComputeModeExclusive = 1,
    cudaComputeModeProhibited = 2,
    cudaComputeModeExclusiveProcess = 3,
};

enum cudaDeviceP2PAttr {
    cudaDevP2PAttrPerformanceRank = 1,
    cudaDevP2PAttrAccessSupported = 2,
    cudaDevP2PAttrNativeAtomicSupported = 3,
};

struct cudaFuncAttributes {
    std::size_t sharedSizeBytes;  // static
    std::size_t constSizeBytes;
    std::size_t localSizeBytes;
    int maxThreadsPerBlock;
    int numRegs;
    int ptxVersion;
    int binaryVersion;
    int cacheModeCA;
    int maxDynamicSharedSizeBytes;
    int preferredShmemCarveout;
};

enum cudaLimit {
    cudaLimitStackSize = 0,
    cudaLimitPrintfFifoSize = 1,
    cudaLimitMallocHeapSize = 2,
    cudaLimitDevRuntimeSyncDepth = 3,
    cudaLimitDevRuntimePendingLaunchCount = 4,
    cudaLimitMaxL2FetchGranularity = 5,
    cudaLimitPersistingL2CacheSize = 6,
};

enum cudaMemLocationType {
    cudaMemLocationTypeInvalid = 0,
    cudaMemLocationTypeDevice = 1,
    cudaMemLocationTypeHost = 2,
};

struct cudaMemLocation {
    cudaMemLocationType type;
    int id;
};

enum cudaMemoryAdvise {
    cudaMemAdviseSetReadMostly = 1,
    cudaMemAdviseUnsetReadMostly = 2,
    cudaMemAdviseSetPreferredLocation = 3,
    cudaMemAdviseUnsetPreferredLocation = 4,
    cudaMemAdviseSetAccessedBy = 5,
    cudaMemAdviseUnsetAccessedBy = 6,
};

enum cudaMemoryType {
    cudaMemoryTypeUnregistered = 0,
    cudaMemoryTypeHost = 1,
    cudaMemoryTypeDevice = 2,
    cudaMemoryTypeManaged = 3,
};

struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
    void* devicePointer;
    void* hostPointer;
};

using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;

using cudaHostFn_t = void (*)(void* data);
using cudaStreamCallback_t = void (*)(cudaStream_t stream, cudaError_t status, void* data);

#define cudaStreamDefault 0x00
#define cudaStreamNonBlocking 0x01
#define cudaStreamLegacy (reinterpret_cast<cudaStream_t>(1))
#define cudaStreamPerThread (reinterpret_cast<cudaStream_t>(2))
#define cudaEventDefault 0x00
#define cudaEventBlockingSync 0x01
#define cudaEventDisableTiming 0x02
#define cudaEventInterprocess 0x04
#define cudaHostAllocDefault 0x00
#define cudaHostAllocPortable 0x01
#define cudaHostAllocMapped 0x02
#define cudaHostAllocWriteCombined 0x04
#define cudaHostRegisterDefault 0x00
#define cudaHostRegisterPortable 0x01
#define cudaHostRegisterMapped 0x02
#define cudaHostRegisterIoMemory 0x04
#define cudaHostRegisterReadOnly 0x08
#define cudaEventRecordDefault 0x00
#define cudaEventRecordExternal 0x01
#define cudaEventWaitDefault 0x00
#define cudaEventWaitExternal 0x01
#define cudaDeviceScheduleAuto 0x00
#define cudaDeviceScheduleSpin 0x01
#define cudaDeviceScheduleYield 0x02
#define cudaDeviceScheduleBlockingSync 0x04
#define cudaDeviceBlockingSync cudaDeviceScheduleBlockingSync
#define cudaDeviceMapHost 0x08
#define cudaDeviceLmemResizeToMax 0x10
#define cudaOccupancyDefault 0x00
#define cudaOccupancyDisableCachingOverride 0x01
#define cudaMemAttachGlobal 0x01
#define cudaMemAttachHost 0x02
#define cudaMemAttachSingle 0x04
#define cudaCpuDeviceId (-1)

// Part of the L2 cache for some memory: remembered, and without effect here.
enum cudaAccessProperty {
    cudaAccessPropertyNormal = 0,
    cudaAccessPropertyStreaming = 1,
    cudaAccessPropertyPersisting = 2,
};
struct cudaAccessPolicyWindow {
    void* base_ptr;
    std::size_t num_bytes;
    float hitRatio;
    cudaAccessProperty hitProp, missProp;
};
enum cudaSynchronizationPolicy {
    cudaSyncPolicyAuto = 1,
    cudaSyncPolicySpin = 2,
    cudaSyncPolicyYield = 3,
    cudaSyncPolicyBlockingSync = 4,
};

enum cudaLaunchAttributeID {
    cudaLaunchAttributeIgnore = 0,
    cudaLaunchAttributeAccessPolicyWindow = 1,
    cudaLaunchAttributeCooperative = 2,
    cudaLaunchAttributeSynchronizationPolicy = 3,
    cudaLaunchAttributePriority = 8,
};

union cudaLaunchAttributeValue {
    char pad[64];
    cudaAccessPolicyWindow accessPolicyWindow;
    int cooperative;
    cudaSynchronizationPolicy syncPolicy;
    int priority;
};
// A stream's attributes are those of a launch.
using cudaStreamAttrID = cudaLaunchAttributeID;
using cudaStreamAttrValue = cudaLaunchAttributeValue;
#define cudaStreamAttributeAccessPolicyWindow cudaLaunchAttributeAccessPolicyWindow
#define cudaStreamAttributeSynchronizationPolicy cudaLaunchAttributeSynchronizationPolicy
#define cudaStreamAttributePriority cudaLaunchAttributePriority

struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    cudaLaunchAttributeValue val;
};

struct cudaLaunchConfig_t {
    dim3 gridDim;
    dim3 blockDim;
    std::size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute* attrs;
    unsigned int numAttrs;
};

// Memory that streams allocate from.
using cudaMemPool_t = struct CUmemPoolHandle_st*;
enum cudaMemPoolAttr {
    cudaMemPoolReuseFollowEventDependencies = 1,    // int
    cudaMemPoolReuseAllowOpportunistic = 2,         // int
    cudaMemPoolReuseAllowInternalDependencies = 3,  // int
    cudaMemPoolAttrReleaseThreshold = 4,            // unsigned long long, as the following ones
    cudaMemPoolAttrReservedMemCurrent = 5,
    cudaMemPoolAttrReservedMemHigh = 6,
    cudaMemPoolAttrUsedMemCurrent = 7,
    cudaMemPoolAttrUsedMemHigh = 8,
};
enum cudaMemAllocationType { cudaMemAllocationTypeInvalid = 0, cudaMemAllocationTypePinned = 1 };
enum cudaMemAllocationHandleType { cudaMemHandleTypeNone = 0, cudaMemHandleTypePosixFileDescriptor = 1 };
enum cudaMemAccessFlags {
    cudaMemAccessFlagsProtNone = 0,
    cudaMemAccessFlagsProtRead = 1,
    cudaMemAccessFlagsProtReadWrite = 3,
};
struct cudaMemAccessDesc {
    cudaMemLocation location;
    cudaMemAccessFlags flags;
};
struct cudaMemPoolProps {
    cudaMemAllocationType allocType;
    cudaMemAllocationHandleType handleTypes;
    cudaMemLocation location;
    void* win32SecurityAttributes;
    std::size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
};

#include "simt/graph_types.h"
