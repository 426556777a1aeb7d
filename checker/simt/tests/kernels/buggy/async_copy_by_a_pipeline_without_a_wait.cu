// SPDX-License-Identifier: MIT
// verdict: uninitialised shared async_copy_by_a_pipeline_without_a_wait.cu:17
// The stage is committed and released, but nobody waits for it.
#include <cuda_runtime.h>
#include <cuda/pipeline>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out, const int* in) {
    __shared__ int tile[64];
    const int i = static_cast<int>(threadIdx.x);
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    cuda::memcpy_async(&tile[i], &in[i], sizeof(int), pipe);
    pipe.producer_commit();
    __syncthreads();
    out[i] = tile[63 - i];
    pipe.consumer_release();
}

int main() { return run<64>([](int* out, const int* in) { kernel<<<1, 64>>>(out, in); }); }
