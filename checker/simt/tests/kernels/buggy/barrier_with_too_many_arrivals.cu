// SPDX-License-Identifier: MIT
// verdict: barrier barrier_with_too_many_arrivals.cu:18
// A cuda::barrier that is made for half of the block, and all of it arrives.
#include <cuda_runtime.h>

#include <cstdlib>
#include <cuda/barrier>

__global__ void meet() {
    __shared__ cuda::barrier<cuda::thread_scope_block> all;
    __shared__ int arrived;
    if (threadIdx.x == 0) {
        init(&all, 2);
        arrived = 0;
    }
    __syncthreads();
    // Four arrivals at once, where two are expected.
    static_cast<void>(all.arrive(4));
}

int main() {
    meet<<<1, 2>>>();
    return cudaDeviceSynchronize() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
