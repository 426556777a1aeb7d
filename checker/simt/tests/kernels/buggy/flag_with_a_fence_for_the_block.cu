// SPDX-License-Identifier: MIT
// verdict: race global flag_with_a_fence_for_the_block.cu:12 flag_with_a_fence_for_the_block.cu:19
// __threadfence_block() orders memory for threads of the same block only.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    int* data = out;
    volatile int* flag = out + 1;
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence_block();
        *flag = 1;
    } else {
        while (*flag == 0) {
        }
        __threadfence();
        out[2] = *data;
    }
}

int main() { return run<4>([](int* out) { kernel<<<2, 1>>>(out); }); }
