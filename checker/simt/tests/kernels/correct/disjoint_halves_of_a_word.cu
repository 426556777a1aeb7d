// SPDX-License-Identifier: MIT
// verdict: correct
// Threads write the two halves of each word, and other threads' halves are not theirs.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ unsigned words[64];
    const int t = static_cast<int>(threadIdx.x);
    auto* halves = reinterpret_cast<unsigned short*>(words);
    halves[t] = static_cast<unsigned short>(t);
    halves[127 - t] = static_cast<unsigned short>(1);
    __syncthreads();
    out[t] = halves[t] + halves[64 + t];
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }, [](int i) { return i + 1; }); }
