// SPDX-License-Identifier: MIT
// verdict: race shared barrier_missing_for_some_sizes.cu:14 barrier_missing_for_some_sizes.cu:20
// With more than 32 threads the sum of the warps needs a barrier.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 0;
    __syncthreads();
    if (t % 32 == 0) {
        cells[t / 32] = t + 1;
    }
    if (blockDim.x <= 32) {
        __syncthreads();
    }
    if (t == 0) {
        out[0] = cells[0] + cells[1];
    }
}

int main() {
    constexpr int n = 64;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<1, 64>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
