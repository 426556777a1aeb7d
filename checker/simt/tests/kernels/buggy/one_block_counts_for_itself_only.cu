// SPDX-License-Identifier: MIT
// verdict: race global one_block_counts_for_itself_only.cu:10 one_block_counts_for_itself_only.cu:12
// One block uses the atomic of its own scope on the number of all.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    if (blockIdx.x == 0) {
        atomicAdd_block(out, 1);
    } else {
        atomicAdd(out, 1);
    }
}

int main() { return run<1>([](int* out) { kernel<<<2, 32>>>(out); }); }
