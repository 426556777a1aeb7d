// SPDX-License-Identifier: MIT
// verdict: bad_launch launch_bounds.cu:11
// More threads than the kernel was compiled for.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void __launch_bounds__(128) nothing() {}

int main() {
    nothing<<<1, 256>>>();
    std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
