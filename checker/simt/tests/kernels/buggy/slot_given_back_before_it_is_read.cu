// SPDX-License-Identifier: MIT
// verdict: race global slot_given_back_before_it_is_read.cu:18 slot_given_back_before_it_is_read.cu:24
// The consumer says that it is done before it has read.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    volatile int* full = out + 1;
    volatile int* empty = out + 2;
    if (blockIdx.x == 0) {
        out[0] = 1;
        __threadfence();
        *full = 1;
        while (*empty == 0) {
        }
        __threadfence();
        out[0] = 2;
    } else {
        while (*full == 0) {
        }
        __threadfence();
        *empty = 1;
        out[3] = out[0];
    }
}

int main() { return run<4>([](int* out) { kernel<<<2, 1>>>(out); }); }
