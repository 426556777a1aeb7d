// SPDX-License-Identifier: MIT
// verdict: correct
// Blocks draw pieces of work until none is left.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__device__ int next_piece;

__global__ void kernel(int* out, int pieces) {
    __shared__ int piece;
    while (true) {
        if (threadIdx.x == 0) {
            piece = atomicAdd(&next_piece, 1);
        }
        __syncthreads();
        if (piece >= pieces) {
            return;
        }
        out[32 * piece + static_cast<int>(threadIdx.x)] = piece;
        __syncthreads();
    }
}

int main() { return run<640>([](int* out) { kernel<<<5, 32>>>(out, 20); }, [](int i) { return i / 32; }); }
