// SPDX-License-Identifier: MIT
// verdict: null_pointer null_pointer.cu:7
// The output was never allocated.
#include <cuda_runtime.h>

__global__ void fill(float* out) {
    out[threadIdx.x] = 1.0F;
}

int main() {
    float* out = nullptr;
    fill<<<1, 32>>>(out);
    cudaDeviceSynchronize();
}
