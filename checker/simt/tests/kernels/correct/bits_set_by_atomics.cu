// SPDX-License-Identifier: MIT
// verdict: correct
// Each thread sets its own bit of a word.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    if (t < 2) {
        cells[t] = 0;
    }
    __syncthreads();
    atomicOr(&cells[t / 32], 1 << t % 32);
    __syncthreads();
    out[t] = cells[t / 32];
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }, [](int) { return -1; }); }
