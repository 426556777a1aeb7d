// SPDX-License-Identifier: MIT
// verdict: correct
// Reads and writes of one's own cell need no order.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = t;
    for (int i = 0; i < 10; i++) {
        cells[t] = cells[t] + cells[t] % 3;
    }
    const int before = cells[t];
    cells[t] = before;
    out[t] = cells[t] >= t ? 1 : 0;
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }, [](int) { return 1; }); }
