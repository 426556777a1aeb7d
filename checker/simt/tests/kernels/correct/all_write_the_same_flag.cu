// SPDX-License-Identifier: MIT
// verdict: correct
// Threads that find something write one and the same value.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    if (t == 0) {
        cells[0] = 0;
    }
    __syncthreads();
    if (t % 3 == 0) {
        cells[0] = 1;
    }
    __syncthreads();
    out[t] = cells[0];
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }, [](int) { return 1; }); }
