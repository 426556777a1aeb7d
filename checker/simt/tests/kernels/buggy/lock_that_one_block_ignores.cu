// SPDX-License-Identifier: MIT
// verdict: race global lock_that_one_block_ignores.cu:14 lock_that_one_block_ignores.cu:14
// The last block adds without the lock.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    int* lock = out;
    const bool polite = blockIdx.x + 1 < gridDim.x;
    while (polite && atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    out[1] = out[1] + 1;
    __threadfence();
    if (polite) {
        atomicExch(lock, 0);
    }
}

int main() { return run<2>([](int* out) { kernel<<<20, 1>>>(out); }); }
