// SPDX-License-Identifier: MIT
// verdict: barrier barrier_skipped_before_a_vote.cu:13 called at barrier_skipped_before_a_vote.cu:23
// Odd threads go round a barrier, which stands in a macro and a helper, and call a vote among themselves behind it.
#include <cuda_runtime.h>

#include <cstdlib>

#define MEET() __syncthreads()

struct Tile {
    int* cells;
    __device__ int swapped(int i) const {
        MEET();
        return cells[i ^ 2];
    }
};

__global__ void vote(int* out) {
    __shared__ int cells[32];
    const int i = static_cast<int>(threadIdx.x);
    cells[i] = i;
    if (i % 2 == 0) {
        out[i] = Tile{cells}.swapped(i);
    }
    if (i % 2 == 1) {
        __any_sync(0xaaaaaaaaU, i == 1);
    }
}

int main() {
    int host[32] = {};
    int* out = nullptr;
    cudaMalloc(&out, sizeof host);
    cudaMemset(out, 0, sizeof host);
    vote<<<1, 32>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(out);
    return host[30] == 28 ? EXIT_SUCCESS : EXIT_FAILURE;
}
