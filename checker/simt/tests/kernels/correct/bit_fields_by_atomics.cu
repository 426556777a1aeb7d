// SPDX-License-Identifier: MIT
// verdict: correct
// Two fields of one word are changed by atomics.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    if (threadIdx.x % 2 == 0) {
        atomicAdd(out, 1);
    } else {
        atomicAdd(out, 1 << 16);
    }
}

int main() { return run<1>([](int* out) { kernel<<<2, 64>>>(out); }, [](int) { return 64 << 16 | 64; }); }
