// SPDX-License-Identifier: MIT
// verdict: correct
// Each half of the warp waits for itself, and exchanges within itself.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[32];
    const int t = static_cast<int>(threadIdx.x);
    const unsigned half = t < 16 ? 0x0000ffffU : 0xffff0000U;
    int value = t;
    for (int step = 1; step < 16; step *= 2) {
        cells[t] = value;
        __syncwarp(half);
        const int other = cells[t ^ step];
        __syncwarp(half);
        value += other;
    }
    out[t] = value;
}

int main() {
    constexpr int n = 32;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<1, 32>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != (i < 16 ? 120 : 376)) {
            return EXIT_FAILURE;
        }
    }
}
