// SPDX-License-Identifier: MIT
// verdict: correct
// What one launch writes, the next one reads anywhere.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* to, const int* from, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    to[i] = from[(i + 1) % n] + 1;
}

int main() {
    constexpr int n = 128;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    int* other = nullptr;
    cudaMalloc(&other, n * sizeof(int));
    for (int step = 0; step < 3; step++) {
        kernel<<<4, 32>>>(other, out, n);
        kernel<<<4, 32>>>(out, other, n);
    }
    cudaFree(other);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 6) {
            return EXIT_FAILURE;
        }
    }
}
