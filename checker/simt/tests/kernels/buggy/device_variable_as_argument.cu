// SPDX-License-Identifier: MIT
// verdict: host_pointer device_variable_as_argument.cu:12
// Host code gives a kernel the address of a __device__ array, which on a GPU is that of the host's shadow of it.
#include <cuda_runtime.h>

__device__ float table[32];

__global__ void by_name() {
    table[threadIdx.x] = 1.0F;
}
__global__ void fill(float* out) {
    out[threadIdx.x] = 2.0F;
}

int main() {
    by_name<<<1, 32>>>();
    fill<<<1, 32>>>(table);
    cudaDeviceSynchronize();
}
