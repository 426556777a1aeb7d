// SPDX-License-Identifier: MIT
// verdict: correct
// The third block waits for the second one, which waited for the first.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    volatile int* flags = out + 4;
    if (blockIdx.x == 0) {
        out[0] = 1;
        __threadfence();
        flags[0] = 1;
    } else if (blockIdx.x == 1) {
        while (flags[0] == 0) {
        }
        __threadfence();
        flags[1] = 1;
    } else {
        while (flags[1] == 0) {
        }
        __threadfence();
        out[1] = out[0];
        out[0] = 2;
    }
}

int main() {
    return run<6>([](int* out) { kernel<<<3, 1>>>(out); }, [](int i) { return i == 0 ? 2 : i == 2 || i == 3 ? 0 : 1; });
}
