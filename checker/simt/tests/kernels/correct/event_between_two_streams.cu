// SPDX-License-Identifier: MIT
// verdict: correct
// A kernel in one stream goes on with what one in another stream has left, behind an event.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(int* x, int value) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void add(int* out, const int* inp, int value) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = inp[i] + value;
}

int main() {
    cudaStream_t first = nullptr, second = nullptr;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    cudaEvent_t filled = nullptr;
    cudaEventCreateWithFlags(&filled, cudaEventDisableTiming);
    int *x = nullptr, *out = nullptr, host[64];
    cudaMalloc(&x, sizeof host);
    cudaMalloc(&out, sizeof host);
    fill<<<2, 32, 0, first>>>(x, 3);
    cudaEventRecord(filled, first);
    cudaStreamWaitEvent(second, filled);
    add<<<2, 32, 0, second>>>(out, x, 4);
    cudaMemcpyAsync(host, out, sizeof host, cudaMemcpyDeviceToHost, second);
    cudaStreamSynchronize(second);
    cudaFree(x);
    cudaFree(out);
    cudaEventDestroy(filled);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    return host[0] == 7 && host[63] == 7 ? EXIT_SUCCESS : EXIT_FAILURE;
}
