// SPDX-License-Identifier: MIT
// verdict: race shared barrier_waited_at_too_late.cu:22 barrier_waited_at_too_late.cu:27
// As barrier_of_many_phases, but in the last phase threads go on when they have arrived, and wait later.
#include <cuda_runtime.h>

#include <cstdlib>
#include <cuda/barrier>
#include <utility>

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
        auto arrived = barrier.arrive();
        if (phase < kPhases - 1) {
            barrier.wait(std::move(arrived));
        } else {
            out[me] = values[kPhases % 2][(me + 37) % kThreads];
            barrier.wait(std::move(arrived));
        }
    }
}

int main() {
    int host[kThreads];
    int* out = nullptr;
    cudaMalloc(&out, sizeof host);
    kernel<<<1, kThreads>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(out);
}
