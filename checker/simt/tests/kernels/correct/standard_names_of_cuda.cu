// SPDX-License-Identifier: MIT
// verdict: correct
// A kernel uses names of the C++ library under cuda::std.
#include <cuda_runtime.h>

#include <cstdlib>
#include <cuda/atomic>
#include <cuda/std/array>
#include <cuda/std/cmath>
#include <cuda/std/complex>
#include <cuda/std/cstddef>
#include <cuda/std/cstdint>
#include <cuda/std/functional>
#include <cuda/std/limits>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>

template <class T, class Combine>
__device__ T combined(const cuda::std::array<T, 4>& values, Combine combine) {
    static_assert(cuda::std::is_arithmetic_v<T>);
    T result = cuda::std::numeric_limits<T>::lowest();
    for (cuda::std::size_t i = 0; i < values.size(); i++) {
        if (combine(values[i], result)) {
            result = values[i];
        }
    }
    return result;
}

__global__ void kernel(float* out, cuda::std::uint32_t* count) {
    const float x = static_cast<float>(threadIdx.x);
    const cuda::std::complex<float> turned = cuda::std::complex<float>(x, 1.0F) * cuda::std::complex<float>(0.0F, 1.0F);
    auto [low, high] = cuda::std::make_tuple(turned.real(), turned.imag());
    cuda::std::swap(low, high);
    const cuda::std::array<float, 4> values{low, high, cuda::std::sqrt(x), -x};
    out[threadIdx.x] = combined(values, cuda::std::greater<float>());
    cuda::atomic_ref<cuda::std::uint32_t>(*count).fetch_add(1U);
}

int main() {
    constexpr int kThreads = 64;
    float host[kThreads];
    float* out = nullptr;
    cuda::std::uint32_t *count = nullptr, counted = 0;
    cudaMalloc(&out, sizeof host);
    cudaMalloc(&count, sizeof counted);
    cudaMemset(count, 0, sizeof counted);
    kernel<<<1, kThreads>>>(out, count);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaMemcpy(&counted, count, sizeof counted, cudaMemcpyDeviceToHost);
    cudaFree(out);
    cudaFree(count);
    bool right = counted == kThreads;
    for (int i = 0; i < kThreads; i++) { right = right && host[i] == static_cast<float>(i); }
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
