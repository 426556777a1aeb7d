// SPDX-License-Identifier: MIT
// verdict: correct
// A barrier in a branch that all threads of a block take, and a loop whose length differs between blocks.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void wait(int* out) {
    __shared__ int sum;
    if (threadIdx.x == 0) {
        sum = 0;
    }
    __syncthreads();
    for (unsigned k = 0; k <= blockIdx.x; k++) {
        if (blockIdx.x % 2 == 0) {
            __syncthreads();
        }
        atomicAdd(&sum, 1);
    }
    __syncthreads();
    out[blockIdx.x * 32 + threadIdx.x] = sum;
}

int main() {
    constexpr int n = 128;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    wait<<<4, 32>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != (i / 32 + 1) * 32) {
            return EXIT_FAILURE;
        }
    }
}
