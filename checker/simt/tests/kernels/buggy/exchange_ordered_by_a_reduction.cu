// SPDX-License-Identifier: MIT
// verdict: race shared exchange_ordered_by_a_reduction.cu:13 exchange_ordered_by_a_reduction.cu:17
// __reduce_add_sync orders no memory.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[32];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 0;
    __syncthreads();
    cells[t] = t;
    if (__reduce_add_sync(0xffffffffU, 1U) == 0) {
        return;
    }
    out[t] = cells[(t + 1) % 32];
}

int main() { return run<32>([](int* out) { kernel<<<1, 32>>>(out); }); }
