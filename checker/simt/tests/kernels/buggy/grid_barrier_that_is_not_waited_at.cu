// SPDX-License-Identifier: MIT
// verdict: race global grid_barrier_that_is_not_waited_at.cu:11 grid_barrier_that_is_not_waited_at.cu:15
// Blocks say that they have arrived, and go on.
#include <cuda_runtime.h>

#include <cstdlib>

__device__ unsigned arrived;

__global__ void kernel(int* out) {
    out[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
    __threadfence();
    atomicAdd(&arrived, 1U);
    if (blockIdx.x == 0) {
        out[8] = out[7];
    }
}

int main() {
    constexpr int n = 9;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<8, 1>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
