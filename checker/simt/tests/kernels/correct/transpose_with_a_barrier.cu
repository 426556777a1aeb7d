// SPDX-License-Identifier: MIT
// verdict: correct
// Rows are read when all columns are there.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int tile[8][9];
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    tile[y][x] = 8 * y + x;
    __syncthreads();
    out[8 * y + x] = tile[x][y];
}

int main() {
    constexpr int n = 64;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<3, dim3(8, 8)>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 8 * (i % 8) + i / 8) {
            return EXIT_FAILURE;
        }
    }
}
