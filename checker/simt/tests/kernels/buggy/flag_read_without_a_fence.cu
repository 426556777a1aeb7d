// SPDX-License-Identifier: MIT
// verdict: race global flag_read_without_a_fence.cu:12 flag_read_without_a_fence.cu:18
// The number may be read before the flag.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    int* data = out;
    volatile int* flag = out + 1;
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0) {
        }
        out[2] = *data;
    }
}

int main() { return run<4>([](int* out) { kernel<<<2, 1>>>(out); }); }
