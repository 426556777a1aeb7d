// SPDX-License-Identifier: MIT
// verdict: correct
// Bins in shared memory, then one atomic a bin and block.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void histogram(int* out) {
    __shared__ int bins[16];
    if (threadIdx.x < 16) {
        bins[threadIdx.x] = 0;
    }
    __syncthreads();
    atomicAdd(&bins[(threadIdx.x * 7) % 16], 1);
    __syncthreads();
    if (threadIdx.x < 16) {
        atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
    }
}

int main() { return run<16>([](int* out) { histogram<<<4, 128>>>(out); }, [](int) { return 32; }); }
