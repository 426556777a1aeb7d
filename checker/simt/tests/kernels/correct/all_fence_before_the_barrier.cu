// SPDX-License-Identifier: MIT
// verdict: correct
// Every thread fences what it wrote; the barrier hands that to the thread that draws the ticket.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__device__ unsigned tickets;

__global__ void kernel(int* out) {
    __shared__ bool last;
    const unsigned t = threadIdx.x;
    out[1 + blockIdx.x * 64 + t] = 1;
    __threadfence();
    __syncthreads();
    if (t == 0) {
        last = atomicAdd(&tickets, 1U) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        __threadfence();
        int sum = 0;
        for (unsigned i = 0; i < gridDim.x * 64; i++) {
            sum += out[1 + i];
        }
        out[0] = sum;
    }
}

int main() { return run<641>([](int* out) { kernel<<<10, 64>>>(out); }, [](int i) { return i == 0 ? 640 : 1; }); }
