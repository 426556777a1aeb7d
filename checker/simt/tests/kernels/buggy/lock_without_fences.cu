// SPDX-License-Identifier: MIT
// verdict: race global lock_without_fences.cu:12 lock_without_fences.cu:12
// Who takes the lock may still see what was there before.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    int* lock = out;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    out[1] = out[1] + 1;
    atomicExch(lock, 0);
}

int main() { return run<2>([](int* out) { kernel<<<20, 1>>>(out); }); }
