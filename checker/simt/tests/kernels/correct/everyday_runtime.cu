// SPDX-License-Identifier: MIT
// verdict: correct
// Functions of the runtime that ordinary programs call around their kernels, with the results that CUDA documents.
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

__constant__ int table[4];
__device__ int total;

__global__ void add_table(int n) {
    if (static_cast<int>(threadIdx.x) < n) {
        atomicAdd(&total, table[threadIdx.x]);
    }
}

__global__ void fill(int* out, int value) {
    extern __shared__ int staged[];
    staged[threadIdx.x] = value;
    out[threadIdx.x] = staged[threadIdx.x];
}

void add_one(void* data) {
    ++*static_cast<int*>(data);
}

struct SharedBytes {
    __host__ __device__ std::size_t operator()(int threads) const { return static_cast<std::size_t>(threads) * 4; }
};

struct Called {
    cudaStream_t stream;
    cudaError_t status;
    int times;
};

void note(cudaStream_t stream, cudaError_t status, void* data) {
    auto* called = static_cast<Called*>(data);
    *called = {stream, status, called->times + 1};
}

#define EXPECT(condition)                                     \
    do {                                                      \
        if (!(condition)) {                                   \
            std::printf("line %d does not hold\n", __LINE__); \
            return EXIT_FAILURE;                              \
        }                                                     \
    } while (0)

int main() {
    int runtime = 0, driver = 0;
    EXPECT(cudaRuntimeGetVersion(&runtime) == cudaSuccess && runtime == CUDART_VERSION);
    EXPECT(cudaDriverGetVersion(&driver) == cudaSuccess && driver >= runtime);
    EXPECT(cudaProfilerStart() == cudaSuccess && cudaProfilerStop() == cudaSuccess);
    EXPECT(cudaInitDevice(0, 0, 0) == cudaSuccess);

    // Limits.
    std::size_t bytes = 0;
    EXPECT(cudaDeviceGetLimit(&bytes, cudaLimitStackSize) == cudaSuccess && bytes == 1024);
    EXPECT(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize) == cudaSuccess && bytes == 8 << 20);
    EXPECT(cudaDeviceSetLimit(cudaLimitStackSize, 4096) == cudaSuccess);
    EXPECT(cudaDeviceGetLimit(&bytes, cudaLimitStackSize) == cudaSuccess && bytes == 4096);
    EXPECT(cudaDeviceGetLimit(nullptr, cudaLimitStackSize) == cudaErrorInvalidValue);
    EXPECT(cudaDeviceSetLimit(static_cast<cudaLimit>(99), 1) != cudaSuccess);
    cudaGetLastError();
    cudaFuncCache cache = cudaFuncCachePreferL1;
    EXPECT(cudaDeviceGetCacheConfig(&cache) == cudaSuccess && cache == cudaFuncCachePreferNone);
    EXPECT(cudaFuncSetCacheConfig(fill, cudaFuncCachePreferShared) == cudaSuccess);
    int least = -1, greatest = 1;
    EXPECT(cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess && greatest <= least && least == 0);
    int can = -1;
    EXPECT(cudaDeviceCanAccessPeer(&can, 0, 0) == cudaSuccess && can == 0);
    for (const cudaDeviceAttr attribute :
         {cudaDevAttrMaxPitch, cudaDevAttrTextureAlignment, cudaDevAttrCanMapHostMemory, cudaDevAttrConcurrentKernels}) {
        int value = 0;
        EXPECT(cudaDeviceGetAttribute(&value, attribute, 0) == cudaSuccess && value > 0);
    }

    // Streams and events.
    cudaStream_t stream = nullptr;
    EXPECT(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest) == cudaSuccess);
    unsigned flags = 0;
    int priority = 1;
    EXPECT(cudaStreamGetFlags(stream, &flags) == cudaSuccess && flags == cudaStreamNonBlocking);
    EXPECT(cudaStreamGetFlags(nullptr, &flags) == cudaSuccess && flags == cudaStreamDefault);
    EXPECT(cudaStreamGetPriority(stream, &priority) == cudaSuccess && priority <= 0);
    EXPECT(cudaStreamGetFlags(stream, nullptr) == cudaErrorInvalidValue);
    cudaGetLastError();
    int calls = 0;
    EXPECT(cudaLaunchHostFunc(stream, add_one, &calls) == cudaSuccess);
    Called called = {nullptr, cudaErrorUnknown, 0};
    EXPECT(cudaStreamAddCallback(stream, note, &called, 0) == cudaSuccess);
    EXPECT(cudaStreamSynchronize(stream) == cudaSuccess && calls == 1);
    EXPECT(called.stream == stream && called.status == cudaSuccess && called.times == 1);
    EXPECT(cudaStreamAddCallback(stream, note, &called, 1) == cudaErrorInvalidValue);
    EXPECT(cudaLaunchHostFunc(stream, nullptr, nullptr) == cudaErrorInvalidValue);
    cudaGetLastError();
    cudaEvent_t event = nullptr;
    EXPECT(cudaEventCreateWithFlags(&event, cudaEventDisableTiming) == cudaSuccess);
    EXPECT(cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault) == cudaSuccess);
    EXPECT(cudaEventSynchronize(event) == cudaSuccess && cudaEventQuery(event) == cudaSuccess);
    EXPECT(cudaStreamWaitEvent(nullptr, event, cudaEventWaitDefault) == cudaSuccess);
    EXPECT(cudaStreamQuery(stream) == cudaSuccess);

    // Variables of the device, in a stream's order.
    const int values[4] = {1, 20, 300, 4000};
    const int zero = 0;
    EXPECT(cudaMemcpyToSymbolAsync(table, values, sizeof values, 0, cudaMemcpyHostToDevice, stream) == cudaSuccess);
    EXPECT(cudaMemcpyToSymbolAsync(total, &zero, sizeof zero, 0, cudaMemcpyHostToDevice, stream) == cudaSuccess);
    add_table<<<1, 32, 0, stream>>>(4);
    int sum = 0, second = 0;
    EXPECT(cudaMemcpyFromSymbolAsync(&sum, total, sizeof sum, 0, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
    EXPECT(cudaMemcpyFromSymbolAsync(&second, table, sizeof second, sizeof second, cudaMemcpyDeviceToHost, stream) ==
           cudaSuccess);
    EXPECT(cudaStreamSynchronize(stream) == cudaSuccess && sum == 4321 && second == 20);
    EXPECT(cudaMemcpyToSymbolAsync(table, values, sizeof values, 4, cudaMemcpyHostToDevice, stream) ==
           cudaErrorInvalidValue);
    cudaGetLastError();

    // Managed memory.
    int* managed = nullptr;
    EXPECT(cudaMallocManaged(&managed, 256) == cudaSuccess);
    cudaMemLocation here = {};
    here.type = cudaMemLocationTypeDevice;
    EXPECT(cudaMemPrefetchAsync(managed, 256, here, 0, stream) == cudaSuccess);
    EXPECT(cudaMemAdvise(managed, 256, cudaMemAdviseSetReadMostly, here) == cudaSuccess);
    EXPECT(cudaStreamSynchronize(stream) == cudaSuccess);
    EXPECT(cudaFree(managed) == cudaSuccess);

    // Pinned memory.
    int* pinned = nullptr;
    EXPECT(cudaHostAlloc(&pinned, 128, 0x100) == cudaErrorInvalidValue);
    cudaGetLastError();
    EXPECT(cudaHostAlloc(&pinned, 128, cudaHostAllocMapped | cudaHostAllocPortable) == cudaSuccess);
    fill<<<1, 32, 128, stream>>>(pinned, 7);
    EXPECT(cudaStreamSynchronize(stream) == cudaSuccess && pinned[31] == 7);
    EXPECT(cudaFreeHost(pinned) == cudaSuccess);

    // The host's own memory, while it is registered.
    std::vector<int> own(1024);
    EXPECT(cudaHostRegister(own.data(), 4096, cudaHostRegisterMapped) == cudaSuccess);
    EXPECT(cudaHostRegister(own.data(), 4096, cudaHostRegisterDefault) == cudaErrorHostMemoryAlreadyRegistered);
    cudaPointerAttributes where;
    EXPECT(cudaPointerGetAttributes(&where, own.data()) == cudaSuccess && where.type == cudaMemoryTypeHost);
    int* on_device = nullptr;
    EXPECT(cudaHostGetDevicePointer(&on_device, own.data(), 0) == cudaSuccess);
    fill<<<1, 32, 128, stream>>>(on_device, 9);
    EXPECT(cudaStreamSynchronize(stream) == cudaSuccess && own[31] == 9 && own[32] == 0);
    EXPECT(cudaHostUnregister(own.data()) == cudaSuccess);
    EXPECT(cudaHostUnregister(own.data()) == cudaErrorHostMemoryNotRegistered);
    cudaGetLastError();
    EXPECT(cudaPointerGetAttributes(&where, own.data()) == cudaSuccess && where.type == cudaMemoryTypeUnregistered);

    // Occupancy.
    int grid = 0, block = 0, blocks = 0, same = 0;
    EXPECT(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, fill, SharedBytes()) == cudaSuccess);
    EXPECT(grid >= 1 && block >= 32 && block % 32 == 0);
    EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 256, 1024) == cudaSuccess);
    EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&same, fill, 256, 1024, cudaOccupancyDefault) ==
           cudaSuccess);
    EXPECT(blocks == same && blocks >= 1);

    EXPECT(cudaEventDestroy(event) == cudaSuccess && cudaStreamDestroy(stream) == cudaSuccess);
    std::size_t free = 0, all = 0;
    EXPECT(cudaMemGetInfo(&free, &all) == cudaSuccess && free <= all && free > 0);
    return EXIT_SUCCESS;
}
