// SPDX-License-Identifier: MIT
// verdict: uninitialised shared async_copy_without_a_wait.cu:14
// The barrier makes threads meet, but waits for no copy.
#include "checker/ptx.h"

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out, const int* in) {
    __shared__ int tile[64];
    const int i = static_cast<int>(threadIdx.x);
    ptx::cp_async<4>(&tile[i], &in[i]);
    ptx::cp_async_commit();
    __syncthreads();
    out[i] = tile[63 - i];
}

int main() { return run<64>([](int* out, const int* in) { kernel<<<1, 64>>>(out, in); }); }
