// SPDX-License-Identifier: MIT
// verdict: correct
// cp.async as inline PTX: 16 bytes with a size in L2, and 4 bytes of which the last lane's are zeros.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
__global__ void kernel(int* out, const int* in) {
    __shared__ alignas(16) int tile[32];
    __shared__ int rest[8];
    const int i = static_cast<int>(threadIdx.x);
    const auto to = static_cast<unsigned int>(__cvta_generic_to_shared(&tile[4 * i]));
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], %2;\n" ::"r"(to), "l"(&in[4 * i]), "n"(16));
    asm volatile("cp.async.commit_group;\n" ::);
    const auto to_rest = static_cast<unsigned int>(__cvta_generic_to_shared(&rest[i]));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to_rest), "l"(&in[32 + i]), "r"(i < 7 ? 4 : 0) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group %0;\n" ::"n"(1));
    __syncthreads();
    for (int k = 0; k < 4; k++) { out[8 * k + i] = tile[8 * k + i]; }
    asm volatile("cp.async.wait_all;");
    __syncthreads();
    out[32 + i] = rest[7 - i];
}
#else
__global__ void kernel(int*, const int*) {}
#endif

int main() {
    return run<40>([](int* out, const int* in) { kernel<<<1, 8>>>(out, in); },
                   [](int i) { return i < 32 ? i : i == 32 ? 0 : 71 - i; });
}
