// SPDX-License-Identifier: MIT
// verdict: uninitialised shared async_copy_by_inline_ptx_one_group_too_early.cu:16
// A wait for all but the newest group leaves the only one on its way.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
__global__ void kernel(int* out, const int* in) {
    __shared__ alignas(16) int tile[32];
    const int i = static_cast<int>(threadIdx.x);
    const auto to = static_cast<unsigned int>(__cvta_generic_to_shared(&tile[4 * i]));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(&in[4 * i]) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    out[i] = tile[4 * i];
}
#else
__global__ void kernel(int*, const int*) {}
#endif

int main() { return run<32>([](int* out, const int* in) { kernel<<<1, 8>>>(out, in); }); }
