// SPDX-License-Identifier: MIT
// verdict: double_free double_free.cu:11
// Two owners of one buffer.
#include <cuda_runtime.h>

int main() {
    float* x = nullptr;
    cudaMalloc(&x, 32 * sizeof(float));
    float* same = x;
    cudaFree(x);
    cudaFree(same);
}
