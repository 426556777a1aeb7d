// SPDX-License-Identifier: MIT
// verdict: collective last_warp_is_short.cu:9
// A sum over 32 lanes in a block of 48 threads.
#include <cuda_runtime.h>

__global__ void sum(float* out) {
    float value = 1.0F;
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_down_sync(0xffffffffU, value, offset);
    }
    if (threadIdx.x % 32 == 0) {
        out[threadIdx.x / 32] = value;
    }
}

int main() {
    float* out = nullptr;
    cudaMalloc(&out, 2 * sizeof(float));
    sum<<<1, 48>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
