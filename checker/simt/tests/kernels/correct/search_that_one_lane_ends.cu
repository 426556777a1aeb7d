// SPDX-License-Identifier: MIT
// verdict: correct
// A volatile word tells all lanes that one has found something: they look at it in each turn, and who finds writes 1.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(const int* in, int n, int wanted, int* out) {
    __shared__ int cell;
    const int t = static_cast<int>(threadIdx.x);
    volatile int* found = &cell;
    if (t == 0) {
        *found = 0;
    }
    __syncthreads();
    for (int i = t; i < n && *found == 0; i += static_cast<int>(blockDim.x)) {
        if (in[i] == wanted) {
            *found = 1;
        }
    }
    __syncthreads();
    if (t == 0) {
        out[0] = *found;
    }
    if (t % 2 == 0) {
        *found = 1;  // what it is already
    }
}

int main() {
    constexpr int n = 1000;
    int host[n];
    int *in = nullptr, *out = nullptr;
    for (int i = 0; i < n; i++) {
        host[i] = i / 4;
    }
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemcpy(in, host, n * sizeof(int), cudaMemcpyHostToDevice);
    kernel<<<1, 64>>>(in, n, 77, out);
    cudaMemcpy(host, out, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    return host[0] == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
