// SPDX-License-Identifier: MIT
// verdict: correct
// Arrays of one thread: written before they are read, with indices that only the thread knows.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void reverse(int* out, const int* inp) {
    int window[8];
    for (int i = 0; i < 8; i++) {
        window[(i + threadIdx.x) % 8] = inp[(threadIdx.x * 8 + i) % 64];
    }
    for (int i = 0; i < 8; i++) {
        out[threadIdx.x * 8 + i] = window[(7 - i + threadIdx.x) % 8];
    }
}

static int expected(int i) {
    return i / 8 * 8 + 7 - i % 8;
}

int main() {
    constexpr int n = 64;
    static int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    static int numbers[n];
    for (int i = 0; i < n; i++) {
        numbers[i] = i;
    }
    int* inp = nullptr;
    cudaMalloc(&inp, n * sizeof(int));
    cudaMemcpy(inp, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    reverse<<<1, 8>>>(out, inp);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(out);
    cudaFree(inp);
    for (int i = 0; i < n; i++) {
        if (host[i] != expected(i)) {
            return EXIT_FAILURE;
        }
    }
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
