// SPDX-License-Identifier: MIT
// verdict: race shared volatile_word_for_the_warp.cu:18 volatile_word_for_the_warp.cu:20
// One lane writes a volatile word for the others, and they read it without a __syncwarp().
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cell;
    const int t = static_cast<int>(threadIdx.x);
    volatile int* word = &cell;
    if (t == 7) {
        cell = 0;
    }
    __syncwarp();
    if (t == 7) {
        // The lanes that have gone by keep the 0.
        *word = 42;
    }
    out[t] = *word;
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 32 * sizeof(int));
    kernel<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
    return EXIT_SUCCESS;
}
