// SPDX-License-Identifier: MIT
// verdict: out_of_bounds global device_variable_past_end.cu:9 called at device_variable_past_end.cu:13
// Five threads fill a table of four, through a pointer.
#include <cuda_runtime.h>

__device__ float table[4];

__device__ void set(float* x, int i) {
    x[i] = 1.0F;
}

__global__ void fill() {
    set(table, static_cast<int>(threadIdx.x));
}

int main() {
    fill<<<1, 5>>>();
    cudaDeviceSynchronize();
}
