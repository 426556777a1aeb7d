// SPDX-License-Identifier: MIT
// verdict: correct
// All read what one wrote, before a barrier it is written again.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    int sum = 0;
    for (int i = 0; i < 5; i++) {
        if (t == i) {
            cells[0] = 10 * i;
        }
        __syncthreads();
        sum += cells[0];
        __syncthreads();
    }
    out[t] = sum;
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }, [](int) { return 100; }); }
