// SPDX-License-Identifier: MIT
// verdict: correct
// A reduction in shared memory with __syncwarp() after each step.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[32];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = t;
    __syncwarp();
    for (int half = 16; half > 0; half /= 2) {
        if (t < half) {
            cells[t] += cells[t + half];
        }
        __syncwarp();
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
    for (int i = 0; i < n; i++) {
        if (host[i] != 496) {
            return EXIT_FAILURE;
        }
    }
}
