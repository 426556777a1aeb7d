// SPDX-License-Identifier: MIT
// verdict: correct
// Threads of all warps exchange, with a barrier between.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[96];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = t;
    __syncthreads();
    out[t] = cells[95 - t];
}

int main() {
    constexpr int n = 96;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<1, 96>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 95 - i) {
            return EXIT_FAILURE;
        }
    }
}
