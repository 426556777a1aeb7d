// SPDX-License-Identifier: MIT
// verdict: collective shuffle_of_odd_width.cu:7
// The width of a shuffle is a power of two.
#include <cuda_runtime.h>

__global__ void shuffle(int* out) {
    out[threadIdx.x] = __shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x), 1, 12);
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 32 * sizeof(int));
    shuffle<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
