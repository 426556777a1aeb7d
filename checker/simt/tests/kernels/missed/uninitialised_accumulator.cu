// SPDX-License-Identifier: MIT
// verdict: correct
// bug: uninitialised
// An array of one thread is added to before anything is in it.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void sums(float* out, const float* inp, int parts) {
    float partial[4];
    for (int i = 0; i < 64; i++) {
        partial[i % parts] += inp[i];
    }
    out[threadIdx.x] = partial[threadIdx.x % parts];
}

int main() {
    float *out = nullptr, *inp = nullptr;
    cudaMalloc(&out, 32 * sizeof(float));
    cudaMalloc(&inp, 64 * sizeof(float));
    cudaMemset(inp, 0, 64 * sizeof(float));
    sums<<<1, 32>>>(out, inp, 4);
    cudaFree(out);
    cudaFree(inp);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
