// SPDX-License-Identifier: MIT
// verdict: correct
// Atomics on 64-bit and float cells in shared memory.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void add(int* out) {
    __shared__ unsigned long long wide;
    __shared__ float real;
    if (threadIdx.x == 0) {
        wide = 0;
        real = 0.0F;
    }
    __syncthreads();
    atomicAdd(&wide, 1ULL << 32);
    atomicAdd(&real, 0.5F);
    __syncthreads();
    out[threadIdx.x] = static_cast<int>(wide >> 32) + static_cast<int>(real);
}

int main() {
    constexpr int n = 100;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    add<<<1, n>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 150) {
            return EXIT_FAILURE;
        }
    }
}
