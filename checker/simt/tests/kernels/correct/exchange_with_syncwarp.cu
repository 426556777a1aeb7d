// SPDX-License-Identifier: MIT
// verdict: correct
// Lanes exchange through shared memory, with __syncwarp() between.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[32];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = t;
    __syncwarp();
    out[t] = cells[(t + 1) % 32];
}

int main() { return run<32>([](int* out) { kernel<<<1, 32>>>(out); }, [](int i) { return (i + 1) % 32; }); }
