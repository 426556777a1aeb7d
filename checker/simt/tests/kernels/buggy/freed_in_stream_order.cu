// SPDX-License-Identifier: MIT
// verdict: use_after_free global freed_in_stream_order.cu:9
// cudaFreeAsync, and then a kernel in the same stream that still uses the buffer.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(float* x) {
    x[threadIdx.x] = 1.0F;
}

int main() {
    cudaStream_t stream = nullptr;
    cudaStreamCreate(&stream);
    float* x = nullptr;
    cudaMallocAsync(&x, 32 * sizeof(float), stream);
    cudaFreeAsync(x, stream);
    fill<<<1, 32, 0, stream>>>(x);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
