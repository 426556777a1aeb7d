// SPDX-License-Identifier: MIT
// verdict: race shared shift_in_lockstep.cu:14 shift_in_lockstep.cu:14
// Each lane reads its neighbour and overwrites its own cell in one statement.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[32];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 0;
    __syncthreads();
    if (t < 31) {
        cells[t] = cells[t + 1] + 1;
    }
    __syncthreads();
    out[t] = cells[t];
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
