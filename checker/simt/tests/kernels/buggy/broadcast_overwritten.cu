// SPDX-License-Identifier: MIT
// verdict: race shared broadcast_overwritten.cu:16 broadcast_overwritten.cu:19
// Thread 0 puts the next value where others still read the last one.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 0;
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        if (t == 0) {
            cells[0] = i;
        }
        __syncthreads();
        sum += cells[0];
    }
    out[t] = sum;
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
