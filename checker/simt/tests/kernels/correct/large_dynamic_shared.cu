// SPDX-License-Identifier: MIT
// verdict: correct
// 100 KB of dynamic shared memory, asked for first.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void reverse(int* out, int n) {
    extern __shared__ int large[];
    for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) {
        large[i] = i;
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) {
        out[i] = large[n - 1 - i];
    }
}

int main() {
    constexpr int n = 25600;
    static int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, n * sizeof(int));
    reverse<<<1, 256, n * sizeof(int)>>>(out, n);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != n - 1 - i) {
            return EXIT_FAILURE;
        }
    }
}
