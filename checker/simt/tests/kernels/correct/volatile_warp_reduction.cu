// SPDX-License-Identifier: MIT
// verdict: correct
// The old way to write a reduction, with volatile and with __syncwarp().
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[32];
    const int t = static_cast<int>(threadIdx.x);
    volatile int* v = cells;
    v[t] = t;
    __syncwarp();
    for (int half = 16; half > 0; half /= 2) {
        const int sum = v[t] + v[t + half < 32 ? t + half : t];
        __syncwarp();
        v[t] = sum;
        __syncwarp();
    }
    out[t] = v[0];
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
