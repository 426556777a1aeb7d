// SPDX-License-Identifier: MIT
// verdict: correct
// A reduction in shared memory with __syncwarp() after each step.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[32];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = t;
    __syncwarp();
    for (int half = 16; half > 0; half /= 2) {
        if (t < half) {
            cells[t] += cells[t + half];
        }
        __syncwarp();
    }
    out[t] = cells[0];
}

int main() { return run<32>([](int* out) { kernel<<<1, 32>>>(out); }, [](int) { return 496; }); }
