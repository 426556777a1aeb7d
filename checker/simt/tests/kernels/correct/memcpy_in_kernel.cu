// SPDX-License-Identifier: MIT
// verdict: correct
// memcpy of a length known when the kernel runs, and an array of each thread.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void copy(int* out, int count) {
    int mine[8];
    for (int i = 0; i < 8; i++) {
        mine[i] = static_cast<int>(threadIdx.x) + i;
    }
    memcpy(out + threadIdx.x * count, mine, count * sizeof(int));
}

int main() {
    constexpr int n = 64;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    copy<<<1, 8>>>(out, 8);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != i / 8 + i % 8) {
            return EXIT_FAILURE;
        }
    }
}
