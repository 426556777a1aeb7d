// SPDX-License-Identifier: MIT
// verdict: correct
// A buffer of pointers to rows, one of which two kernels share.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(int* const* rows, int columns) {
    rows[blockIdx.x][threadIdx.x] = static_cast<int>(blockIdx.x * columns + threadIdx.x);
}

static void run(int* out, int rows, int columns) {
    int* host[8];
    for (int row = 0; row < rows; row++) {
        host[row] = out + row * columns;
    }
    int** pointers = nullptr;
    cudaMalloc(&pointers, rows * sizeof(int*));
    cudaMemcpy(pointers, host, rows * sizeof(int*), cudaMemcpyHostToDevice);
    fill<<<rows, columns>>>(pointers, columns);
    cudaFree(pointers);
}

static int expected(int i) {
    return i;
}

int main() {
    constexpr int n = 8 * 20;
    static int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    run(out, 8, 20);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != expected(i)) {
            return EXIT_FAILURE;
        }
    }
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
