// SPDX-License-Identifier: MIT
// verdict: race shared warps_pass_a_number_without_a_fence.cu:15 warps_pass_a_number_without_a_fence.cu:22
// The flag lies in shared memory; what it stands for needs a fence there too.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 0;
    __syncthreads();
    volatile int* flag = cells;
    if (t == 0) {
        cells[1] = 42;
        *flag = 1;
    }
    if (t == 32) {
        while (*flag == 0) {
        }
        __threadfence_block();
        out[0] = cells[1];
    }
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }); }
