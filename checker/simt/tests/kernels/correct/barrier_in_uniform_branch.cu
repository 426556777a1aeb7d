// SPDX-License-Identifier: MIT
// verdict: correct
// A barrier in a branch that all threads of a block take, and a loop whose length differs between blocks.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void wait(int* out) {
    __shared__ int sum;
    if (threadIdx.x == 0) {
        sum = 0;
    }
    __syncthreads();
    for (unsigned k = 0; k <= blockIdx.x; k++) {
        if (blockIdx.x % 2 == 0) {
            __syncthreads();
        }
        atomicAdd(&sum, 1);
    }
    __syncthreads();
    out[blockIdx.x * 32 + threadIdx.x] = sum;
}

int main() { return run<128>([](int* out) { wait<<<4, 32>>>(out); }, [](int i) { return (i / 32 + 1) * 32; }); }
