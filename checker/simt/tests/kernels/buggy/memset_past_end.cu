// SPDX-License-Identifier: MIT
// verdict: bad_copy memset_past_end.cu:9
// Elements counted where bytes are.
#include <cuda_runtime.h>

int main() {
    int* x = nullptr;
    cudaMalloc(&x, 100);
    cudaMemset(x, 0, 100 * sizeof(int));
    cudaFree(x);
}
