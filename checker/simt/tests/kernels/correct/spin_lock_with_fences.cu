// SPDX-License-Identifier: MIT
// verdict: correct
// A lock around plain reads and writes, with a fence behind taking it and one before giving it back.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    int* lock = out;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    out[1] = out[1] + 1;
    __threadfence();
    atomicExch(lock, 0);
}

int main() { return run<2>([](int* out) { kernel<<<50, 1>>>(out); }, [](int i) { return 50 * i; }); }
