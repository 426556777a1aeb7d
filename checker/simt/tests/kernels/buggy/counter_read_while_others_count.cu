// SPDX-License-Identifier: MIT
// verdict: race global counter_read_while_others_count.cu:9 counter_read_while_others_count.cu:11
// A plain read of what other threads change atomically.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    atomicAdd(out, 1);
    if (threadIdx.x == 0) {
        out[1 + blockIdx.x] = *out;
    }
}

int main() { return run<3>([](int* out) { kernel<<<2, 32>>>(out); }); }
