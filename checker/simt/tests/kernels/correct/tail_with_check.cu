// SPDX-License-Identifier: MIT
// verdict: correct
// The last block has threads without an element.
#include <cuda_runtime.h>

#include <cstdlib>
#include <vector>

__global__ void add(float* out, const float* a, const float* b, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = a[i] + b[i];
    }
}

int main() {
    constexpr int n = 1000;
    std::vector<float> a(n, 1.0F), b(n, 2.0F), out(n);
    float *da = nullptr, *db = nullptr, *dout = nullptr;
    cudaMalloc(&da, n * sizeof(float));
    cudaMalloc(&db, n * sizeof(float));
    cudaMalloc(&dout, n * sizeof(float));
    cudaMemcpy(da, a.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    add<<<(n + 255) / 256, 256>>>(dout, da, db, n);
    cudaMemcpy(out.data(), dout, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(da);
    cudaFree(db);
    cudaFree(dout);
    for (const float value : out) {
        if (value != 3.0F) {
            return EXIT_FAILURE;
        }
    }
}
