// SPDX-License-Identifier: MIT
// verdict: correct
// A lock around plain reads and writes, with a fence behind taking it and one before giving it back.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    int* lock = out;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    out[1] = out[1] + 1;
    __threadfence();
    atomicExch(lock, 0);
}

int main() {
    constexpr int n = 2;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<50, 1>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 50 * i) {
            return EXIT_FAILURE;
        }
    }
}
