// SPDX-License-Identifier: MIT
// verdict: bad_launch shared_memory_of_helpers.cu:29
// A kernel's own tile and those of two helpers, one of them called twice, take 60,000 bytes; without the opt-in there
// are 49,152.
#include <cuda_runtime.h>

#include <cstdio>

template <class T, int N>
__device__ T reversed(T value) {
    __shared__ T tile[N];
    tile[threadIdx.x] = value;
    __syncthreads();
    const T other = tile[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
    return other;
}

__global__ void reverse(int* out) {
    __shared__ int tile[5000];
    tile[threadIdx.x] = reversed<int, 5000>(reversed<int, 5000>(out[threadIdx.x]));
    out[threadIdx.x] = tile[threadIdx.x] + static_cast<int>(reversed<float, 5000>(1.0F));
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(out, 0, 64 * sizeof(int));
    reverse<<<1, 64>>>(out);
    std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    cudaFree(out);
}
