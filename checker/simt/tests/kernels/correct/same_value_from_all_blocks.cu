// SPDX-License-Identifier: MIT
// verdict: correct
// All blocks write the same result to the same place.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    out[threadIdx.x] = 7;
}

int main() {
    constexpr int n = 64;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<6, 64>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 7) {
            return EXIT_FAILURE;
        }
    }
}
