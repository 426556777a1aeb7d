// SPDX-License-Identifier: MIT
// verdict: barrier barriers_in_a_ragged_loop.cu:12
// Threads wait in a loop, some of them once more than the others, who wait behind it.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void sums(float* out, const float* inp, int n) {
    float sum = 0.0F;
    for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) {
        sum += inp[i];
        __syncthreads();
    }
    out[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        out[0] += out[1];
    }
}

int main() {
    constexpr int n = 70;
    float *out = nullptr, *inp = nullptr;
    cudaMalloc(&out, 64 * sizeof(float));
    cudaMalloc(&inp, n * sizeof(float));
    cudaMemset(inp, 0, n * sizeof(float));
    sums<<<1, 64>>>(out, inp, n);
    cudaDeviceSynchronize();
    cudaFree(out);
    cudaFree(inp);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
