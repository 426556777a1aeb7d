// SPDX-License-Identifier: MIT
// verdict: leak leak.cu:8
// A buffer that is never freed.
#include <cuda_runtime.h>

int main() {
    float* x = nullptr;
    cudaMalloc(&x, 32 * sizeof(float));
    cudaMemset(x, 0, 32 * sizeof(float));
}
