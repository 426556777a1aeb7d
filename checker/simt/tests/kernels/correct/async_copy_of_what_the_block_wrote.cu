// SPDX-License-Identifier: MIT
// verdict: correct
// What a block has written to global memory may be copied behind a barrier, and written again behind one more.
#include "checker/ptx.h"

#include <cstdlib>

__global__ void rounds(int* out) {
    __shared__ int tile[64];
    const int i = static_cast<int>(threadIdx.x);
    out[i] = i;
    for (int round = 0; round < 4; round++) {
        __syncthreads();
        ptx::cp_async<4>(&tile[i], &out[i]);
        ptx::cp_async_commit();
        ptx::cp_async_wait<0>();
        __syncthreads();
        out[i] = tile[63 - i] + 1;
    }
}

int main() {
    constexpr int n = 64;
    int host[n];
    int *out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    rounds<<<1, 64>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != i + 4) {
            return EXIT_FAILURE;
        }
    }
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
