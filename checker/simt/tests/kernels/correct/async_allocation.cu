// SPDX-License-Identifier: MIT
// verdict: correct
// Memory of a stream: cudaMallocAsync and cudaFreeAsync.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(int* out) {
    out[threadIdx.x] = static_cast<int>(threadIdx.x);
}

int main() {
    cudaStream_t stream = nullptr;
    int* out = nullptr;
    int host[32] = {};
    cudaStreamCreate(&stream);
    cudaMallocAsync(&out, sizeof host, stream);
    fill<<<1, 32, 0, stream>>>(out);
    cudaMemcpyAsync(host, out, sizeof host, cudaMemcpyDeviceToHost, stream);
    cudaFreeAsync(out, stream);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    return host[31] == 31 ? EXIT_SUCCESS : EXIT_FAILURE;
}
