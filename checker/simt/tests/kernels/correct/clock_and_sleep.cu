// SPDX-License-Identifier: MIT
// verdict: correct
// A thread waits for time to pass, and sleeps until another has written.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void wait(volatile int* out) {
    if (threadIdx.x == 0) {
        const long long begin = clock64();
        while (clock64() - begin < 1000000) {
        }
        out[0] = 1;
    } else {
        while (out[0] == 0) {
            __nanosleep(100);
        }
        out[1] = 2;
    }
}

int main() { return run<2>([](int* out) { wait<<<1, 2>>>(out); }, [](int i) { return i + 1; }); }
