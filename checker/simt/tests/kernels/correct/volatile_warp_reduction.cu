// SPDX-License-Identifier: MIT
// verdict: correct
// The old way to write a reduction, with volatile and with __syncwarp().
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[32];
    const int t = static_cast<int>(threadIdx.x);
    volatile int* v = cells;
    v[t] = t;
    __syncwarp();
    for (int half = 16; half > 0; half /= 2) {
        const int sum = v[t] + v[t + half < 32 ? t + half : t];
        __syncwarp();
        v[t] = sum;
        __syncwarp();
    }
    out[t] = v[0];
}

int main() { return run<32>([](int* out) { kernel<<<1, 32>>>(out); }, [](int) { return 496; }); }
