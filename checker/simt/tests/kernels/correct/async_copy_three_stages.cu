// SPDX-License-Identifier: MIT
// verdict: correct
// Two tiles are on their way while a third is used. One barrier a step is enough: the buffer that is filled next was
// read before it.
#include <cuda_runtime.h>
#include <cuda_pipeline.h>

#include "checker/simt/tests/run.h"

__global__ void sums(int* out, const int* in, int tiles) {
    __shared__ int tile[3][64];
    const int i = static_cast<int>(threadIdx.x);
    for (int t = 0; t < 2; t++) {
        __pipeline_memcpy_async(&tile[t][i], &in[t * 64 + i], sizeof(int));
        __pipeline_commit();
    }
    int sum = 0;
    for (int t = 0; t < tiles; t++) {
        __pipeline_wait_prior(1);
        __syncthreads();
        if (t + 2 < tiles) {
            __pipeline_memcpy_async(&tile[(t + 2) % 3][i], &in[(t + 2) * 64 + i], sizeof(int));
        }
        __pipeline_commit();
        sum += tile[t % 3][63 - i];
    }
    out[i] = sum;
}

int main() {
    return run<448>([](int* out, const int* in) { sums<<<1, 64>>>(out, in, 7); },
                    [](int i) { return i < 64 ? 7 * (63 - i) + 21 * 64 : 0; });
}
