// SPDX-License-Identifier: MIT
// verdict: correct
// Every block in turn adds to one number, each waiting for the one before.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    volatile int* turn = out + 1;
    if (threadIdx.x == 0) {
        while (*turn != static_cast<int>(blockIdx.x)) {
        }
        __threadfence();
    }
    __syncthreads();
    const int before = out[0];
    __syncthreads();
    if (threadIdx.x == 31) {
        out[0] = before + 1;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        *turn = static_cast<int>(blockIdx.x) + 1;
    }
}

int main() {
    constexpr int n = 2;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<12, 32>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 12) {
            return EXIT_FAILURE;
        }
    }
}
