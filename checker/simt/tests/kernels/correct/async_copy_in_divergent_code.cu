// SPDX-License-Identifier: MIT
// verdict: correct
// Groups are counted for each thread: those that copy nothing have fewer, or none.
#include "checker/ptx.h"

#include "checker/simt/tests/run.h"

__global__ void halves(int* out, const int* in) {
    __shared__ int tile[2][32];
    const int i = static_cast<int>(threadIdx.x);
    if (i % 3 == 0) {
        for (int j = i; j < i + 3 && j < 32; j++) { ptx::cp_async<4>(&tile[0][j], &in[j]); }
        ptx::cp_async_commit();
    }
    if (i >= 32) {
        ptx::cp_async<4>(&tile[1][i - 32], &in[i]);
        ptx::cp_async_commit();
        ptx::cp_async_wait<0>();
    } else {
        ptx::cp_async_wait<0>();
    }
    __syncthreads();
    out[i] = tile[1 - i / 32][i % 32];
}

int main() {
    return run<64>([](int* out, const int* in) { halves<<<1, 64>>>(out, in); },
                   [](int i) { return i < 32 ? i + 32 : i - 32; });
}
