// SPDX-License-Identifier: MIT
// verdict: correct
// Every block reads all of a buffer that nobody writes in this launch.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(int* x) {
    x[threadIdx.x] = 1;
}

__global__ void kernel(int* out, const int* inp) {
    int sum = 0;
    for (int k = 0; k < 64; k++) {
        sum += inp[k];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main() {
    constexpr int n = 256;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    fill<<<1, 64>>>(out);
    kernel<<<3, 64>>>(out + 64, out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != (i < 64 ? 1 : 64)) {
            return EXIT_FAILURE;
        }
    }
}
