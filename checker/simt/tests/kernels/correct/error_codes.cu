// SPDX-License-Identifier: MIT
// verdict: correct
// What CUDA documents for wrong calls, the last error, and the queries of device and kernels.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void __launch_bounds__(256) kernel(float* out) {
    __shared__ float tile[100];
    tile[threadIdx.x % 100] = 1.0F;
    out[threadIdx.x] = tile[threadIdx.x % 100];
}

#define EXPECT(condition)                              \
    do {                                               \
        if (!(condition)) {                            \
            std::printf("line %d does not hold\n", __LINE__); \
            return EXIT_FAILURE;                       \
        }                                              \
    } while (0)

int main() {
    int count = 0;
    EXPECT(cudaGetDeviceCount(&count) == cudaSuccess && count >= 1);
    EXPECT(cudaSetDevice(count) == cudaErrorInvalidDevice);
    EXPECT(cudaPeekAtLastError() == cudaErrorInvalidDevice);
    EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);
    EXPECT(cudaGetLastError() == cudaSuccess);
    EXPECT(std::strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
    EXPECT(std::strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument") == 0);

    cudaDeviceProp properties;
    EXPECT(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
    EXPECT(properties.warpSize == 32 && properties.maxThreadsPerBlock == 1024 && properties.sharedMemPerBlock == 48 * 1024);
    int value = 0;
    EXPECT(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0) == cudaSuccess && value == 1024);

    cudaFuncAttributes attributes;
    EXPECT(cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess);
    EXPECT(attributes.sharedSizeBytes == 400 && attributes.maxThreadsPerBlock == 256);
    int blocks = 0;
    EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 0) == cudaSuccess && blocks >= 1);
    int grid = 0, block = 0;
    EXPECT(cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernel) == cudaSuccess && grid >= 1 && block > 0 && block <= 256);
    EXPECT(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 30) == cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);

    float* x = nullptr;
    EXPECT(cudaMalloc(&x, 0) == cudaSuccess && x == nullptr);
    EXPECT(cudaFree(nullptr) == cudaSuccess);
    EXPECT(cudaMalloc(&x, ~static_cast<size_t>(0) / 2) == cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
    EXPECT(cudaMalloc(&x, 1024) == cudaSuccess && reinterpret_cast<size_t>(x) % 256 == 0);
    kernel<<<1, 256>>>(x);
    EXPECT(cudaGetLastError() == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess);
    cudaPointerAttributes where;
    EXPECT(cudaPointerGetAttributes(&where, x) == cudaSuccess && where.type == cudaMemoryTypeDevice);
    EXPECT(cudaFree(x) == cudaSuccess);
    return EXIT_SUCCESS;
}
