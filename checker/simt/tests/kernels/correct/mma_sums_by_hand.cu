// SPDX-License-Identifier: MIT
// verdict: correct
// Sums of tensor cores, worked out by hand for an A100 and an H100: bits that are kept, chunks, zeros, subnormal numbers,
// overflow, infinities and NaN. A card has them too; it prints those that it adds otherwise.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "checker/ptx.h"
#include "checker/simt/tests/tensor_sums.h"

using tensor_sums::Sum;

constexpr int kRows = 16, kColumns = 8;  // size of a tile
constexpr int kRow = 9, kColumn = 5;     // place of the sum in it

// a is (16, k), b is (8, k) of each block's tile, a word for each element. The element's lane has its accumulator.
__global__ void add_tf32(std::uint32_t* d, const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c) {
    const std::uint32_t *rows = a + blockIdx.x * kRows * 8, *columns = b + blockIdx.x * kColumns * 8;
    const int g = threadIdx.x / 4, q = threadIdx.x % 4;
    ptx::Tf32A left;
    ptx::Tf32B right;
    ptx::Accumulators sums{};
    for (int i = 0; i < 4; i++) { left.x[i] = rows[(g + 8 * (i % 2)) * 8 + q + 4 * (i / 2)]; }
    for (int i = 0; i < 2; i++) { right.x[i] = columns[g * 8 + q + 4 * i]; }
    const bool is_owner = g == kRow % 8 && q == kColumn / 2;
    constexpr int kRegister = 2 * (kRow / 8) + kColumn % 2;
    sums.x[kRegister] = is_owner ? __uint_as_float(c[blockIdx.x]) : 0;
    ptx::mma_m16n8k8(sums, left, right);
    if (is_owner) {
        d[blockIdx.x] = __float_as_uint(sums.x[kRegister]);
    }
}

template <class A, class B>
__device__ void load_16_bits(A& left, B& right, const std::uint32_t* rows, const std::uint32_t* columns) {
    const int g = threadIdx.x / 4, q = threadIdx.x % 4;
    for (int i = 0; i < 4; i++) {
        const std::uint32_t* pair = &rows[(g + 8 * (i % 2)) * 16 + 2 * q + 8 * (i / 2)];
        left.x[i] = pair[0] | pair[1] << 16;
    }
    for (int i = 0; i < 2; i++) {
        const std::uint32_t* pair = &columns[g * 16 + 2 * q + 8 * i];
        right.x[i] = pair[0] | pair[1] << 16;
    }
}

template <class A, class B>
__global__ void add_16_bits(std::uint32_t* d, const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c) {
    A left;
    B right;
    ptx::Accumulators sums{};
    load_16_bits(left, right, a + blockIdx.x * kRows * 16, b + blockIdx.x * kColumns * 16);
    const bool is_owner = threadIdx.x == kRow % 8 * 4 + kColumn / 2;
    constexpr int kRegister = 2 * (kRow / 8) + kColumn % 2;
    sums.x[kRegister] = is_owner ? __uint_as_float(c[blockIdx.x]) : 0;
    ptx::mma_m16n8k16(sums, left, right);
    if (is_owner) {
        d[blockIdx.x] = __float_as_uint(sums.x[kRegister]);
    }
}

__global__ void add_in_f16(std::uint32_t* d, const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c) {
    ptx::HalfA left;
    ptx::HalfB right;
    ptx::HalfAccumulators sums{};
    load_16_bits(left, right, a + blockIdx.x * kRows * 16, b + blockIdx.x * kColumns * 16);
    const bool is_owner = threadIdx.x == kRow % 8 * 4 + kColumn / 2;
    constexpr int kRegister = kRow / 8, kShift = 16 * (kColumn % 2);
    sums.x[kRegister] = is_owner ? c[blockIdx.x] << kShift : 0;
    ptx::mma_m16n8k16(sums, left, right);
    if (is_owner) {
        d[blockIdx.x] = sums.x[kRegister] >> kShift & 0xffffU;
    }
}

using Kernel = void (*)(std::uint32_t*, const std::uint32_t*, const std::uint32_t*, const std::uint32_t*);

std::uint32_t* on_device(const std::vector<std::uint32_t>& words) {
    void* memory = nullptr;
    cudaMalloc(&memory, words.size() * sizeof(std::uint32_t));
    cudaMemcpy(memory, words.data(), words.size() * sizeof(std::uint32_t), cudaMemcpyHostToDevice);
    return static_cast<std::uint32_t*>(memory);
}

// Returns the bits of each sum. All have one type, and accumulators of one type.
std::vector<std::uint32_t> bits_of(const std::vector<Sum>& sums, Kernel kernel) {
    const int k = sums[0].length(), count = static_cast<int>(sums.size());
    std::vector<std::uint32_t> a(sums.size() * kRows * k), b(sums.size() * kColumns * k), c(sums.size());
    for (int i = 0; i < count; i++) {
        const Sum& sum = sums[i];
        for (const tensor_sums::Factors& factors : sum.factors) {
            a[(i * kRows + kRow) * k + factors.k] = tensor_sums::word(sum.type, factors.a);
            b[(i * kColumns + kColumn) * k + factors.k] = tensor_sums::word(sum.type, factors.b);
        }
        c[i] = sum.f16_accumulator ? tensor_sums::word(simt::TensorType::f16, sum.c) : std::bit_cast<std::uint32_t>(sum.c);
    }
    std::uint32_t *rows = on_device(a), *columns = on_device(b), *before = on_device(c), *after = on_device(c);
    kernel<<<count, 32>>>(after, rows, columns, before);
    cudaMemcpy(c.data(), after, c.size() * sizeof(std::uint32_t), cudaMemcpyDeviceToHost);
    for (std::uint32_t* memory : {rows, columns, before, after}) { cudaFree(memory); }
    return c;
}

int main() {
    cudaDeviceProp card;
    cudaGetDeviceProperties(&card, 0);
    if (card.major < 8) {
        return EXIT_SUCCESS;  // neither TF32 nor these shapes
    }
    int wrong = 0;
    const auto compare = [&](simt::TensorType type, bool f16_accumulator, Kernel kernel) {
        std::vector<Sum> sums;
        for (const std::vector<Sum>& all : {tensor_sums::telling_sums(), tensor_sums::sums_with_other_edges()}) {
            for (const Sum& sum : all) {
                if (sum.type == type && sum.f16_accumulator == f16_accumulator) {
                    sums.push_back(sum);
                }
            }
        }
        const std::vector<std::uint32_t> bits = bits_of(sums, kernel);
        for (std::size_t i = 0; i < sums.size(); i++) {
            const std::uint32_t right =
                tensor_sums::expected_bits(f16_accumulator, card.major >= 9 ? sums[i].hopper : sums[i].ampere);
            if (bits[i] != right) {
                wrong++;
                std::printf("%s, type %d: %08x, not %08x\n", sums[i].what, static_cast<int>(type), bits[i], right);
            }
        }
    };
    compare(simt::TensorType::tf32, false, add_tf32);
    compare(simt::TensorType::bf16, false, add_16_bits<ptx::Bf16A, ptx::Bf16B>);
    compare(simt::TensorType::f16, false, add_16_bits<ptx::HalfA, ptx::HalfB>);
    compare(simt::TensorType::f16, true, add_in_f16);
    return wrong == 0 && cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
