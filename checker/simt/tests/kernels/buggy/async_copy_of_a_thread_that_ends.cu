// SPDX-License-Identifier: MIT
// verdict: uninitialised shared async_copy_of_a_thread_that_ends.cu:17
// The second warp copies for the first and ends without a wait.
#include "checker/ptx.h"

#include <cstdlib>

__global__ void kernel(int* out, const int* in) {
    __shared__ int tile[32];
    const int i = static_cast<int>(threadIdx.x);
    if (i >= 32) {
        ptx::cp_async<4>(&tile[i - 32], &in[i]);
        ptx::cp_async_commit();
        return;
    }
    __syncthreads();
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
    kernel<<<1, 64>>>(out, in);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
