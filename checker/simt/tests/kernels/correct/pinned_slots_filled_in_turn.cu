// SPDX-License-Identifier: MIT
// verdict: correct
// The host fills two pinned slots in turn, each again when the copy from it has ended.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void accumulate(int* sum, const int* inp) {
    sum[threadIdx.x] += inp[threadIdx.x];
}

int main() {
    constexpr int kSteps = 6;
    constexpr std::size_t kBytes = 32 * sizeof(int);
    cudaStream_t stream = nullptr;
    cudaEvent_t copied[2];
    cudaStreamCreate(&stream);
    int *slots = nullptr, *inp = nullptr, *sum = nullptr, host[32];
    cudaMallocHost(&slots, 2 * kBytes);
    cudaMalloc(&inp, kBytes);
    cudaMalloc(&sum, kBytes);
    cudaMemsetAsync(sum, 0, kBytes, stream);
    for (cudaEvent_t& event : copied) {
        cudaEventCreate(&event);
    }
    for (int step = 0; step < kSteps; step++) {
        int* slot = slots + step % 2 * 32;
        cudaEventSynchronize(copied[step % 2]);
        for (int i = 0; i < 32; i++) {
            slot[i] = step;
        }
        cudaMemcpyAsync(inp, slot, kBytes, cudaMemcpyHostToDevice, stream);
        cudaEventRecord(copied[step % 2], stream);
        accumulate<<<1, 32, 0, stream>>>(sum, inp);
    }
    cudaMemcpyAsync(host, sum, kBytes, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    cudaFreeHost(slots);
    cudaFree(inp);
    cudaFree(sum);
    for (const cudaEvent_t event : copied) {
        cudaEventDestroy(event);
    }
    cudaStreamDestroy(stream);
    return host[0] == 15 && host[31] == 15 ? EXIT_SUCCESS : EXIT_FAILURE;
}
