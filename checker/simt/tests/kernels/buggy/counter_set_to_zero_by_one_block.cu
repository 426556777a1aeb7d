// SPDX-License-Identifier: MIT
// verdict: race global counter_set_to_zero_by_one_block.cu:10 counter_set_to_zero_by_one_block.cu:13
// The first block sets the counter to zero, when others may have counted.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *out = 0;
    }
    __syncthreads();
    atomicAdd(out, 1);
}

int main() { return run<1>([](int* out) { kernel<<<4, 32>>>(out); }); }
