// SPDX-License-Identifier: MIT
// verdict: device_memory host_uses_inline_variable.cu:16
// An inline __device__ variable read by the host.
#include <cuda_runtime.h>

#include <cstdio>

static inline __device__ int counter;

__global__ void count() {
    atomicAdd(&counter, 1);
}

int main() {
    count<<<1, 32>>>();
    std::printf("%d\n", counter);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
