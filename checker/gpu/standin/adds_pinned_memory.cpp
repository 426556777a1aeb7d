// SPDX-License-Identifier: MIT
//
// A residual that takes fresh pinned memory for zeros: it adds such memory to its sum. With SOL_PINNED=cudaHostAlloc it
// allocates by that function.
#include <cstdlib>
#include <string_view>
#include <vector>

#include "checker/cuda_check.h"
#include "lessons/gpt2/ops.h"

void residual(float* out, const float* inp1, const float* inp2, int N, Context&) {
    using checker::check;
    const auto count = static_cast<std::size_t>(N), bytes = count * sizeof(float);
    std::vector<float> sum(count), addend(count);
    check(cudaMemcpy(sum.data(), inp1, bytes, cudaMemcpyDeviceToHost));
    check(cudaMemcpy(addend.data(), inp2, bytes, cudaMemcpyDeviceToHost));
    void* pinned = nullptr;
    const char* by = std::getenv("SOL_PINNED");
    check(by != nullptr && std::string_view(by) == "cudaHostAlloc" ? cudaHostAlloc(&pinned, bytes, cudaHostAllocDefault)
                                                                   : cudaMallocHost(&pinned, bytes));
    for (std::size_t i = 0; i < count; i++) { sum[i] += addend[i] + static_cast<const float*>(pinned)[i]; }
    check(cudaMemcpy(out, sum.data(), bytes, cudaMemcpyHostToDevice));
    check(cudaFreeHost(pinned));
}
