// SPDX-License-Identifier: MIT
// verdict: race streams copy_to_the_device_beside_a_non_blocking_stream.cu:10 copy_to_the_device_beside_a_non_blocking_stream.cu:22
// cudaMemcpy from pageable memory may return before it has ended, and a non-blocking stream does not wait for it.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void add(int* out, const int* inp, int value) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = inp[i] + value;
}

int main() {
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    int *x = nullptr, *out = nullptr, host[32] = {};
    cudaMalloc(&x, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemset(x, 0, sizeof host);
    cudaMemsetAsync(out, 0, sizeof host, stream);
    cudaDeviceSynchronize();
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    add<<<1, 32, 0, stream>>>(out, x, 1);
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(out);
    cudaStreamDestroy(stream);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
