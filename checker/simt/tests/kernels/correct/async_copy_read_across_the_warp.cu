// SPDX-License-Identifier: MIT
// verdict: correct
// Between the lanes of a warp __syncwarp() behind the wait is enough.
#include "checker/ptx.h"

#include "checker/simt/tests/run.h"

__global__ void reverse(int* out, const int* in) {
    __shared__ int tile[128];
    const int i = static_cast<int>(threadIdx.x);
    ptx::cp_async<4>(&tile[i], &in[i]);
    ptx::cp_async_wait_all();
    __syncwarp();
    out[i] = tile[i ^ 31];
}

int main() {
    return run<128>([](int* out, const int* in) { reverse<<<1, 128>>>(out, in); }, [](int i) { return i ^ 31; });
}
