// SPDX-License-Identifier: MIT
// verdict: race global one_block_counts_for_itself_only.cu:10 one_block_counts_for_itself_only.cu:12
// One block uses the atomic of its own scope on the number of all.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    if (blockIdx.x == 0) {
        atomicAdd_block(out, 1);
    } else {
        atomicAdd(out, 1);
    }
}

int main() {
    constexpr int n = 1;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<2, 32>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
