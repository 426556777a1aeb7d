// SPDX-License-Identifier: MIT
// verdict: correct
// Kernels may print, and assertions may hold.
#include <cuda_runtime.h>

#include <cstdlib>
#include <cassert>
#include <cstdio>
__global__ void speak(int* out) {
    assert(blockDim.x == 2);
    printf("thread %d says %s\n", static_cast<int>(threadIdx.x), "hello");
    out[threadIdx.x] = 1;
}

int main() {
    constexpr int n = 2;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    speak<<<1, n>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 1) {
            return EXIT_FAILURE;
        }
    }
}
