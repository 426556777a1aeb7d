// SPDX-License-Identifier: MIT
//
// The runtime's functions for the host. Sizes and pitches are bytes, as in CUDA.
#pragma once
#pragma GCC system_header

#include <cstddef>
#include <type_traits>
#include <utility>

#include "../driver_types.h"
#include "types.h"

extern "C" {
cudaError_t cudaGetLastError();  // and forgets it, unless it is sticky
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceSynchronize();
// Limits are remembered; those of launches from kernels give cudaErrorUnsupportedLimit.
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit);
cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value);
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config);
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);  // 0 and 0: there are none
// There is one device, and so no peer.
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int source, int destination);
cudaError_t cudaGetDeviceFlags(unsigned int* flags);
cudaError_t cudaSetDeviceFlags(unsigned int flags);
cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags);
cudaError_t cudaDeviceReset();
// CUDA 12's names, which CUDA 13 has dropped.
[[deprecated("CUDA 13 has cudaDeviceSynchronize instead")]] cudaError_t cudaThreadSynchronize();
[[deprecated("CUDA 13 has cudaDeviceReset instead")]] cudaError_t cudaThreadExit();
cudaError_t cudaCtxResetPersistingL2Cache();
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);

cudaError_t cudaMalloc(void** pointer, std::size_t bytes);
cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height);
cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream);
// Pools of memory for streams: what was taken from them is counted; nothing is kept back for later.
cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool);
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t bytes);
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* accesses, std::size_t count);
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location);
cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned int flags = cudaMemAttachGlobal);
cudaError_t cudaMallocHost(void** pointer, std::size_t bytes);
cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned int flags);
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int flags);
// Kernels may use the host's memory while it is registered.
cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned int flags);
cudaError_t cudaHostUnregister(void* pointer);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                         std::size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream = nullptr);
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t bytes);
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                                cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes);
cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes, cudaStream_t stream = nullptr);
cudaError_t cudaMemset2D(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height);
cudaError_t cudaMemset2DAsync(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height,
                              cudaStream_t stream = nullptr);
cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int device, cudaStream_t stream = nullptr);

cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, std::size_t bytes = 0,
                                     unsigned int flags = cudaMemAttachGlobal);

cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
// Remembered for each stream, and without effect here.
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute, const cudaStreamAttrValue* value);
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attribute, cudaStreamAttrValue* value);
cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from);
// They run in the stream's turn, and may not call the runtime.
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned int flags);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags = 0);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr,
                                     unsigned int flags = cudaEventRecordDefault);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end);

cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t dynamic_bytes = 0,
                             cudaStream_t stream = nullptr);
// All blocks are resident at once and may wait for each other. cudaErrorCooperativeLaunchTooLarge if the device has no
// room for them (cudaOccupancyMaxActiveBlocksPerMultiprocessor says for how many it has).
cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                        std::size_t dynamic_bytes = 0, cudaStream_t stream = nullptr);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void** arguments);
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value);
cudaError_t cudaFuncSetCacheConfig(const void* kernel, cudaFuncCache config);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int threads,
                                                          std::size_t dynamic_bytes);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel, int threads,
                                                                   std::size_t dynamic_bytes, unsigned int flags);

// The block size that gives the most threads at once, and the grid that then fills the device.
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, const void* kernel, std::size_t dynamic_bytes,
                                               int most_threads);

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice);
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost);
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol);
cudaError_t cudaGetSymbolSize(std::size_t* bytes, const void* symbol);
}

// cudaMemPrefetchAsync as CUDA 13 has it, cudaMemAdvise as CUDA 12 does; the other forms are above.
cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, cudaMemLocation location, unsigned int flags,
                                 cudaStream_t stream = nullptr);
cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice, int device);

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
namespace simt {
void null_stream_is_per_thread();  // for the whole program
__attribute__((constructor)) static void choose_default_stream() {
    null_stream_is_per_thread();
}
}  // namespace simt
#endif

// The forms with types. They are always_inline, so that reports name the caller's line.
#define SIMT_TYPED __attribute__((always_inline)) inline

SIMT_TYPED cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
    return cudaEventCreateWithFlags(event, flags);
}
template <class T>
SIMT_TYPED cudaError_t cudaMalloc(T** pointer, std::size_t bytes) {
    static_cast<void>(&simt::noted<T>);
    return cudaMalloc(reinterpret_cast<void**>(pointer), bytes);
}
template <class T>
SIMT_TYPED cudaError_t cudaMallocPitch(T** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
    static_cast<void>(&simt::noted<T>);
    return cudaMallocPitch(reinterpret_cast<void**>(pointer), pitch, width, height);
}
template <class T>
SIMT_TYPED cudaError_t cudaMallocAsync(T** pointer, std::size_t bytes, cudaStream_t stream) {
    static_cast<void>(&simt::noted<T>);
    return cudaMallocAsync(reinterpret_cast<void**>(pointer), bytes, stream);
}
template <class T>
SIMT_TYPED cudaError_t cudaMallocFromPoolAsync(T** pointer, std::size_t bytes, cudaMemPool_t pool,
                                               cudaStream_t stream) {
    static_cast<void>(&simt::noted<T>);
    return cudaMallocFromPoolAsync(reinterpret_cast<void**>(pointer), bytes, pool, stream);
}
template <class T>
SIMT_TYPED cudaError_t cudaMallocAsync(T** pointer, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
    return cudaMallocFromPoolAsync(pointer, bytes, pool, stream);
}
template <class T>
SIMT_TYPED cudaError_t cudaMallocManaged(T** pointer, std::size_t bytes, unsigned int flags = cudaMemAttachGlobal) {
    static_cast<void>(&simt::noted<T>);
    return cudaMallocManaged(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <class T>
SIMT_TYPED cudaError_t cudaMallocHost(T** pointer, std::size_t bytes, unsigned int = 0) {
    return cudaMallocHost(reinterpret_cast<void**>(pointer), bytes);
}
template <class T>
SIMT_TYPED cudaError_t cudaHostAlloc(T** pointer, std::size_t bytes, unsigned int flags) {
    return cudaHostAlloc(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <class T>
SIMT_TYPED cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned int flags) {
    return cudaHostGetDevicePointer(reinterpret_cast<void**>(device), host, flags);
}
template <class T>
SIMT_TYPED cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                                          cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    return cudaMemcpyToSymbol(static_cast<const void*>(&symbol), from, bytes, offset, kind);
}
template <class T>
SIMT_TYPED cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
                                            cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    return cudaMemcpyFromSymbol(to, static_cast<const void*>(&symbol), bytes, offset, kind);
}
template <class T>
SIMT_TYPED cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, std::size_t bytes,
                                               std::size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                               cudaStream_t stream = nullptr) {
    return cudaMemcpyToSymbolAsync(static_cast<const void*>(&symbol), from, bytes, offset, kind, stream);
}
template <class T>
SIMT_TYPED cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
                                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                                 cudaStream_t stream = nullptr) {
    return cudaMemcpyFromSymbolAsync(to, static_cast<const void*>(&symbol), bytes, offset, kind, stream);
}
template <class T>
SIMT_TYPED cudaError_t cudaGetSymbolAddress(void** pointer, const T& symbol) {
    return cudaGetSymbolAddress(pointer, static_cast<const void*>(&symbol));
}
template <class T>
SIMT_TYPED cudaError_t cudaGetSymbolSize(std::size_t* bytes, const T& symbol) {
    return cudaGetSymbolSize(bytes, static_cast<const void*>(&symbol));
}

namespace simt {
template <class T>
using IfFunction = std::enable_if_t<std::is_function_v<T>, int>;
}

template <class Kernel, simt::IfFunction<Kernel> = 0>
SIMT_TYPED cudaError_t cudaLaunchKernel(Kernel* kernel, dim3 grid, dim3 block, void** arguments,
                                        std::size_t dynamic_bytes = 0, cudaStream_t stream = nullptr) {
    return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, arguments, dynamic_bytes, stream);
}
template <class Kernel, simt::IfFunction<Kernel> = 0>
SIMT_TYPED cudaError_t cudaLaunchCooperativeKernel(Kernel* kernel, dim3 grid, dim3 block, void** arguments,
                                                   std::size_t dynamic_bytes = 0, cudaStream_t stream = nullptr) {
    return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), grid, block, arguments, dynamic_bytes,
                                       stream);
}
template <class... Parameters, class... Arguments>
SIMT_TYPED cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                                          Arguments&&... arguments) {
    return [&](Parameters... converted) {
        void* raw[] = {const_cast<void*>(static_cast<const volatile void*>(&converted))..., nullptr};
        return cudaLaunchKernelExC(config, reinterpret_cast<const void*>(kernel), raw);
    }(std::forward<Arguments>(arguments)...);
}
template <class Kernel, simt::IfFunction<Kernel> = 0>
SIMT_TYPED cudaError_t cudaFuncSetAttribute(Kernel* kernel, cudaFuncAttribute attribute, int value) {
    return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}
template <class Kernel, simt::IfFunction<Kernel> = 0>
SIMT_TYPED cudaError_t cudaFuncSetCacheConfig(Kernel* kernel, cudaFuncCache config) {
    return cudaFuncSetCacheConfig(reinterpret_cast<const void*>(kernel), config);
}
template <class Kernel, simt::IfFunction<Kernel> = 0>
SIMT_TYPED cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel* kernel) {
    return cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(kernel));
}
template <class Kernel, simt::IfFunction<Kernel> = 0>
SIMT_TYPED cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel* kernel, int threads,
                                                                     std::size_t dynamic_bytes) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, reinterpret_cast<const void*>(kernel), threads,
                                                         dynamic_bytes);
}
template <class Kernel, simt::IfFunction<Kernel> = 0>
SIMT_TYPED cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, Kernel* kernel, int threads,
                                                                              std::size_t dynamic_bytes,
                                                                              unsigned int flags) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, reinterpret_cast<const void*>(kernel),
                                                                  threads, dynamic_bytes, flags);
}
template <class Kernel, simt::IfFunction<Kernel> = 0>
SIMT_TYPED cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, Kernel* kernel,
                                                          std::size_t dynamic_bytes = 0, int most_threads = 0) {
    return cudaOccupancyMaxPotentialBlockSize(grid, block, reinterpret_cast<const void*>(kernel), dynamic_bytes,
                                              most_threads);
}
// The same, if the dynamic shared memory is a function of the number of threads of a block.
template <class Kernel, class Bytes, simt::IfFunction<Kernel> = 0>
SIMT_TYPED cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, Kernel* kernel,
                                                                      Bytes bytes, int most_threads = 0) {
    cudaFuncAttributes attributes;
    const cudaError_t known = cudaFuncGetAttributes(&attributes, kernel);
    if (known != cudaSuccess || grid == nullptr || block == nullptr) {
        return known != cudaSuccess ? known : cudaErrorInvalidValue;
    }
    *grid = *block = 0;
    const int largest = most_threads == 0 || most_threads > attributes.maxThreadsPerBlock
                            ? attributes.maxThreadsPerBlock
                            : most_threads;
    for (int threads = largest; threads > 0; threads -= threads % 32 == 0 ? 32 : threads % 32) {
        int blocks = 0;
        const cudaError_t error =
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, bytes(threads));
        if (error != cudaSuccess) {
            return error;
        }
        if (blocks * threads > *grid * *block) {
            *grid = blocks;
            *block = threads;
        }
    }
    return cudaSuccess;
}
