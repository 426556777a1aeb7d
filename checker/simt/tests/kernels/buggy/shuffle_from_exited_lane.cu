// SPDX-License-Identifier: MIT
// verdict: collective shuffle_from_exited_lane.cu:12
// The upper half of the warp has left before the sum over all of it.
#include <cuda_runtime.h>

__global__ void sum(float* out, int n) {
    if (threadIdx.x >= static_cast<unsigned>(n)) {
        return;
    }
    float value = 1.0F;
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_down_sync(0xffffffffU, value, offset);
    }
    if (threadIdx.x == 0) {
        *out = value;
    }
}

int main() {
    float* out = nullptr;
    cudaMalloc(&out, sizeof(float));
    sum<<<1, 32>>>(out, 16);
    cudaDeviceSynchronize();
    cudaFree(out);
}
