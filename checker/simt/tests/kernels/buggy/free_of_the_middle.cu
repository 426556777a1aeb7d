// SPDX-License-Identifier: MIT
// verdict: invalid_free free_of_the_middle.cu:11
// verdict: leak free_of_the_middle.cu:9
// The pointer that is freed has moved on.
#include <cuda_runtime.h>

int main() {
    float* x = nullptr;
    cudaMalloc(&x, 32 * sizeof(float));
    x += 4;
    cudaFree(x);
}
