// SPDX-License-Identifier: MIT
// verdict: correct
// With three buffers one barrier a step is enough for a write two steps ahead.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    __shared__ int ring[3][64];
    cells[t] = 0;
    ring[0][t] = t;
    ring[1][t] = t + 1;
    int sum = 0;
    for (int step = 0; step < 6; step++) {
        __syncthreads();
        sum += ring[step % 3][63 - t];
        ring[(step + 2) % 3][t] = t + step + 2;
    }
    out[t] = sum + cells[t];
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }, [](int i) { return 6 * (63 - i) + 15; }); }
