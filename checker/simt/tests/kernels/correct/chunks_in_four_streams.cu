// SPDX-License-Identifier: MIT
// verdict: correct
// Copies and kernels of four chunks, each in its own stream and on pinned memory.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void add(int* out, const int* inp, int value) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = inp[i] + value;
}

int main() {
    constexpr int kChunks = 4, kChunk = 256;
    constexpr std::size_t kBytes = kChunk * sizeof(int);
    cudaStream_t streams[kChunks];
    int *host = nullptr, *inp = nullptr, *out = nullptr;
    cudaMallocHost(&host, kChunks * kBytes);
    cudaMalloc(&inp, kChunks * kBytes);
    cudaMalloc(&out, kChunks * kBytes);
    for (int i = 0; i < kChunks * kChunk; i++) {
        host[i] = i;
    }
    for (int c = 0; c < kChunks; c++) {
        const int from = c * kChunk;
        cudaStreamCreateWithFlags(&streams[c], cudaStreamNonBlocking);
        cudaMemcpyAsync(inp + from, host + from, kBytes, cudaMemcpyHostToDevice, streams[c]);
        add<<<kChunk / 128, 128, 0, streams[c]>>>(out + from, inp + from, 1000);
        cudaMemcpyAsync(host + from, out + from, kBytes, cudaMemcpyDeviceToHost, streams[c]);
    }
    bool right = true;
    for (int c = 0; c < kChunks; c++) {
        cudaStreamSynchronize(streams[c]);
        for (int i = c * kChunk; i < (c + 1) * kChunk; i++) {
            right = right && host[i] == 1000 + i;
        }
        cudaStreamDestroy(streams[c]);
    }
    cudaFreeHost(host);
    cudaFree(inp);
    cudaFree(out);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
