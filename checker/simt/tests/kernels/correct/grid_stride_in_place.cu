// SPDX-License-Identifier: MIT
// verdict: correct
// Each element is updated by one thread, whatever the grid.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out, int n) {
    const int stride = static_cast<int>(gridDim.x * blockDim.x);
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += stride) {
        out[i] += i;
        out[i] *= 2;
    }
}

int main() {
    constexpr int n = 1000;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<3, 64>>>(out, n);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 2 * i) {
            return EXIT_FAILURE;
        }
    }
}
