// SPDX-License-Identifier: MIT
// verdict: use_after_free global async_copy_from_freed_memory.cu:11
// The input was freed before the launch.
#include "checker/ptx.h"

#include <cstdlib>

__global__ void kernel(int* out, const int* in) {
    __shared__ int tile[64];
    const int i = static_cast<int>(threadIdx.x);
    ptx::cp_async<4>(&tile[i], &in[i]);
    ptx::cp_async_wait_all();
    out[i] = tile[i];
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
    cudaFree(in);
    kernel<<<1, 64>>>(out, in);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
