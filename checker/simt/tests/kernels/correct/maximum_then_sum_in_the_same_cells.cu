// SPDX-License-Identifier: MIT
// verdict: correct
// The cells of the first reduction are used again behind a barrier.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = t;
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (t < half) {
            cells[t] = cells[t] > cells[t + half] ? cells[t] : cells[t + half];
        }
        __syncthreads();
    }
    const int most = cells[0];
    __syncthreads();
    cells[t] = most - t;
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (t < half) {
            cells[t] += cells[t + half];
        }
        __syncthreads();
    }
    out[t] = cells[0];
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }, [](int) { return 2016; }); }
