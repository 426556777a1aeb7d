// SPDX-License-Identifier: MIT
// verdict: race global flag_with_the_fence_too_early.cu:13 flag_with_the_fence_too_early.cu:19
// The fence lies before what it should release.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    int* data = out;
    volatile int* flag = out + 1;
    if (blockIdx.x == 0) {
        __threadfence();
        *data = 42;
        *flag = 1;
    } else {
        while (*flag == 0) {
        }
        __threadfence();
        out[2] = *data;
    }
}

int main() { return run<4>([](int* out) { kernel<<<2, 1>>>(out); }); }
