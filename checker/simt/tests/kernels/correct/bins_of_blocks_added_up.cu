// SPDX-License-Identifier: MIT
// verdict: correct
// Each block counts in shared memory and adds its bins to those of all.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out, int n) {
    __shared__ int bins[8];
    if (threadIdx.x < 8) {
        bins[threadIdx.x] = 0;
    }
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < static_cast<unsigned>(n); i += gridDim.x * blockDim.x) {
        atomicAdd(&bins[i % 8], 1);
    }
    __syncthreads();
    if (threadIdx.x < 8) {
        atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
    }
}

int main() {
    constexpr int n = 8;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<4, 64>>>(out, 800);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 100) {
            return EXIT_FAILURE;
        }
    }
}
