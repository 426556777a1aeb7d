// SPDX-License-Identifier: MIT
// verdict: race shared double_buffer_without_its_barrier.cu:15 double_buffer_without_its_barrier.cu:16
// Two tiles take turns, but no barrier parts a step from the next.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[2][64];
    const int t = static_cast<int>(threadIdx.x);
    cells[0][t] = cells[1][t] = t;
    __syncthreads();
    int sum = 0;
    for (int step = 0; step < 4; step++) {
        sum += cells[step % 2][63 - t];
        cells[(step + 1) % 2][t] = sum;
    }
    out[t] = sum;
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }); }
