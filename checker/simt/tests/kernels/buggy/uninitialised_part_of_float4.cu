// SPDX-License-Identifier: MIT
// verdict: uninitialised global uninitialised_part_of_float4.cu:11
// Three of four floats are written, and all four read at once.
#include <cuda_runtime.h>

__global__ void write_three(float* x) {
    x[0] = x[1] = x[2] = 1.0F;
}

__global__ void read_four(float4* out, const float4* inp) {
    *out = *inp;
}

int main() {
    float4 *x = nullptr, *out = nullptr;
    cudaMalloc(&x, sizeof(float4));
    cudaMalloc(&out, sizeof(float4));
    write_three<<<1, 1>>>(reinterpret_cast<float*>(x));
    read_four<<<1, 1>>>(out, x);
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(out);
}
