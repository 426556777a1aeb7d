// SPDX-License-Identifier: MIT
// verdict: correct
// Kernels whose parameters only choose a version, and have no name; also where the arguments come in an array.
#include <cuda_runtime.h>

#include <cstdlib>
#include <type_traits>

namespace ways {
struct Twice {
    int factor;
};
}  // namespace ways

template <bool kTwice>
__global__ void fill(std::bool_constant<kTwice>, int* out, const ways::Twice&, int by) {
    out[threadIdx.x] = kTwice ? 2 * by : by;
}

__global__ void plain(const ways::Twice, float, int* out) {
    out[threadIdx.x] = 5;
}

int main() {
    int* out = nullptr;
    int got[3] = {};
    cudaMalloc(&out, sizeof got);
    fill<<<1, 1>>>(std::bool_constant<true>(), out, ways::Twice{1}, 3);
    fill<<<1, 1>>>(std::bool_constant<false>(), out + 1, ways::Twice{1}, 3);
    ways::Twice twice{2};
    float unused = 0;
    int* last = out + 2;
    void* arguments[] = {&twice, &unused, &last};
    const bool launched =
        cudaLaunchKernel(reinterpret_cast<const void*>(plain), dim3(1), dim3(1), arguments, 0, nullptr) == cudaSuccess;
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    cudaFree(out);
    return launched && got[0] == 6 && got[1] == 3 && got[2] == 5 ? EXIT_SUCCESS : EXIT_FAILURE;
}
