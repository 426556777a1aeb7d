// SPDX-License-Identifier: MIT
// verdict: race global sum_of_blocks_without_an_atomic.cu:10 sum_of_blocks_without_an_atomic.cu:10
// One thread a block adds to the sum of all.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    if (threadIdx.x == 0) {
        *out += static_cast<int>(blockIdx.x);
    }
}

int main() { return run<1>([](int* out) { kernel<<<8, 32>>>(out); }); }
