// SPDX-License-Identifier: MIT
//
// The sum of numbers in the host's memory, to the host's memory, by way of the device. It does one thing wrong where
// SUM_WRONG names it.
#include <cstdlib>
#include <string_view>

#include "checker/cuda_check.h"
#include "checker/tests/fakes/fake_sum.h"

using checker::check;

namespace {

bool wrong(std::string_view what) {
    const char* const named = std::getenv("SUM_WRONG");
    return named != nullptr && what == named;
}

__global__ void sum_kernel(float* out, const float* inp, int N) {
    float sum = 0;
    for (int i = 0; i < N; i++) { sum += inp[i]; }
    *out = sum;
}

}  // namespace

void sum(float* out, const float* inp, int N, CUstream_st* stream) {
    static const float* const first = inp;
    float *in = nullptr, *total = nullptr;  // freed in the stream: cudaFree would wait
    check(cudaMallocAsync(&in, 400 * sizeof(float), stream));
    check(cudaMallocAsync(&total, sizeof(float), stream));
    const auto bytes = static_cast<std::size_t>(N) * sizeof(float);
    check(cudaMemcpyAsync(in, wrong("keeps_the_address") ? first : inp, bytes + (wrong("reads_too_far") ? 256 : 0),
                          cudaMemcpyHostToDevice, stream));
    sum_kernel<<<1, 1, 0, stream>>>(total, wrong("gives_it_to_a_kernel") ? inp : in, N);
    check(cudaGetLastError());
    static float* to = nullptr;
    static float late = 0;
    to = wrong("does_not_wait") ? &late : wrong("writes_beside") ? out + 1 : out;
    check(cudaMemcpyAsync(to, total, sizeof(float), cudaMemcpyDeviceToHost, stream));
    check(cudaFreeAsync(in, stream));
    check(cudaFreeAsync(total, stream));
    check(cudaStreamSynchronize(stream));
    if (wrong("does_not_wait")) {
        to = out;
        check(cudaLaunchHostFunc(
            stream, [](void*) { *to = late; }, nullptr));
    }
    if (wrong("writes_its_input")) {
        const_cast<float*>(inp)[1] = 0;
    }
}
