// SPDX-License-Identifier: MIT
// verdict: correct
// cudaLaunchKernel and cudaLaunchKernelEx with kernels given by address; what they return is the launch's own outcome, not
// an earlier error that nobody has looked at yet.
#include <cuda_runtime.h>

#include <cstdlib>

struct Range {
    long begin, end, step;
};

template <typename T>
__global__ void fill(T* out, const Range range, const T value) {
    const long i = range.begin + static_cast<long>(threadIdx.x) * range.step;
    if (i < range.end) {
        out[i] = value;
    }
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(out, 0, 64 * sizeof(int));
    Range range = {0, 64, 2};
    int value = 7;
    void* arguments[] = {&out, &range, &value};
    if (cudaSetDevice(1000) != cudaErrorInvalidDevice ||
        cudaLaunchKernel((const void*)fill<int>, dim3(1), dim3(32), arguments, 0, nullptr) != cudaSuccess ||
        cudaGetLastError() != cudaErrorInvalidDevice) {
        return EXIT_FAILURE;
    }
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(32);
    cudaLaunchKernelEx(&config, fill<int>, out, Range{1, 64, 2}, 9);
    void (*kernel)(int*, const Range, const int) = fill<int>;
    kernel<<<1, 1>>>(out, Range{0, 1, 1}, 5);
    int host[64];
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(out);
    return host[0] == 5 && host[2] == 7 && host[62] == 7 && host[1] == 9 && host[63] == 9 ? EXIT_SUCCESS : EXIT_FAILURE;
}
