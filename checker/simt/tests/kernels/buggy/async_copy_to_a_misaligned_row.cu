// SPDX-License-Identifier: MIT
// verdict: misaligned shared async_copy_to_a_misaligned_row.cu:11
// Rows of 17 elements: every fourth is aligned to 16 bytes.
#include "checker/ptx.h"

#include <cstdlib>

__global__ void kernel(int* out, const int* in) {
    __shared__ alignas(16) int tile[4][17];
    const int i = static_cast<int>(threadIdx.x);
    ptx::cp_async<16>(&tile[i / 4][i % 4 * 4], &in[4 * i]);
    ptx::cp_async_wait_all();
    __syncthreads();
    out[i] = tile[i / 4][i % 4];
}

int main() {
    constexpr int n = 64;
    int host[n];
    for (int i = 0; i < n; i++) { host[i] = i; }
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMemcpy(in, host, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<1, 16>>>(out, in);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
