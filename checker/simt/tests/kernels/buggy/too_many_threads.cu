// SPDX-License-Identifier: MIT
// verdict: bad_launch too_many_threads.cu:11
// A block of 2048 threads, noticed by the program.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void nothing() {}

int main() {
    nothing<<<1, 2048>>>();
    std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
