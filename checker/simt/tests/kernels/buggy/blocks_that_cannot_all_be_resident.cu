// SPDX-License-Identifier: MIT
// verdict: spin blocks_that_cannot_all_be_resident.cu:12
// Each block waits until all have arrived; those that are not resident never do.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__device__ unsigned arrived;

__global__ void kernel(int* out) {
    atomicAdd(&arrived, 1U);
    while (*static_cast<volatile unsigned*>(&arrived) < gridDim.x) {
    }
    out[blockIdx.x] = 1;
}

int main() { return run<40>([](int* out) { kernel<<<40, 1>>>(out); }); }
