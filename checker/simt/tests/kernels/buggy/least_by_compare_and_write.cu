// SPDX-License-Identifier: MIT
// verdict: race global least_by_compare_and_write.cu:11 least_by_compare_and_write.cu:11
// The least is compared and then replaced, by all threads at once.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    const int value = 1000 - static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    // clang-format off
    if (value < *out) { *out = value; }
    // clang-format on
}

int main() {
    constexpr int n = 1;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0x7f, n * sizeof(int));
    kernel<<<4, 32>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
