// SPDX-License-Identifier: MIT
// verdict: correct
// The first lane fences what __syncwarp() handed to it, and raises the flag of its warp.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out, int n) {
    const int t = static_cast<int>(threadIdx.x);
    volatile int* flag = out + n;
    if (blockIdx.x == 0) {
        out[t] = t;
        __syncwarp();
        if (t == 0) {
            __threadfence();
            *flag = 1;
        }
    } else {
        if (t == 0) {
            while (*flag == 0) {
            }
            __threadfence();
        }
        __syncwarp();
        out[32 + t] = out[31 - t];
    }
}

int main() {
    return run<65>([](int* out) { kernel<<<2, 32>>>(out, 64); },
                   [](int i) { return i < 32 ? i : i < 64 ? 63 - i : 1; });
}
