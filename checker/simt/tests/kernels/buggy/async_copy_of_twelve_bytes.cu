// SPDX-License-Identifier: MIT
// verdict: bad_copy async_copy_of_twelve_bytes.cu:12
// A copy has 4, 8 or 16 bytes: three elements are two copies.
#include <cuda_runtime.h>
#include <cuda_pipeline.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out, const int* in) {
    __shared__ int tile[48];
    const int first = 3 * static_cast<int>(threadIdx.x);
    __pipeline_memcpy_async(&tile[first], &in[first], 3 * sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[first] = tile[first];
}

int main() { return run<64>([](int* out, const int* in) { kernel<<<1, 16>>>(out, in); }); }
