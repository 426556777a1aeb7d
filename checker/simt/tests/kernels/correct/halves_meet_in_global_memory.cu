// SPDX-License-Identifier: MIT
// verdict: correct
// The same exchange within halves of a warp, through global memory.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    const int t = static_cast<int>(threadIdx.x);
    const unsigned half = t < 16 ? 0x0000ffffU : 0xffff0000U;
    int* cell = out + 32 + t / 16;
    int sum = 0;
    for (int round = 0; round < 5; round++) {
        sum += *cell;
        __syncwarp(half);
        if (t % 16 == round) {
            *cell += 1;
        }
        __syncwarp(half);
    }
    out[t] = sum;
}

int main() { return run<34>([](int* out) { kernel<<<1, 32>>>(out); }, [](int i) { return i < 32 ? 10 : 5; }); }
