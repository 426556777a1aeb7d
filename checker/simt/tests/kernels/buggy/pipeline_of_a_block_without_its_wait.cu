// SPDX-License-Identifier: MIT
// verdict: uninitialised shared pipeline_of_a_block_without_its_wait.cu:18
// A stage of a block's pipeline is read before consumer_wait().
#include <cooperative_groups.h>

#include <cstdlib>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

__global__ void copy(const float* in, float* out) {
    __shared__ float tile[64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto pipe = cuda::make_pipeline(cg::this_thread_block(), &state);
    pipe.producer_acquire();
    cuda::memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(float), pipe);
    pipe.producer_commit();
    out[threadIdx.x] = tile[threadIdx.x];
    pipe.consumer_wait();
    pipe.consumer_release();
}

int main() {
    float* x = nullptr;
    cudaMalloc(&x, 128 * sizeof(float));
    cudaMemset(x, 0, 128 * sizeof(float));
    copy<<<1, 64>>>(x, x + 64);
    const bool fine = cudaDeviceSynchronize() == cudaSuccess;
    cudaFree(x);
    return fine ? EXIT_SUCCESS : EXIT_FAILURE;
}
