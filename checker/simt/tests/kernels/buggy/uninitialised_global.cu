// SPDX-License-Identifier: MIT
// verdict: uninitialised global uninitialised_global.cu:8
// A sum into memory that nobody has set to zero.
#include <cuda_runtime.h>

__global__ void add(float* sum, const float* inp, int n) {
    for (int i = 0; i < n; i++) {
        *sum += inp[i];
    }
}

int main() {
    float *sum = nullptr, *inp = nullptr;
    cudaMalloc(&sum, sizeof(float));
    cudaMalloc(&inp, 8 * sizeof(float));
    cudaMemset(inp, 0, 8 * sizeof(float));
    add<<<1, 1>>>(sum, inp, 8);
    cudaDeviceSynchronize();
    cudaFree(sum);
    cudaFree(inp);
}
