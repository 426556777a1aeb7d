// SPDX-License-Identifier: MIT
// verdict: uninitialised shared uninitialised_shared.cu:10
// The last element of the tile is read, and no thread has written it.
#include <cuda_runtime.h>

__global__ void shift(float* out, const float* inp) {
    __shared__ float tile[65];
    tile[threadIdx.x] = inp[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x + 1];
}

int main() {
    float *out = nullptr, *inp = nullptr;
    cudaMalloc(&out, 64 * sizeof(float));
    cudaMalloc(&inp, 64 * sizeof(float));
    cudaMemset(inp, 0, 64 * sizeof(float));
    shift<<<1, 64>>>(out, inp);
    cudaDeviceSynchronize();
    cudaFree(out);
    cudaFree(inp);
}
