// SPDX-License-Identifier: MIT
// verdict: uninitialised shared async_copy_of_a_thread_that_ends.cu:17
// The second warp copies for the first and ends without a wait.
#include "checker/ptx.h"

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out, const int* in) {
    __shared__ int tile[32];
    const int i = static_cast<int>(threadIdx.x);
    if (i >= 32) {
        ptx::cp_async<4>(&tile[i - 32], &in[i]);
        ptx::cp_async_commit();
        return;
    }
    __syncthreads();
    out[i] = tile[i];
}

int main() { return run<64>([](int* out, const int* in) { kernel<<<1, 64>>>(out, in); }); }
