// SPDX-License-Identifier: MIT
// verdict: race global two_locks_for_one_number.cu:13 two_locks_for_one_number.cu:13
// Even and odd blocks take different locks.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    int* lock = out + blockIdx.x % 2;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    out[2] = out[2] + 1;
    __threadfence();
    atomicExch(lock, 0);
}

int main() { return run<3>([](int* out) { kernel<<<20, 1>>>(out); }); }
