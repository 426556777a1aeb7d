// SPDX-License-Identifier: MIT
// verdict: uninitialised shared tile_of_threads_that_left.cu:16
// Threads beyond the bounds leave before they have filled their part of the tile, which the others read.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void reverse(int* out, const int* inp, int n) {
    __shared__ int tile[64];
    const int i = static_cast<int>(threadIdx.x);
    if (i >= n) {
        return;
    }
    tile[i] = inp[i];
    __syncthreads();
    out[i] = tile[63 - i];
}

int main() {
    constexpr int n = 50;
    int host[n] = {};
    int *out = nullptr, *inp = nullptr;
    cudaMalloc(&out, sizeof host);
    cudaMalloc(&inp, sizeof host);
    cudaMemcpy(inp, host, sizeof host, cudaMemcpyHostToDevice);
    reverse<<<1, 64>>>(out, inp, n);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(out);
    cudaFree(inp);
    return host[49] == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
