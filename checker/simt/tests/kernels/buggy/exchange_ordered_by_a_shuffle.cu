// SPDX-License-Identifier: MIT
// verdict: race shared exchange_ordered_by_a_shuffle.cu:13 exchange_ordered_by_a_shuffle.cu:18
// A shuffle exchanges registers; it orders no memory.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[32];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 0;
    __syncthreads();
    cells[t] = t;
    const int other = __shfl_xor_sync(0xffffffffU, t, 1);
    if (other < 0) {
        return;
    }
    out[t] = cells[(t + 1) % 32];
}

int main() {
    constexpr int n = 32;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<1, 32>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
