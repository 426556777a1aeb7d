// SPDX-License-Identifier: MIT
// verdict: correct
// Threads beyond the tail copy its last element to its place once more: whichever lands last, it is the same value.
#include "checker/ptx.h"

#include "checker/simt/tests/run.h"

__global__ void reverse(int* out, const int* in, int n) {
    __shared__ int tile[64];
    const int i = static_cast<int>(threadIdx.x);
    const int last = i < n ? i : n - 1;
    ptx::cp_async<4>(&tile[last], &in[last]);
    ptx::cp_async_wait_all();
    __syncthreads();
    out[i] = i < n ? tile[n - 1 - i] : 0;
}

int main() {
    return run<64>([](int* out, const int* in) { reverse<<<1, 64>>>(out, in, 50); },
                   [](int i) { return i < 50 ? 49 - i : 0; });
}
