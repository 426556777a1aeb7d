// SPDX-License-Identifier: MIT
// verdict: race shared async_copy_of_two_to_one_place.cu:11 async_copy_of_two_to_one_place.cu:11
// Neighbouring threads copy different elements to the same one.
#include "checker/ptx.h"

#include <cstdlib>

__global__ void kernel(int* out, const int* in) {
    __shared__ int tile[64];
    const int i = static_cast<int>(threadIdx.x);
    ptx::cp_async<4>(&tile[i / 2], &in[i]);
    ptx::cp_async_commit();
    __syncthreads();
    ptx::cp_async_wait<0>();
    __syncthreads();
    out[i] = tile[i / 2];
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
