// SPDX-License-Identifier: MIT
// verdict: out_of_bounds global async_copy_past_end_of_source.cu:11
// The last row is shorter than the tile, and nothing is said of zeros.
#include "checker/ptx.h"

#include <cstdlib>

__global__ void kernel(int* out, const int* in) {
    __shared__ alignas(16) int tile[64];
    const int first = 4 * static_cast<int>(threadIdx.x);
    ptx::cp_async<16>(&tile[first], &in[16 + first]);
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
    kernel<<<1, 16>>>(out, in);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
