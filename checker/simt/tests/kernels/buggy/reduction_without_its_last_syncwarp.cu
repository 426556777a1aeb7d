// SPDX-License-Identifier: MIT
// verdict: race shared reduction_without_its_last_syncwarp.cu:17 reduction_without_its_last_syncwarp.cu:23
// All lanes read the sum, which the first one has just written.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[32];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 0;
    __syncthreads();
    cells[t] = t;
    __syncwarp();
    for (int half = 16; half > 0; half /= 2) {
        if (t < half) {
            cells[t] += cells[t + half];
        }
        if (half > 1) {
            __syncwarp();
        }
    }
    out[t] = cells[0];
}

int main() {
    constexpr int n = 32;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<1, 32>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
