// SPDX-License-Identifier: MIT
// verdict: race streams scratch_of_two_streams.cu:9 scratch_of_two_streams.cu:9
// Two streams use one scratch buffer.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void stage(int* scratch, const int* inp) {
    scratch[threadIdx.x] = inp[threadIdx.x];
}

int main() {
    cudaStream_t streams[2];
    int *scratch = nullptr, *inp = nullptr;
    cudaMalloc(&scratch, 32 * sizeof(int));
    cudaMalloc(&inp, 64 * sizeof(int));
    cudaMemset(inp, 0, 64 * sizeof(int));
    cudaDeviceSynchronize();
    for (int i = 0; i < 2; i++) {
        cudaStreamCreate(&streams[i]);
        stage<<<1, 32, 0, streams[i]>>>(scratch, inp + 32 * i);
    }
    cudaDeviceSynchronize();
    cudaFree(scratch);
    cudaFree(inp);
    for (const cudaStream_t stream : streams) {
        cudaStreamDestroy(stream);
    }
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
