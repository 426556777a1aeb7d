// SPDX-License-Identifier: MIT
// verdict: uninitialised shared async_copy_waits_for_one_group_too_few.cu:21
// In the last step no empty group takes the place of a copy: the last tile is the newest group, which no wait is for.
#include "checker/ptx.h"

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out, const int* in, int tiles) {
    __shared__ int tile[2][64];
    const int i = static_cast<int>(threadIdx.x);
    ptx::cp_async<4>(&tile[0][i], &in[i]);
    ptx::cp_async_commit();
    int sum = 0;
    for (int t = 0; t < tiles; t++) {
        if (t + 1 < tiles) {
            ptx::cp_async<4>(&tile[(t + 1) % 2][i], &in[(t + 1) * 64 + i]);
            ptx::cp_async_commit();
        }
        ptx::cp_async_wait<1>();
        __syncthreads();
        sum += tile[t % 2][63 - i];
        __syncthreads();
    }
    out[i] = sum;
}

int main() { return run<256>([](int* out, const int* in) { kernel<<<1, 64>>>(out, in, 4); }); }
