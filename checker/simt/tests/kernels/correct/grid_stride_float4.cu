// SPDX-License-Identifier: MIT
// verdict: correct
// A grid-stride loop over 16-byte accesses.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void add_one(float* x, int n) {
    for (int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x); i < n; i += 4 * gridDim.x * blockDim.x) {
        float4 v = *reinterpret_cast<const float4*>(x + i);
        v.x += 1.0F;
        v.y += 1.0F;
        v.z += 1.0F;
        v.w += 1.0F;
        *reinterpret_cast<float4*>(x + i) = v;
    }
}

int main() {
    constexpr int n = 4096;
    float host[n];
    float* out = nullptr;
    cudaMalloc(&out, n * sizeof(float));
    cudaMemset(out, 0, n * sizeof(float));
    add_one<<<3, 96>>>(out, n);
    cudaMemcpy(host, out, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 1.0F) {
            return EXIT_FAILURE;
        }
    }
}
