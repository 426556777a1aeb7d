// SPDX-License-Identifier: MIT
// verdict: race shared async_copy_overwritten_before_it_lands.cu:11 async_copy_overwritten_before_it_lands.cu:14
// The tail is set to 0 while the copy of the whole is on its way.
#include "checker/ptx.h"

#include <cstdlib>

__global__ void kernel(int* out, const int* in) {
    __shared__ int tile[64];
    const int i = static_cast<int>(threadIdx.x);
    ptx::cp_async<4>(&tile[i], &in[i]);
    ptx::cp_async_commit();
    if (i >= 60) {
        tile[i] = 0;
    }
    ptx::cp_async_wait<0>();
    __syncthreads();
    out[i] = tile[63 - i];
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
