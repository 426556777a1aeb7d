// SPDX-License-Identifier: MIT
// verdict: barrier barrier_skipped_by_those_who_then_write.cu:13
// Threads beyond the bounds go round the barrier and then write, which no other thread does.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void reverse_and_pad(int* out, const int* inp, int n) {
    __shared__ int tile[64];
    const int i = static_cast<int>(threadIdx.x);
    if (i < n) {
        tile[i] = inp[i];
        __syncthreads();
        out[i] = tile[n - 1 - i];
    }
    if (i >= n) {
        out[i] = 0;
    }
}

int main() {
    constexpr int n = 50;
    int host[64] = {};
    int *out = nullptr, *inp = nullptr;
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMalloc(&inp, n * sizeof(int));
    cudaMemcpy(inp, host, n * sizeof(int), cudaMemcpyHostToDevice);
    reverse_and_pad<<<1, 64>>>(out, inp, n);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(out);
    cudaFree(inp);
    return host[63] == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
