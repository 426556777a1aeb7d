// SPDX-License-Identifier: MIT
// verdict: correct
// Each block counts in cells of its own with atomics of its scope.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    atomicAdd_block(out + blockIdx.x, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        out[4 + blockIdx.x] = out[blockIdx.x];
    }
}

int main() {
    constexpr int n = 8;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<4, 96>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 96) {
            return EXIT_FAILURE;
        }
    }
}
