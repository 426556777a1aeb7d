// SPDX-License-Identifier: MIT
// verdict: race shared transpose_without_a_barrier.cu:13 transpose_without_a_barrier.cu:14
// Rows are read before the columns are all there.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int tile[8][9];
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    tile[y][x] = 0;
    __syncthreads();
    tile[y][x] = 8 * y + x;
    out[8 * y + x] = tile[x][y];
}

int main() {
    constexpr int n = 64;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<1, dim3(8, 8)>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
