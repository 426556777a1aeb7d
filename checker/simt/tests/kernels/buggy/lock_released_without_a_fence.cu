// SPDX-License-Identifier: MIT
// verdict: race global lock_released_without_a_fence.cu:13 lock_released_without_a_fence.cu:13
// The lock may be seen free before what was done under it.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    int* lock = out;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    out[1] = out[1] + 1;
    atomicExch(lock, 0);
}

int main() { return run<2>([](int* out) { kernel<<<20, 1>>>(out); }); }
