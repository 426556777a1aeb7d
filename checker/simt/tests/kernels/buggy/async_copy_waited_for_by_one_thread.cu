// SPDX-License-Identifier: MIT
// verdict: uninitialised shared async_copy_waited_for_by_one_thread.cu:17
// One thread waits, which lands its own copies and nobody else's.
#include "checker/ptx.h"

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out, const int* in) {
    __shared__ int tile[64];
    const int i = static_cast<int>(threadIdx.x);
    ptx::cp_async<4>(&tile[i], &in[i]);
    ptx::cp_async_commit();
    if (i == 0) {
        ptx::cp_async_wait<0>();
    }
    __syncthreads();
    out[i] = tile[63 - i];
}

int main() { return run<64>([](int* out, const int* in) { kernel<<<1, 64>>>(out, in); }); }
