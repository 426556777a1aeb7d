// SPDX-License-Identifier: MIT
// verdict: correct
// Tiles of 32x33 in shared memory, at sizes that are no multiple of 32.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void transpose(int* out, int rows, int columns) {
    __shared__ int tile[32][33];
    const int x = blockIdx.x * 32 + threadIdx.x;
    for (int y = threadIdx.y; y < 32; y += 8) {
        const int row = blockIdx.y * 32 + y;
        if (row < rows && x < columns) {
            tile[y][threadIdx.x] = row * columns + x;
        }
    }
    __syncthreads();
    const int row = blockIdx.y * 32 + threadIdx.x;
    for (int y = threadIdx.y; y < 32; y += 8) {
        const int column = blockIdx.x * 32 + y;
        if (row < rows && column < columns) {
            out[column * rows + row] = tile[threadIdx.x][y];
        }
    }
}

int main() {
    constexpr int n = 1665;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    transpose<<<dim3(2, 2), dim3(32, 8)>>>(out, 37, 45);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != i % 37 * 45 + i / 37) {
            return EXIT_FAILURE;
        }
    }
}
