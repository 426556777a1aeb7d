// SPDX-License-Identifier: MIT
// verdict: correct
// Threads end one after the other, each behind a barrier at which it waited: in a loop, in a loop within it, and after
// reading in the part of the loop that follows the barrier.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void count_down(int* out, const int* turns) {
    __shared__ int cells[64];
    const int i = static_cast<int>(threadIdx.x);
    for (int turn = 0; turn < 100; turn++) {
        for (int half = 0; half < 2; half++) {
            if (turn % 2 == 0) {
                cells[i] = turn;
                __syncthreads();
            }
        }
        __syncthreads();
        if (turns[i] == turn) {
            out[i] = cells[i];
            return;
        }
    }
}

int main() {
    int host[64] = {};
    for (int i = 0; i < 64; i++) { host[i] = i % 7; }
    int *out = nullptr, *turns = nullptr;
    cudaMalloc(&out, sizeof host);
    cudaMalloc(&turns, sizeof host);
    cudaMemcpy(turns, host, sizeof host, cudaMemcpyHostToDevice);
    count_down<<<1, 64>>>(out, turns);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(out);
    cudaFree(turns);
    for (int i = 0; i < 64; i++) {
        if (host[i] != i % 7 / 2 * 2) {
            return EXIT_FAILURE;
        }
    }
}
