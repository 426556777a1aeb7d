// SPDX-License-Identifier: MIT
// verdict: race shared barrier_missing_in_the_last_block.cu:13 barrier_missing_in_the_last_block.cu:17
// All blocks but the last one wait.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 0;
    __syncthreads();
    cells[t] = t;
    if (blockIdx.x + 1 < gridDim.x) {
        __syncthreads();
    }
    out[64 * blockIdx.x + t] = cells[63 - t];
}

int main() { return run<320>([](int* out) { kernel<<<5, 64>>>(out); }); }
