// SPDX-License-Identifier: MIT
// verdict: correct
// Places in a queue are drawn by an atomic; each is written by one thread and read behind a barrier.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    __shared__ int end;
    if (t == 0) {
        end = 0;
    }
    __syncthreads();
    if (t % 2 == 0) {
        cells[atomicAdd(&end, 1)] = 1;
    }
    __syncthreads();
    out[t] = t < end ? cells[t] : 1;
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }, [](int) { return 1; }); }
