// SPDX-License-Identifier: MIT
// verdict: barrier barrier_in_a_helper_that_some_leave.cu:14 called at barrier_in_a_helper_that_some_leave.cu:20
// A helper returns before its barrier for the threads without an element, and its caller goes on.
#include <cuda_runtime.h>

#include <cstdlib>

__device__ int neighbour(int* tile, const int* inp, int n) {
    const int i = static_cast<int>(threadIdx.x);
    if (i >= n) {
        return 0;
    }
    tile[i] = inp[i];
    __syncthreads();
    return tile[(i + 1) % n];
}

__global__ void shift(int* out, const int* inp, int n) {
    __shared__ int tile[64];
    const int value = neighbour(tile, inp, n);
    if (threadIdx.x < 60) {
        out[threadIdx.x] = value;
    }
}

int main() {
    constexpr int n = 50;
    int host[64] = {};
    int *out = nullptr, *inp = nullptr;
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMalloc(&inp, n * sizeof(int));
    cudaMemcpy(inp, host, n * sizeof(int), cudaMemcpyHostToDevice);
    shift<<<1, 64>>>(out, inp, n);
    cudaMemcpy(host, out, 60 * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    cudaFree(inp);
    return host[59] == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
