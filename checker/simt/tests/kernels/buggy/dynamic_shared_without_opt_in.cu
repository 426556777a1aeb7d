// SPDX-License-Identifier: MIT
// verdict: bad_launch dynamic_shared_without_opt_in.cu:11
// 64 KB of dynamic shared memory without cudaFuncSetAttribute.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void nothing() {}

int main() {
    nothing<<<1, 32, 64 * 1024>>>();
    std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
