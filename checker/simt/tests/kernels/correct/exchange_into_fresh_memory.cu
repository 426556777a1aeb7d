// SPDX-License-Identifier: MIT
// verdict: correct
// atomicExch as a store: nobody has written there, and nobody uses what was there.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void set(int* flags, float* sums) {
    __shared__ unsigned long long last;
    __shared__ int seen[64];
    atomicExch(&flags[threadIdx.x], 3);
    atomicExch(&sums[threadIdx.x / 2], 4.0F);
    atomicExch_block(&last, threadIdx.x);
    atomicExch(&seen[threadIdx.x], 1);
    __syncthreads();
    flags[threadIdx.x] += last < 64 && seen[63 - threadIdx.x] == 1 ? 1 : 0;
}

int main() {
    int host[64];
    int* flags = nullptr;
    float* sums = nullptr;
    cudaMalloc(&flags, sizeof host);
    cudaMalloc(&sums, 32 * sizeof(float));
    set<<<1, 64>>>(flags, sums);
    cudaMemcpy(host, flags, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(flags);
    cudaFree(sums);
    for (const int flag : host) {
        if (flag != 4) {
            return EXIT_FAILURE;
        }
    }
}
