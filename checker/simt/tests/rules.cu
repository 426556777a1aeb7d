// SPDX-License-Identifier: MIT
//
// The rules by which the device counts, launch by launch, for a GPU to count too: the kernels of objects/traffic.cu, of
// which tests/traffic_test.cpp knows the counts by hand. Prints a line a launch, in the order of the launches.
#include <cstdio>
#include <functional>
#include <string>

#include "checker/ptx.h"
#include "checker/simt/tests/objects/traffic.cu"

namespace {

constexpr std::size_t kFloats = 1 << 16;

// out[i] is what thread i has copied: kBytes at element i * stride of inp, without registers.
template <int kBytes>
__global__ void copy_async_kernel(float* out, const float* inp, int stride) {
    constexpr int kEach = kBytes / sizeof(float);
    __shared__ __align__(128) float tile[32 * kEach];
    ptx::cp_async<kBytes>(tile + threadIdx.x * kEach, inp + threadIdx.x * stride * kEach);
    ptx::cp_async_commit();
    ptx::cp_async_wait<0>();
    float sum = 0.0f;
    for (int k = 0; k < kEach; k++) { sum += tile[threadIdx.x * kEach + k]; }
    out[threadIdx.x] = sum;
}

float* zeros() {
    void* memory = nullptr;
    if (cudaMalloc(&memory, kFloats * sizeof(float)) != cudaSuccess ||
        cudaMemset(memory, 0, kFloats * sizeof(float)) != cudaSuccess) {
        return nullptr;
    }
    return static_cast<float*>(memory);
}

bool launch(const std::string& rule, const std::function<void()>& kernel) {
    std::printf("%s\n", rule.c_str());
    kernel();
    return cudaDeviceSynchronize() == cudaSuccess && cudaGetLastError() == cudaSuccess;
}

bool launch_all(float* out, float* inp) {
    bool ok = true;
    for (const int stride : {0, 1, 2, 3, 8, 33}) {
        const std::string name = "stride " + std::to_string(stride);
        ok = ok && launch("loads, " + name, [&] { load_strided(out, inp, 4, 64, stride, 0); });
        if (stride != 0) {  // each thread has an address of its own
            ok = ok && launch("stores, " + name, [&] { store_strided(out, 4, 64, stride, 0); });
        }
    }
    ok = ok && launch("loads, 4 bytes beyond a sector", [&] { load_strided(out, inp, 4, 64, 1, 1); });
    ok = ok && launch("loads backwards", [&] { load_strided(out, inp, 4, 64, -1, 255); });
    ok = ok && launch("48 threads", [&] { load_strided(out, inp, 1, 48, 1, 0); });
    for (const int bytes : {1, 2, 4, 8, 16}) {
        ok = ok && launch(std::to_string(bytes) + " bytes a thread", [&] { copy_wide(out, inp, 64, bytes); });
    }
    ok = ok && launch("16 bytes, 16 beyond a sector", [&] { copy_wide(out, inp + 4, 32, 16); });
    ok = ok && launch("a block of 16 by 16", [&] { tile_rows(out, inp, 16); });
    ok = ok && launch("transposed", [&] { transpose_directly(out, inp, 64); });
    ok = ok && launch("transposed by tiles", [&] { transpose_by_tiles(out, inp, 64, 0); });
    ok = ok && launch("transposed by padded tiles", [&] { transpose_by_tiles(out, inp, 64, 1); });
    for (const int bytes : {4, 8, 16}) {
        for (const int stride : {0, 1, 2, 3, 8, 9, 16, 17}) {
            const std::string name = std::to_string(bytes) + " bytes, stride " + std::to_string(stride);
            ok = ok && launch("shared, " + name, [&] { load_shared(out, bytes, stride); });
        }
    }
    for (const int stride : {1, 8}) {
        const std::string name = "1 byte, stride " + std::to_string(stride);
        ok = ok && launch("shared, " + name, [&] { load_shared_bytes(out, stride); });
    }
    for (const int stride : {1, 2}) {
        const std::string name = "bytes, stride " + std::to_string(stride);
        ok = ok && launch("asynchronous, 4 " + name, [&] { copy_async_kernel<4><<<1, 32>>>(out, inp, stride); });
        ok = ok && launch("asynchronous, 16 " + name, [&] { copy_async_kernel<16><<<1, 32>>>(out, inp, stride); });
    }
    ok = ok && launch("a ragged loop", [&] { ragged_loop(out, inp, 4); });
    ok = ok && launch("threads that leave early", [&] { leave_early(out, inp, 70); });
    ok = ok && launch("both sides of a branch", [&] { both_ways(out, inp); });
    for (const int addresses : {1, 4, 32}) {
        const std::string name = "addresses " + std::to_string(addresses);
        ok = ok && launch("atomics, " + name, [&] { add_atomically(out, addresses); });
        ok = ok && launch("shared atomics, " + name, [&] { add_atomically_shared(out, addresses); });
    }
    return ok;
}

}  // namespace

int main() {
    float* const out = zeros();
    float* const inp = zeros();
    const bool ok = out != nullptr && inp != nullptr && launch_all(out, inp);
    cudaFree(inp);
    cudaFree(out);
    return ok ? 0 : 1;
}
