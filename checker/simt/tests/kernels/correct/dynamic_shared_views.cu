// SPDX-License-Identifier: MIT
// verdict: correct
// One dynamic array, divided among two types.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void two_views(int* out) {
    extern __shared__ __align__(16) unsigned char memory[];
    float* numbers = reinterpret_cast<float*>(memory);
    int* counts = reinterpret_cast<int*>(memory + blockDim.x * sizeof(float));
    numbers[threadIdx.x] = 0.5F * static_cast<float>(threadIdx.x);
    counts[threadIdx.x] = static_cast<int>(threadIdx.x);
    __syncthreads();
    const unsigned other = blockDim.x - 1 - threadIdx.x;
    out[threadIdx.x] = static_cast<int>(2.0F * numbers[other]) + counts[other];
}

int main() {
    constexpr int n = 96;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    two_views<<<1, n, n * (sizeof(float) + sizeof(int))>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 2 * (n - 1 - i)) {
            return EXIT_FAILURE;
        }
    }
}
