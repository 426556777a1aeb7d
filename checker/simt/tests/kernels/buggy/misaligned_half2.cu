// SPDX-License-Identifier: MIT
// verdict: misaligned global misaligned_half2.cu:9
// A pair of halves from an odd element on.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void sum_of_pair(__half* out, const __half* row) {
    // Rows have an odd number of columns: every second one begins in the middle of a pair.
    const __half2 pair = *reinterpret_cast<const __half2*>(row + 3);
    *out = pair.x + pair.y;
}

int main() {
    __half* x = nullptr;
    cudaMalloc(&x, 6 * sizeof(__half));
    cudaMemset(x, 0, 6 * sizeof(__half));
    sum_of_pair<<<1, 1>>>(x, x);
    cudaFree(x);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
