// SPDX-License-Identifier: MIT
// verdict: uninitialised shared reduction_of_a_short_block.cu:14
// A tree over 128 elements of shared memory, of which 96 threads write 96.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void sum(float* out, const float* inp) {
    __shared__ float tile[128];
    tile[threadIdx.x] = inp[threadIdx.x];
    __syncthreads();
    for (unsigned int step = 64; step > 0; step /= 2) {
        if (threadIdx.x < step) {
            tile[threadIdx.x] += tile[threadIdx.x + step];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        *out = tile[0];
    }
}

int main() {
    float* x = nullptr;
    cudaMalloc(&x, 97 * sizeof(float));
    cudaMemset(x, 0, 97 * sizeof(float));
    sum<<<1, 96>>>(x + 96, x);
    cudaFree(x);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
