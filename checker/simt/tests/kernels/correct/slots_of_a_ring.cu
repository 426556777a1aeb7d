// SPDX-License-Identifier: MIT
// verdict: correct
// A producer and a consumer share two slots: each waits until the other one is done with it.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    int* slots = out;
    volatile int* written = out + 2;
    volatile int* taken = out + 3;
    int sum = 0;
    for (int i = 0; i < 10; i++) {
        if (blockIdx.x == 0) {
            while (*taken < i - 1) {
            }
            __threadfence();
            slots[i % 2] = i;
            __threadfence();
            *written = i + 1;
        } else {
            while (*written < i + 1) {
            }
            __threadfence();
            sum += slots[i % 2];
            __threadfence();
            *taken = i + 1;
        }
    }
    if (blockIdx.x == 1) {
        out[4] = sum;
    }
}

int main() {
    constexpr int n = 5;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<2, 1>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != (i < 2 ? 8 + i : i < 4 ? 10 : 45)) {
            return EXIT_FAILURE;
        }
    }
}
