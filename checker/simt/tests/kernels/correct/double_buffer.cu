// SPDX-License-Identifier: MIT
// verdict: correct
// Two tiles take turns, with one barrier a step.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void steps(int* out) {
    __shared__ int tile[2][64];
    const int i = static_cast<int>(threadIdx.x);
    int sum = 0;
    tile[0][i] = i;
    for (int step = 0; step < 10; step++) {
        __syncthreads();
        const int value = tile[step % 2][63 - i];
        sum += value;
        tile[(step + 1) % 2][i] = value;
    }
    out[i] = sum;
}

int main() { return run<64>([](int* out) { steps<<<1, 64>>>(out); }, [](int i) { return 5 * (63 - i) + 5 * i; }); }
