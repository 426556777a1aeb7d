// SPDX-License-Identifier: MIT
// verdict: correct
// Each thread waits for its own copies, then a barrier shows them to the others.
#include "checker/ptx.h"

#include <cstdlib>

__global__ void transpose(int* out, const int* in) {
    __shared__ alignas(16) int tile[16][16 + 4];
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    ptx::cp_async<16>(&tile[y][4 * x], &in[y * 16 + 4 * x]);
    ptx::cp_async_commit();
    ptx::cp_async_wait<0>();
    __syncthreads();
    for (int i = 4 * x; i < 4 * x + 4; i++) { out[y * 16 + i] = tile[i][y]; }
}

int main() {
    constexpr int n = 256;
    int host[n];
    for (int i = 0; i < n; i++) { host[i] = i; }
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMemcpy(in, host, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, n * sizeof(int));
    transpose<<<1, dim3(4, 16)>>>(out, in);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != i % 16 * 16 + i / 16) {
            return EXIT_FAILURE;
        }
    }
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
