// SPDX-License-Identifier: MIT
// verdict: race global last_block_without_a_fence.cu:11 last_block_without_a_fence.cu:16
// The ticket may be seen before the number of the block that drew it.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__device__ unsigned tickets;

__global__ void kernel(int* out) {
    out[1 + blockIdx.x] = 1;
    if (atomicAdd(&tickets, 1U) == gridDim.x - 1) {
        __threadfence();
        int sum = 0;
        for (unsigned b = 0; b < gridDim.x; b++) {
            sum += out[1 + b];
        }
        out[0] = sum;
    }
}

int main() { return run<9>([](int* out) { kernel<<<8, 1>>>(out); }); }
