// SPDX-License-Identifier: MIT
// verdict: uninitialised global member_never_written.cu:20
// A member of a struct with padding is forgotten: the padding excuses its own bytes only.
#include <cuda_runtime.h>

#include <cstdlib>

struct Best {
    float value;
    double weight;
    int index;
};

__global__ void write(Best* best) {
    best[threadIdx.x].value = 1.0F;
    best[threadIdx.x].weight = 2.0;
}

__global__ void copy(Best* to, const Best* from) {
    to[threadIdx.x] = from[threadIdx.x];
}

int main() {
    Best* best = nullptr;
    cudaMalloc(&best, 64 * sizeof(Best));
    write<<<1, 32>>>(best);
    copy<<<1, 32>>>(best + 32, best);
    cudaFree(best);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
