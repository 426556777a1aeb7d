// SPDX-License-Identifier: MIT
// verdict: correct
// A maximum of floats by compare-and-swap in shared memory.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ int most;
    if (threadIdx.x == 0) {
        most = __float_as_int(-1.0F);
    }
    __syncthreads();
    const float mine = static_cast<float>(threadIdx.x % 50);
    int old = most;
    while (__int_as_float(old) < mine) {
        const int seen = atomicCAS(&most, old, __float_as_int(mine));
        if (seen == old) {
            break;
        }
        old = seen;
    }
    __syncthreads();
    out[threadIdx.x] = static_cast<int>(__int_as_float(most));
}

int main() { return run<128>([](int* out) { kernel<<<1, 128>>>(out); }, [](int) { return 49; }); }
