// SPDX-License-Identifier: MIT
// verdict: correct
// Places in a queue are drawn by an atomic; each is written by one thread and read behind a barrier.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    __shared__ int end;
    if (t == 0) {
        end = 0;
    }
    __syncthreads();
    if (t % 2 == 0) {
        cells[atomicAdd(&end, 1)] = 1;
    }
    __syncthreads();
    out[t] = t < end ? cells[t] : 1;
}

int main() {
    constexpr int n = 64;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<1, 64>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 1) {
            return EXIT_FAILURE;
        }
    }
}
