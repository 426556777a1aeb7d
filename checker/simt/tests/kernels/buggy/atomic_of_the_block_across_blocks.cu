// SPDX-License-Identifier: MIT
// verdict: race global atomic_of_the_block_across_blocks.cu:9 atomic_of_the_block_across_blocks.cu:9
// atomicAdd_block is atomic for the threads of one block.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    atomicAdd_block(out, 1);
}

int main() { return run<1>([](int* out) { kernel<<<4, 32>>>(out); }); }
