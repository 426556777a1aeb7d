// SPDX-License-Identifier: MIT
// verdict: race host managed_memory_read_too_early.cu:9 managed_memory_read_too_early.cu:16
// The host reads managed memory while the kernel that fills it may still run.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(int* x, int value) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

int main() {
    int* x = nullptr;
    cudaMallocManaged(&x, 64 * sizeof(int));
    fill<<<2, 32>>>(x, 1);
    const bool arrived = x[63] == 1;
    cudaDeviceSynchronize();
    cudaFree(x);
    return arrived ? EXIT_SUCCESS : EXIT_FAILURE;
}
