// SPDX-License-Identifier: MIT
// verdict: race global flag_by_an_atomic_without_a_fence.cu:11 flag_by_an_atomic_without_a_fence.cu:16
// An atomic orders nothing but itself.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    int* data = out;
    if (blockIdx.x == 0) {
        *data = 42;
        atomicExch(out + 1, 1);
    } else {
        while (atomicAdd(out + 1, 0) == 0) {
        }
        out[2] = *data;
    }
}

int main() { return run<4>([](int* out) { kernel<<<2, 1>>>(out); }); }
