// SPDX-License-Identifier: MIT
// verdict: correct
// Two barriers for each tile: one when it is there, one when it has been read.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    int sum = 0;
    for (int tile = 0; tile < 4; tile++) {
        cells[t] = 10 * tile + t;
        __syncthreads();
        for (int k = 0; k < 64; k++) {
            sum += cells[k];
        }
        __syncthreads();
    }
    out[t] = sum;
}

int main() {
    constexpr int n = 64;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<1, 64>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 4 * 2016 + 64 * 60) {
            return EXIT_FAILURE;
        }
    }
}
