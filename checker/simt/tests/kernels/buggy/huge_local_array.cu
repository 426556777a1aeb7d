// SPDX-License-Identifier: MIT
// verdict: stack_overflow local huge_local_array.cu:6
// An array of a thread that is larger than its stack: far beyond the page that guards it.
#include <cuda_runtime.h>

__global__ void fill(float* out) {
    volatile float values[1 << 17];
    values[threadIdx.x] = 1.0F;
    out[threadIdx.x] = values[threadIdx.x];
}

int main() {
    float* out = nullptr;
    cudaMalloc(&out, 32 * sizeof(float));
    fill<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
