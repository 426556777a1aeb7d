// SPDX-License-Identifier: MIT
// verdict: correct
// __syncthreads_count and its like order memory as __syncthreads does.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = t;
    const int count = __syncthreads_count(t % 2);
    const int first = cells[63 - t];
    const int all = __syncthreads_and(1);
    cells[t] = first + count + all;
    __syncthreads_or(0);
    out[t] = cells[t ^ 32];
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }, [](int i) { return 63 - (i ^ 32) + 33; }); }
