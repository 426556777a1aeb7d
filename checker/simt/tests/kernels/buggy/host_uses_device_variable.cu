// SPDX-License-Identifier: MIT
// verdict: device_memory host_uses_device_variable.cu:17
// A __device__ variable read by the host.
#include <cuda_runtime.h>

#include <cstdio>

__device__ int counter;

__global__ void count() {
    atomicAdd(&counter, 1);
}

int main() {
    count<<<1, 32>>>();
    cudaDeviceSynchronize();
    std::printf("%d\n", counter);
}
