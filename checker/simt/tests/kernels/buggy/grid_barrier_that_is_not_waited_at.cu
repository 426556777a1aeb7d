// SPDX-License-Identifier: MIT
// verdict: race global grid_barrier_that_is_not_waited_at.cu:11 grid_barrier_that_is_not_waited_at.cu:15
// Blocks say that they have arrived, and go on.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__device__ unsigned arrived;

__global__ void kernel(int* out) {
    out[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
    __threadfence();
    atomicAdd(&arrived, 1U);
    if (blockIdx.x == 0) {
        out[8] = out[7];
    }
}

int main() { return run<9>([](int* out) { kernel<<<8, 1>>>(out); }); }
