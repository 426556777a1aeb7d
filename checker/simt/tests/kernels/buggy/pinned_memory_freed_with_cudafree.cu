// SPDX-License-Identifier: MIT
// verdict: invalid_free pinned_memory_freed_with_cudafree.cu:10
// verdict: leak pinned_memory_freed_with_cudafree.cu:9
// Pinned memory takes cudaFreeHost.
#include <cuda_runtime.h>

int main() {
    float* host = nullptr;
    cudaMallocHost(&host, 128);
    cudaFree(host);
}
