// SPDX-License-Identifier: MIT
// verdict: uninitialised shared async_copy_waits_with_too_many_stages.cu:18
// With three stages on their way two may stay so, not three.
#include <cuda_runtime.h>
#include <cuda_pipeline.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out, const int* in) {
    __shared__ int tile[3][64];
    const int i = static_cast<int>(threadIdx.x);
    for (int t = 0; t < 3; t++) {
        __pipeline_memcpy_async(&tile[t][i], &in[t * 64 + i], sizeof(int));
        __pipeline_commit();
    }
    __pipeline_wait_prior(3);
    __syncthreads();
    out[i] = tile[0][63 - i];
}

int main() { return run<192>([](int* out, const int* in) { kernel<<<1, 64>>>(out, in); }); }
