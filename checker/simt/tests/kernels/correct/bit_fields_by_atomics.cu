// SPDX-License-Identifier: MIT
// verdict: correct
// Two fields of one word are changed by atomics.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    if (threadIdx.x % 2 == 0) {
        atomicAdd(out, 1);
    } else {
        atomicAdd(out, 1 << 16);
    }
}

int main() {
    constexpr int n = 1;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<2, 64>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != (64 << 16 | 64)) {
            return EXIT_FAILURE;
        }
    }
}
