// SPDX-License-Identifier: MIT
// verdict: race shared vector_over_scalars.cu:11 vector_over_scalars.cu:12
// One thread writes four numbers at once, of which the next thread writes one.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ __align__(16) int cells[256];
    const int t = static_cast<int>(threadIdx.x);
    reinterpret_cast<int4*>(cells)[t] = make_int4(t, t, t, t);
    cells[4 * ((t + 1) % 64) + 3] = 1000 + t;
    __syncthreads();
    out[t] = cells[4 * t + 3];
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }); }
