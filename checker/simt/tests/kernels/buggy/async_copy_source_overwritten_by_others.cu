// SPDX-License-Identifier: MIT
// verdict: race global async_copy_source_overwritten_by_others.cu:11 async_copy_source_overwritten_by_others.cu:14
// Barriers part the issue, the write and the wait, but a copy reads until its wait.
#include "checker/ptx.h"

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out, const int* in) {
    __shared__ int tile[64];
    const int i = static_cast<int>(threadIdx.x);
    ptx::cp_async<4>(&tile[i], &out[i]);
    ptx::cp_async_commit();
    __syncthreads();
    out[63 - i] = in[i];
    __syncthreads();
    ptx::cp_async_wait<0>();
    out[i] += tile[i];
}

int main() { return run<64>([](int* out, const int* in) { kernel<<<1, 64>>>(out, in); }); }
