// SPDX-License-Identifier: MIT
// verdict: barrier barrier_in_a_loop_that_some_leave.cu:15
// Some threads of a warp have fewer elements: they leave the loop with the barrier and write their sums, and the
// others still wait in it.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void sums(int* out, const int* inp, int n) {
    __shared__ int tile[32];
    int sum = 0;
    for (int i = static_cast<int>(threadIdx.x); i < n; i += 32) {
        tile[threadIdx.x] = inp[i];
        sum += tile[threadIdx.x];
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}

int main() {
    constexpr int n = 80;
    int host[n] = {};
    int *out = nullptr, *inp = nullptr;
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMalloc(&inp, n * sizeof(int));
    cudaMemcpy(inp, host, sizeof host, cudaMemcpyHostToDevice);
    sums<<<1, 32>>>(out, inp, n);
    cudaMemcpy(host, out, 32 * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    cudaFree(inp);
    return host[31] == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
