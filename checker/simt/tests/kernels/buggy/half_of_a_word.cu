// SPDX-License-Identifier: MIT
// verdict: race shared half_of_a_word.cu:13 half_of_a_word.cu:14
// One thread writes two bytes of a word that another one reads whole.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out) {
    __shared__ unsigned words[64];
    const int t = static_cast<int>(threadIdx.x);
    words[t] = 0;
    __syncthreads();
    reinterpret_cast<unsigned short*>(words)[2 * t + 1] = static_cast<unsigned short>(t);
    out[t] = static_cast<int>(words[(t + 32) % 64]);
}

int main() { return run<64>([](int* out) { kernel<<<1, 64>>>(out); }); }
