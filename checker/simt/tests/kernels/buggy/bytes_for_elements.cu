// SPDX-License-Identifier: MIT
// verdict: misaligned global bytes_for_elements.cu:9
// A pointer to bytes is moved on by elements, and read as floats.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void second(float* out, const char* bytes) {
    *out = *reinterpret_cast<const float*>(bytes + 1);
}

int main() {
    float* x = nullptr;
    cudaMalloc(&x, 4 * sizeof(float));
    cudaMemset(x, 0, 4 * sizeof(float));
    second<<<1, 1>>>(x, reinterpret_cast<const char*>(x));
    cudaFree(x);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
