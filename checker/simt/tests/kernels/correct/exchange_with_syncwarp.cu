// SPDX-License-Identifier: MIT
// verdict: correct
// Lanes exchange through shared memory, with __syncwarp() between.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[32];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = t;
    __syncwarp();
    out[t] = cells[(t + 1) % 32];
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
    for (int i = 0; i < n; i++) {
        if (host[i] != (i + 1) % 32) {
            return EXIT_FAILURE;
        }
    }
}
