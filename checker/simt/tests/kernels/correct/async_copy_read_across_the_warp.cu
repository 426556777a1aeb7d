// SPDX-License-Identifier: MIT
// verdict: correct
// Between the lanes of a warp __syncwarp() behind the wait is enough.
#include "checker/ptx.h"

#include <cstdlib>

__global__ void reverse(int* out, const int* in) {
    __shared__ int tile[128];
    const int i = static_cast<int>(threadIdx.x);
    ptx::cp_async<4>(&tile[i], &in[i]);
    ptx::cp_async_wait_all();
    __syncwarp();
    out[i] = tile[i ^ 31];
}

int main() {
    constexpr int n = 128;
    int host[n];
    for (int i = 0; i < n; i++) { host[i] = i; }
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMemcpy(in, host, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, n * sizeof(int));
    reverse<<<1, 128>>>(out, in);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != (i ^ 31)) {
            return EXIT_FAILURE;
        }
    }
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
