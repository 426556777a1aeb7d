// SPDX-License-Identifier: MIT
// verdict: race global grid_barrier_without_fences.cu:11 grid_barrier_without_fences.cu:16
// Blocks wait for each other, but nobody fences what was written before.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__device__ unsigned arrived;

__global__ void kernel(int* out) {
    out[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
    atomicAdd(&arrived, 1U);
    while (*static_cast<volatile unsigned*>(&arrived) < gridDim.x) {
    }
    __threadfence();
    out[8 + blockIdx.x] = out[(blockIdx.x + 1) % gridDim.x];
}

int main() { return run<16>([](int* out) { kernel<<<8, 1>>>(out); }); }
