// SPDX-License-Identifier: MIT
// verdict: race shared views_overlap.cu:13 views_overlap.cu:14
// Two arrays in dynamic shared memory, the second of which begins too early.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    extern __shared__ int memory[];
    int* first = memory;
    int* second = memory + 48;
    const int t = static_cast<int>(threadIdx.x);
    first[t] = t;
    second[t] = 2 * t + 1;
    __syncthreads();
    out[t] = second[t];
}

int main() {
    constexpr int n = 64;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<1, 64, 128 * sizeof(int)>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
