// SPDX-License-Identifier: MIT
// verdict: race global additions_are_lost.cu:10 additions_are_lost.cu:10
// Each thread adds one, and says how many additions came through.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

__global__ void kernel(int* out) {
    *out += 1;
}

__global__ void say(const int* out) {
    if (*out < 256) {
        printf("%d additions lost\n", 256 - *out);
    }
}

int main() {
    constexpr int n = 1;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<4, 64>>>(out);
    say<<<1, 1>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
