// SPDX-License-Identifier: MIT
// verdict: race shared async_copy_one_stage_too_early.cu:15 async_copy_one_stage_too_early.cu:21
// Two stages take turns with one barrier a step: the buffer that is filled is the one that others still read.
#include <cuda_runtime.h>
#include <cuda_pipeline.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out, const int* in, int tiles) {
    __shared__ int tile[2][64];
    const int i = static_cast<int>(threadIdx.x);
    int sum = 0;
    for (int t = 0; t < tiles + 1; t++) {
        if (t < tiles) {
            __pipeline_memcpy_async(&tile[t % 2][i], &in[t * 64 + i], sizeof(int));
        }
        __pipeline_commit();
        if (t > 0) {
            __pipeline_wait_prior(1);
            __syncthreads();
            sum += tile[(t - 1) % 2][63 - i];
        }
    }
    out[i] = sum;
}

int main() { return run<256>([](int* out, const int* in) { kernel<<<1, 64>>>(out, in, 4); }); }
