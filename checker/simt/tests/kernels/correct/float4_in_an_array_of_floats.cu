// SPDX-License-Identifier: MIT
// verdict: correct
// An array of floats in shared memory is read and written as float4, though its declaration asks for no alignment: nvcc
// puts it at a multiple of 16, wherever what is declared before it ends.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void transpose(float* out) {
    __shared__ int shift;
    __shared__ float tile[64][32];
    __shared__ char last;
    __shared__ float row[36];
    const int i = static_cast<int>(threadIdx.x);
    if (i == 0) {
        shift = 1;
        last = 2;
    }
    float4* const mine = reinterpret_cast<float4*>(tile[i]);
    for (int j = 0; j < 8; j++) { mine[j] = make_float4(i, j, i, j); }
    if (i < 9) {
        reinterpret_cast<float4*>(row)[i] = make_float4(i, i, i, i);
    }
    __syncthreads();
    out[i] = tile[i][4] + static_cast<float>(shift + last) + row[i % 36];
}

int main() {
    float host[64];
    float* out = nullptr;
    cudaMalloc(&out, sizeof host);
    transpose<<<1, 64>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < 64; i++) {
        if (host[i] != static_cast<float>(i + 3 + i % 36 / 4)) {
            return EXIT_FAILURE;
        }
    }
}
