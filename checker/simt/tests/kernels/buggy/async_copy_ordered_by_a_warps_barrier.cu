// SPDX-License-Identifier: MIT
// verdict: race shared async_copy_ordered_by_a_warps_barrier.cu:13 async_copy_ordered_by_a_warps_barrier.cu:16
// Between warps __syncwarp() behind the wait orders nothing.
#include "checker/ptx.h"

#include <cstdlib>

__global__ void kernel(int* out, const int* in) {
    __shared__ int tile[64];
    const int i = static_cast<int>(threadIdx.x);
    tile[i] = 0;
    __syncthreads();
    ptx::cp_async<4>(&tile[i], &in[i]);
    ptx::cp_async_wait_all();
    __syncwarp();
    out[i] = tile[63 - i];
}

int main() {
    constexpr int n = 64;
    int host[n];
    for (int i = 0; i < n; i++) { host[i] = i + 1; }
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMemcpy(in, host, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<1, 64>>>(out, in);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
