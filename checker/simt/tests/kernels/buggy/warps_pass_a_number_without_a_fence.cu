// SPDX-License-Identifier: MIT
// verdict: race shared warps_pass_a_number_without_a_fence.cu:15 warps_pass_a_number_without_a_fence.cu:22
// The flag lies in shared memory; what it stands for needs a fence there too.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 0;
    __syncthreads();
    volatile int* flag = cells;
    if (t == 0) {
        cells[1] = 42;
        *flag = 1;
    }
    if (t == 32) {
        while (*flag == 0) {
        }
        __threadfence_block();
        out[0] = cells[1];
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
