// SPDX-License-Identifier: MIT
// verdict: correct
// While a block works on one tile the next one is copied; all but the newest group have landed before the barrier.
#include "checker/ptx.h"

#include "checker/simt/tests/run.h"

__global__ void sums(int* out, const int* in, int tiles) {
    __shared__ int tile[2][64];
    const int i = static_cast<int>(threadIdx.x);
    ptx::cp_async<4>(&tile[0][i], &in[i]);
    ptx::cp_async_commit();
    int sum = 0;
    for (int t = 0; t < tiles; t++) {
        if (t + 1 < tiles) {
            ptx::cp_async<4>(&tile[(t + 1) % 2][i], &in[(t + 1) * 64 + i]);
        }
        ptx::cp_async_commit();
        ptx::cp_async_wait<1>();
        __syncthreads();
        sum += tile[t % 2][63 - i];
        __syncthreads();
    }
    out[i] = sum;
}

int main() {
    return run<320>([](int* out, const int* in) { sums<<<1, 64>>>(out, in, 5); },
                    [](int i) { return i < 64 ? 5 * (63 - i) + 640 : 0; });
}
