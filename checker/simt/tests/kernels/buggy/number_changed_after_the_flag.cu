// SPDX-License-Identifier: MIT
// verdict: race global number_changed_after_the_flag.cu:15 number_changed_after_the_flag.cu:20
// The number is changed once more behind its flag.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    int* data = out;
    volatile int* flag = out + 1;
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        *flag = 1;
        *data = 43;
    } else {
        while (*flag == 0) {
        }
        __threadfence();
        out[2] = *data;
    }
}

int main() { return run<4>([](int* out) { kernel<<<2, 1>>>(out); }); }
