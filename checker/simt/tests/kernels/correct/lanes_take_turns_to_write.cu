// SPDX-License-Identifier: MIT
// verdict: correct
// Each lane adds to one cell in its turn, with __syncwarp() between the turns.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[32];
    const int t = static_cast<int>(threadIdx.x);
    if (t == 0) {
        cells[0] = 0;
    }
    __syncwarp();
    for (int turn = 0; turn < 32; turn++) {
        if (t == turn) {
            cells[0] += t;
        }
        __syncwarp();
    }
    out[t] = cells[0];
}

int main() { return run<32>([](int* out) { kernel<<<1, 32>>>(out); }, [](int) { return 496; }); }
