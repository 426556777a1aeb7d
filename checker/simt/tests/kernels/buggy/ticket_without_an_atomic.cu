// SPDX-License-Identifier: MIT
// verdict: race global ticket_without_an_atomic.cu:11 ticket_without_an_atomic.cu:11
// Blocks draw the next piece of work with a plain increment.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__device__ int next_piece;

__global__ void kernel(int* out) {
    const int piece = next_piece++;
    out[blockIdx.x] = piece;
}

int main() { return run<8>([](int* out) { kernel<<<8, 1>>>(out); }); }
