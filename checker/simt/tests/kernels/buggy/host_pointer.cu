// SPDX-License-Identifier: MIT
// verdict: host_pointer host_pointer.cu:9
// The kernel gets the host's array.
#include <cuda_runtime.h>

#include <vector>

__global__ void twice(float* out, const float* inp) {
    out[threadIdx.x] = 2.0F * inp[threadIdx.x];
}

int main() {
    std::vector<float> inp(32, 1.0F);
    float* out = nullptr;
    cudaMalloc(&out, 32 * sizeof(float));
    twice<<<1, 32>>>(out, inp.data());
    cudaDeviceSynchronize();
    cudaFree(out);
}
