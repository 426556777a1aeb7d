// SPDX-License-Identifier: MIT
// verdict: race shared double_buffer_without_its_barrier.cu:15 double_buffer_without_its_barrier.cu:16
// Two tiles take turns, but no barrier parts a step from the next.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[2][64];
    const int t = static_cast<int>(threadIdx.x);
    cells[0][t] = cells[1][t] = t;
    __syncthreads();
    int sum = 0;
    for (int step = 0; step < 4; step++) {
        sum += cells[step % 2][63 - t];
        cells[(step + 1) % 2][t] = sum;
    }
    out[t] = sum;
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
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
