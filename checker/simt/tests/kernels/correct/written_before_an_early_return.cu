// SPDX-License-Identifier: MIT
// verdict: correct
// Half of the threads write and leave; the others wait, and read that.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = t;
    if (t % 2 == 1) {
        out[t] = 1;
        return;
    }
    __syncthreads();
    out[t] = cells[t + 1];
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }, [](int i) { return i % 2 == 1 ? 1 : i + 1; }); }
