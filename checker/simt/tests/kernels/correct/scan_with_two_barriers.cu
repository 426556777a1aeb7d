// SPDX-License-Identifier: MIT
// verdict: correct
// Each step of the scan reads all, waits, writes, and waits.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 1;
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        const int before = t >= step ? cells[t - step] : 0;
        __syncthreads();
        cells[t] += before;
        __syncthreads();
    }
    out[t] = cells[t];
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }, [](int i) { return i + 1; }); }
