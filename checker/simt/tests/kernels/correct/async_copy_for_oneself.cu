// SPDX-License-Identifier: MIT
// verdict: correct
// A thread that uses only what it has copied itself needs its wait and no barrier.
#include "checker/ptx.h"

#include "checker/simt/tests/run.h"

__global__ void sums(int* out, const int* in, int steps) {
    __shared__ int cells[2][64];
    const int i = static_cast<int>(threadIdx.x);
    ptx::cp_async<4>(&cells[0][i], &in[i]);
    ptx::cp_async_commit();
    int sum = 0;
    for (int s = 0; s < steps; s++) {
        if (s + 1 < steps) {
            ptx::cp_async<4>(&cells[(s + 1) % 2][i], &in[(s + 1) * 64 + i]);
        }
        ptx::cp_async_commit();
        ptx::cp_async_wait<1>();
        sum += cells[s % 2][i];
        cells[s % 2][i] = sum;
    }
    out[i] = sum;
}

int main() {
    return run<320>([](int* out, const int* in) { sums<<<1, 64>>>(out, in, 5); },
                    [](int i) { return i < 64 ? 5 * i + 640 : 0; });
}
