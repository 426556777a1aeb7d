// SPDX-License-Identifier: MIT
// verdict: correct
// Rows are padded: a buffer is copied whole, of which nobody needs the padding.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(float* out, int columns, int stride) {
    if (static_cast<int>(threadIdx.x) < columns) {
        out[blockIdx.x * stride + threadIdx.x] = 1.0F;
    }
}

int main() {
    float host[4 * 32];
    float *out = nullptr, *copy = nullptr;
    cudaMalloc(&out, sizeof host);
    cudaMalloc(&copy, sizeof host);
    fill<<<4, 32>>>(out, 30, 32);
    cudaMemcpy(copy, out, sizeof host, cudaMemcpyDeviceToDevice);
    cudaMemcpy(host, copy, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(out);
    cudaFree(copy);
    return host[3 * 32 + 29] == 1.0F ? EXIT_SUCCESS : EXIT_FAILURE;
}
