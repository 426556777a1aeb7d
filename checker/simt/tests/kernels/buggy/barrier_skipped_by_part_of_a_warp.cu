// SPDX-License-Identifier: MIT
// verdict: barrier barrier_skipped_by_part_of_a_warp.cu:14
// The barrier stands in the check of the bounds, and the threads beyond them go on behind it.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void reverse(int* out, int* seen, const int* inp, int n) {
    __shared__ int tile[64];
    const int i = static_cast<int>(threadIdx.x);
    if (i < n) {
        tile[i] = inp[i];
        // __syncthreads() belongs behind the check
        __syncthreads();
        out[i] = tile[n - 1 - i];
    }
    seen[i] = 1;
}

int main() {
    constexpr int n = 50;
    int host[64] = {};
    int *out = nullptr, *seen = nullptr, *inp = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMalloc(&seen, 64 * sizeof(int));
    cudaMalloc(&inp, n * sizeof(int));
    cudaMemcpy(inp, host, n * sizeof(int), cudaMemcpyHostToDevice);
    reverse<<<1, 64>>>(out, seen, inp, n);
    cudaMemcpy(host, seen, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(out);
    cudaFree(seen);
    cudaFree(inp);
    return host[63] == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
