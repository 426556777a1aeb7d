// SPDX-License-Identifier: MIT
// verdict: race host slots_refilled_one_step_early.cu:25 slots_refilled_one_step_early.cu:27
// Of two pinned slots the host waits for the one that it does not fill.
#include <cuda_runtime.h>

#include <cstdlib>

int main() {
    constexpr std::size_t kBytes = 32 * sizeof(int);
    cudaStream_t stream = nullptr;
    cudaEvent_t copied[2];
    cudaStreamCreate(&stream);
    int *slots = nullptr, *inp = nullptr;
    cudaMallocHost(&slots, 2 * kBytes);
    cudaMalloc(&inp, 6 * kBytes);
    for (cudaEvent_t& event : copied) {
        cudaEventCreate(&event);
    }
    for (int step = 0; step < 6; step++) {
        int* slot = slots + step % 2 * 32;
        if (step > 2) {
            cudaEventSynchronize(copied[step % 2]);
        }
        for (int i = 0; i < 32; i++) {
            slot[i] = step;
        }
        cudaMemcpyAsync(inp + 32 * step, slot, kBytes, cudaMemcpyHostToDevice, stream);
        cudaEventRecord(copied[step % 2], stream);
    }
    cudaDeviceSynchronize();
    cudaFreeHost(slots);
    cudaFree(inp);
    for (const cudaEvent_t event : copied) {
        cudaEventDestroy(event);
    }
    cudaStreamDestroy(stream);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
