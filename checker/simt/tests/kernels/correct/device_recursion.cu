// SPDX-License-Identifier: MIT
// verdict: correct
// Device functions that call themselves and one another, and function pointers on the device.
#include <cuda_runtime.h>

#include <cstdlib>

__device__ int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ int twice(int n) {
    return 2 * n;
}

__global__ void fill(int* out) {
    int (*function)(int) = threadIdx.x % 2 == 0 ? fibonacci : twice;
    out[threadIdx.x] = function(static_cast<int>(threadIdx.x));
}

static int expected(int i) {
    const int numbers[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55};
    return i % 2 == 0 ? numbers[i] : 2 * i;
}

int main() {
    constexpr int n = 12;
    static int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    fill<<<1, n>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != expected(i)) {
            return EXIT_FAILURE;
        }
    }
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
