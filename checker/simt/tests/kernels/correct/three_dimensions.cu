// SPDX-License-Identifier: MIT
// verdict: correct
// Built-in variables in three dimensions.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void number(int* out) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
    const unsigned i = (z * gridDim.y * blockDim.y + y) * gridDim.x * blockDim.x + x;
    out[i] += static_cast<int>(i);
}

int main() {
    constexpr int n = 240;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    number<<<dim3(2, 3, 5), dim3(2, 2, 2)>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != i) {
            return EXIT_FAILURE;
        }
    }
}
