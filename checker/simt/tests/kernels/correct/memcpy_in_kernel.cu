// SPDX-License-Identifier: MIT
// verdict: correct
// memcpy of a length known when the kernel runs, and an array of each thread.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void copy(int* out, int count) {
    int mine[8];
    for (int i = 0; i < 8; i++) {
        mine[i] = static_cast<int>(threadIdx.x) + i;
    }
    memcpy(out + threadIdx.x * count, mine, count * sizeof(int));
}

int main() { return run<64>([](int* out) { copy<<<1, 8>>>(out, 8); }, [](int i) { return i / 8 + i % 8; }); }
