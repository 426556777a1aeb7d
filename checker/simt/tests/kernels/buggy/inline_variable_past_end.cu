// SPDX-License-Identifier: MIT
// verdict: out_of_bounds global inline_variable_past_end.cu:12
// One thread more than a template's array of device memory has elements.
#include <cuda_runtime.h>

template <int N>
__device__ float table[N];

template <int N>
__global__ void fill() {
    float* row = table<N>;
    row[threadIdx.x] = 1.0F;
}

int main() {
    fill<32><<<1, 33>>>();
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
