// SPDX-License-Identifier: MIT
// verdict: out_of_bounds global memset_of_four_bytes_past_end.cu:10
// Each thread clears one element, and there are more threads than elements.
#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>

__global__ void clear(int* out) {
    memset(out + threadIdx.x, 0, sizeof(int));
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 30 * sizeof(int));
    clear<<<1, 32>>>(out);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
