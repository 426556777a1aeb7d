// SPDX-License-Identifier: MIT
// verdict: correct
// The last stages of a pipeline are copied and never used: threads end with copies on their way that nobody reads.
#include "checker/ptx.h"

#include "checker/simt/tests/run.h"

__global__ void sums(int* out, const int* in, int tiles) {
    __shared__ int tile[3][64];
    const int i = static_cast<int>(threadIdx.x);
    for (int t = 0; t < 2; t++) {
        ptx::cp_async<4>(&tile[t][i], &in[t % tiles * 64 + i]);
        ptx::cp_async_commit();
    }
    int sum = 0;
    for (int t = 0; t < tiles; t++) {
        ptx::cp_async_wait<1>();
        __syncthreads();
        sum += tile[t % 3][63 - i];
        ptx::cp_async<4>(&tile[(t + 2) % 3][i], &in[(t + 2) % tiles * 64 + i]);
        ptx::cp_async_commit();
    }
    out[blockIdx.x * 64 + i] = sum;
}

int main() {
    return run<256>([](int* out, const int* in) { sums<<<4, 64>>>(out, in, 4); },
                    [](int i) { return 4 * (63 - i % 64) + 6 * 64; });
}
