// SPDX-License-Identifier: MIT
// verdict: correct
// Pageable memory may be changed as soon as cudaMemcpyAsync has returned: the copy has been staged.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void add(int* out, const int* inp, int value) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = inp[i] + value;
}

int main() {
    cudaStream_t stream = nullptr;
    cudaStreamCreate(&stream);
    int *x = nullptr, host[32];
    cudaMalloc(&x, sizeof host);
    for (int& value : host) {
        value = 5;
    }
    cudaMemcpyAsync(x, host, sizeof host, cudaMemcpyHostToDevice, stream);
    for (int& value : host) {
        value = -1;
    }
    add<<<1, 32, 0, stream>>>(x, x, 1);
    cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    cudaFree(x);
    cudaStreamDestroy(stream);
    return host[0] == 6 && host[31] == 6 ? EXIT_SUCCESS : EXIT_FAILURE;
}
