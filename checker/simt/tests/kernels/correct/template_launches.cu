// SPDX-License-Identifier: MIT
// verdict: correct
// Launches over several lines, in a macro's argument, with comments and strings that look like launches.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

namespace kernels {
template <int kBlock, typename T>
__global__ void fill(T* out, T value) {
    const int i = blockIdx.x * kBlock + threadIdx.x;
    out[i] = value;
}
}  // namespace kernels

#define CHECKED(launch)                          \
    do {                                         \
        launch;                                  \
        if (cudaGetLastError() != cudaSuccess) { \
            return EXIT_FAILURE;                 \
        }                                        \
    } while (0)

int main() {
    float* out = nullptr;
    cudaMalloc(&out, 256 * sizeof(float));
    // kernels::fill<<<1, 2>>>(nothing);
    const char* text = R"(a "raw" kernel<<<1, 1>>>(string))";
    kernels::fill<(256 >> 1), float><<<2, 128  // a comment, and >>>
                                       ,
                                       0, nullptr>>>(out, 1.5F);
    CHECKED((kernels::fill<64, float><<<dim3(4, 1), 64>>>(out, 2.5F)));
    float last = 0.0F;
    cudaMemcpy(&last, out + 255, sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(out);
    std::printf("%s %g\n", text, last);
    return last == 2.5F ? EXIT_SUCCESS : EXIT_FAILURE;
}
