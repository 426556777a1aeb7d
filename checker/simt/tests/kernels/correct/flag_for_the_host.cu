// SPDX-License-Identifier: MIT
// verdict: correct
// The host polls a flag in pinned memory that the kernel raises behind its results.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void work(int* results, volatile int* flag) {
    results[threadIdx.x] = static_cast<int>(threadIdx.x);
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0) {
        *flag = 1;
    }
}

int main() {
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    int* memory = nullptr;
    cudaMallocHost(&memory, 64 * sizeof(int));
    volatile int* flag = memory + 32;
    *flag = 0;
    work<<<1, 32, 0, stream>>>(memory, flag);
    while (*flag == 0) {
    }
    const bool right = memory[31] == 31;
    cudaStreamSynchronize(stream);
    cudaFreeHost(memory);
    cudaStreamDestroy(stream);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
