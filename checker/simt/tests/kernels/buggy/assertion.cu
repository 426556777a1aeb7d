// SPDX-License-Identifier: MIT
// verdict: assertion assertion.cu:9
// A token outside the vocabulary.
#include <cuda_runtime.h>

#include <cassert>

__global__ void look_up(int* out, int token, int V) {
    assert(token < V);
    *out = token;
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, sizeof(int));
    look_up<<<1, 1>>>(out, 101, 101);
    cudaDeviceSynchronize();
    cudaFree(out);
}
