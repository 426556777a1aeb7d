// SPDX-License-Identifier: MIT
// verdict: race shared exchange_ordered_by_a_fence.cu:13 exchange_ordered_by_a_fence.cu:15
// A fence orders what its own thread does; nobody waits at it.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[32];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 0;
    __syncthreads();
    cells[t] = t;
    __threadfence_block();
    out[t] = cells[(t + 1) % 32];
}

int main() { return run<32>([](int* out) { kernel<<<1, 32>>>(out); }); }
