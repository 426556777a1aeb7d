// SPDX-License-Identifier: MIT
// verdict: correct
// Lanes wait in pairs, and then in the pairs between.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[32];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = t;
    __syncwarp(3U << (t & ~1));
    const int first = cells[t ^ 1];
    __syncwarp();
    cells[t] = first;
    __syncwarp(t == 0 || t == 31 ? 0x80000001U : 3U << ((t - 1) & ~1) << 1);
    out[t] = cells[((t + 1) ^ 1) - 1 < 0 ? 31 : (((t + 1) ^ 1) - 1) % 32];
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
        if (host[i] != ((((i + 1) ^ 1) - 1 < 0 ? 31 : (((i + 1) ^ 1) - 1) % 32) ^ 1)) {
            return EXIT_FAILURE;
        }
    }
}
