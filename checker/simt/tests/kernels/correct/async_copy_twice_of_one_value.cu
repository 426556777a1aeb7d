// SPDX-License-Identifier: MIT
// verdict: correct
// Threads beyond the tail copy its last element to its place once more: whichever lands last, it is the same value.
#include "checker/ptx.h"

#include <cstdlib>

__global__ void reverse(int* out, const int* in, int n) {
    __shared__ int tile[64];
    const int i = static_cast<int>(threadIdx.x);
    const int last = i < n ? i : n - 1;
    ptx::cp_async<4>(&tile[last], &in[last]);
    ptx::cp_async_wait_all();
    __syncthreads();
    out[i] = i < n ? tile[n - 1 - i] : 0;
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
    reverse<<<1, 64>>>(out, in, 50);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != (i < 50 ? 49 - i : 0)) {
            return EXIT_FAILURE;
        }
    }
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
