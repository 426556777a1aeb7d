// SPDX-License-Identifier: MIT
// verdict: race global async_copy_source_overwritten_by_others.cu:11 async_copy_source_overwritten_by_others.cu:14
// Barriers part the issue, the write and the wait, but a copy reads until its wait.
#include "checker/ptx.h"

#include <cstdlib>

__global__ void kernel(int* out, const int* in) {
    __shared__ int tile[64];
    const int i = static_cast<int>(threadIdx.x);
    ptx::cp_async<4>(&tile[i], &out[i]);
    ptx::cp_async_commit();
    __syncthreads();
    out[63 - i] = in[i];
    __syncthreads();
    ptx::cp_async_wait<0>();
    out[i] += tile[i];
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
    kernel<<<1, 64>>>(out, in);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
