// SPDX-License-Identifier: MIT
// verdict: correct
// A lock for each of four buckets.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    const int bucket = static_cast<int>(blockIdx.x) % 4;
    int* lock = out + bucket;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    out[4 + bucket] += 2;
    __threadfence();
    atomicExch(lock, 0);
}

int main() {
    constexpr int n = 8;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<40, 1>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != (i < 4 ? 0 : 20)) {
            return EXIT_FAILURE;
        }
    }
}
