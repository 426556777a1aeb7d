// SPDX-License-Identifier: MIT
// verdict: correct
// Threads hand a value round their block at a barrier of so many phases that what each arrival released is no longer kept.
#include <cuda_runtime.h>

#include <cstdlib>
#include <cuda/barrier>

constexpr int kThreads = 256, kPhases = 40;

__global__ void kernel(int* out) {
    __shared__ int values[2][kThreads];
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    const int me = static_cast<int>(threadIdx.x);
    if (me == 0) {
        init(&barrier, kThreads);
    }
    values[0][me] = me;
    __syncthreads();
    for (int phase = 0; phase < kPhases; phase++) {
        values[(phase + 1) % 2][me] = values[phase % 2][(me + 1) % kThreads];
        barrier.arrive_and_wait();
    }
    out[me] = values[kPhases % 2][me];
}

int main() {
    int host[kThreads];
    int* out = nullptr;
    cudaMalloc(&out, sizeof host);
    kernel<<<1, kThreads>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < kThreads; i++) {
        if (host[i] != (i + kPhases) % kThreads) {
            return EXIT_FAILURE;
        }
    }
}
