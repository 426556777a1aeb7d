// SPDX-License-Identifier: MIT
// verdict: race global static_variable_without_atomics.cu:10 called at static_variable_without_atomics.cu:14 static_variable_without_atomics.cu:10 called at static_variable_without_atomics.cu:14
// A static variable of device code is one for all threads, which add to it without atomics.
#include <cuda_runtime.h>

#include <cstdlib>

__device__ int ticket() {
    static int next = 0;
    return next++;
}

__global__ void take(int* out) {
    out[threadIdx.x] = ticket();
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 64 * sizeof(int));
    take<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
    return EXIT_SUCCESS;
}
