// SPDX-License-Identifier: MIT
// verdict: misaligned global async_copy_misaligned.cu:11
// 16 bytes from an address that is a multiple of 4.
#include "checker/ptx.h"

#include <cstdlib>

__global__ void kernel(int* out, const int* in) {
    __shared__ alignas(16) int tile[64];
    const int first = 4 * static_cast<int>(threadIdx.x);
    ptx::cp_async<16>(&tile[first], &in[first + 1]);
    ptx::cp_async_wait_all();
    out[first] = tile[first];
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
    kernel<<<1, 15>>>(out, in);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
