// SPDX-License-Identifier: MIT
// verdict: race global only_thread_0_fences_before_the_barrier.cu:13 only_thread_0_fences_before_the_barrier.cu:26
// The other threads wrote too, and none fenced that.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__device__ unsigned tickets;

__global__ void kernel(int* out) {
    __shared__ bool last;
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[1 + i] = 1;
    if (threadIdx.x == 0) {
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(&tickets, 1U) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        int sum = 0;
        for (unsigned k = 0; k < gridDim.x * blockDim.x; k++) {
            sum += out[1 + k];
        }
        out[0] = sum;
    }
}

int main() { return run<257>([](int* out) { kernel<<<4, 64>>>(out); }); }
