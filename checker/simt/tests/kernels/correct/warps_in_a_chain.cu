// SPDX-License-Identifier: MIT
// verdict: correct
// Each warp waits for the number of the one before.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[128];
    const int t = static_cast<int>(threadIdx.x);
    __shared__ int numbers[4];
    volatile int* ready = cells;
    if (t < 4) {
        ready[t] = 0;
    }
    __syncthreads();
    const int w = t / 32;
    if (t % 32 == 0) {
        int before = 0;
        if (w > 0) {
            while (ready[w - 1] == 0) {
            }
            __threadfence_block();
            before = numbers[w - 1];
        }
        numbers[w] = before + w + 1;
        __threadfence_block();
        ready[w] = 1;
    }
    __syncthreads();
    out[t] = numbers[w];
}

int main() {
    return run<128>([](int* out) { kernel<<<1, 128>>>(out); }, [](int i) { return (i / 32 + 1) * (i / 32 + 2) / 2; });
}
