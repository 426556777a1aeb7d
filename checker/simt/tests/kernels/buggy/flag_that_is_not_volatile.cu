// SPDX-License-Identifier: MIT
// verdict: race global flag_that_is_not_volatile.cu:14 flag_that_is_not_volatile.cu:16
// The flag is written with a plain store.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    int* data = out;
    volatile int* flag = out + 1;
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        out[1] = 1;
    } else {
        while (*flag == 0) {
        }
        out[2] = 1;
    }
}

int main() { return run<4>([](int* out) { kernel<<<2, 1>>>(out); }); }
