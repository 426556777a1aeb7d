// SPDX-License-Identifier: MIT
// verdict: correct
// Threads of all warps exchange, with a barrier between.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[96];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = t;
    __syncthreads();
    out[t] = cells[95 - t];
}

int main() { return run<96>([](int* out) { kernel<<<1, 96>>>(out); }, [](int i) { return 95 - i; }); }
