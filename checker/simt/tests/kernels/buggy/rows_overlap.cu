// SPDX-License-Identifier: MIT
// verdict: race global rows_overlap.cu:10 rows_overlap.cu:10
// Each block writes one row more than it owns.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    for (int row = 0; row < 5; row++) {
        out[(4 * blockIdx.x + row) * 32 + threadIdx.x] = static_cast<int>(blockIdx.x) + 1;
    }
}

int main() {
    constexpr int n = 416;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<3, 32>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
