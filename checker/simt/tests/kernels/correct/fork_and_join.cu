// SPDX-License-Identifier: MIT
// verdict: correct
// Work of one stream splits into two others, and comes together again.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(int* x, int value) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void add(int* out, const int* inp, int value) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = inp[i] + value;
}

__global__ void sum(int* out, const int* a, const int* b) {
    out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

int main() {
    cudaStream_t streams[3];
    cudaEvent_t forked = nullptr, joined[2];
    for (cudaStream_t& stream : streams) {
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    }
    cudaEventCreateWithFlags(&forked, cudaEventDisableTiming);
    int *x = nullptr, *parts[2], *out = nullptr, host[32];
    cudaMalloc(&x, sizeof host);
    cudaMalloc(&out, sizeof host);
    fill<<<1, 32, 0, streams[2]>>>(x, 1);
    cudaEventRecord(forked, streams[2]);
    for (int i = 0; i < 2; i++) {
        cudaMalloc(&parts[i], sizeof host);
        cudaEventCreateWithFlags(&joined[i], cudaEventDisableTiming);
        cudaStreamWaitEvent(streams[i], forked);
        add<<<1, 32, 0, streams[i]>>>(parts[i], x, 10 * (i + 1));
        cudaEventRecord(joined[i], streams[i]);
        cudaStreamWaitEvent(streams[2], joined[i]);
    }
    sum<<<1, 32, 0, streams[2]>>>(out, parts[0], parts[1]);
    cudaMemcpyAsync(host, out, sizeof host, cudaMemcpyDeviceToHost, streams[2]);
    cudaStreamSynchronize(streams[2]);
    for (int i = 0; i < 2; i++) {
        cudaFree(parts[i]);
        cudaEventDestroy(joined[i]);
    }
    cudaFree(x);
    cudaFree(out);
    cudaEventDestroy(forked);
    for (const cudaStream_t stream : streams) {
        cudaStreamDestroy(stream);
    }
    return host[0] == 32 && host[31] == 32 ? EXIT_SUCCESS : EXIT_FAILURE;
}
