// SPDX-License-Identifier: MIT
// verdict: bad_launch grid_too_high.cu:11
// A grid has 65,535 blocks along y at most.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void nothing() {}

int main() {
    nothing<<<dim3(1, 70000), 32>>>();
    std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
