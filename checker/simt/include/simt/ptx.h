// SPDX-License-Identifier: MIT
//
// PTX's special registers, and the instructions without side effects that simt-lower reads in inline PTX
// (checker/simt/lower/ptx.h). A name is that of the PTX ISA, with _ for a point.
#pragma once
#pragma GCC system_header

#include "async_copies.h"
#include "bits.h"
#include "bits_of.h"
#include "clock.h"
#include "indices.h"
#include "math.h"
#include "tensor.h"

namespace simt {

// The number of the launch, from 1 on.
unsigned long long grid_id();

namespace ptx {

#define SIMT_PTX __attribute__((always_inline)) inline

SIMT_PTX unsigned int tid_x() {
    return threadIdx.x;
}
SIMT_PTX unsigned int tid_y() {
    return threadIdx.y;
}
SIMT_PTX unsigned int tid_z() {
    return threadIdx.z;
}
SIMT_PTX unsigned int ntid_x() {
    return blockDim.x;
}
SIMT_PTX unsigned int ntid_y() {
    return blockDim.y;
}
SIMT_PTX unsigned int ntid_z() {
    return blockDim.z;
}
SIMT_PTX unsigned int ctaid_x() {
    return blockIdx.x;
}
SIMT_PTX unsigned int ctaid_y() {
    return blockIdx.y;
}
SIMT_PTX unsigned int ctaid_z() {
    return blockIdx.z;
}
SIMT_PTX unsigned int nctaid_x() {
    return gridDim.x;
}
SIMT_PTX unsigned int nctaid_y() {
    return gridDim.y;
}
SIMT_PTX unsigned int nctaid_z() {
    return gridDim.z;
}
SIMT_PTX unsigned int thread_in_block() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
SIMT_PTX unsigned int laneid() {
    return thread_in_block() % 32;
}
SIMT_PTX unsigned int warpid() {
    return thread_in_block() / 32;
}
SIMT_PTX unsigned int nwarpid() {
    return 64;  // 2,048 threads per multiprocessor
}
SIMT_PTX unsigned int smid() {
    return 0;
}
SIMT_PTX unsigned int nsmid() {
    return 1;
}
SIMT_PTX unsigned int WARP_SZ() {
    return 32;
}
SIMT_PTX unsigned int lanemask_eq() {
    return 1U << laneid();
}
SIMT_PTX unsigned int lanemask_lt() {
    return lanemask_eq() - 1;
}
SIMT_PTX unsigned int lanemask_le() {
    return lanemask_lt() | lanemask_eq();
}
SIMT_PTX unsigned int lanemask_gt() {
    return ~lanemask_le();
}
SIMT_PTX unsigned int lanemask_ge() {
    return ~lanemask_lt();
}
SIMT_PTX unsigned long long gridid() {
    return grid_id();
}
SIMT_PTX unsigned long long clock64() {
    return static_cast<unsigned long long>(::clock64());
}
SIMT_PTX unsigned int clock() {
    return static_cast<unsigned int>(clock64());
}
SIMT_PTX unsigned int clock_hi() {
    return static_cast<unsigned int>(clock64() >> 32);
}
SIMT_PTX unsigned long long globaltimer() {
    return clock64();  // nanoseconds
}
SIMT_PTX unsigned int globaltimer_lo() {
    return clock();
}
SIMT_PTX unsigned int globaltimer_hi() {
    return clock_hi();
}

SIMT_PTX unsigned int popc_b32(unsigned int x) {
    return static_cast<unsigned int>(__popc(x));
}
SIMT_PTX unsigned int popc_b64(unsigned long long x) {
    return static_cast<unsigned int>(__popcll(x));
}
SIMT_PTX unsigned int clz_b32(unsigned int x) {
    return static_cast<unsigned int>(countl_zero(x));
}
SIMT_PTX unsigned int clz_b64(unsigned long long x) {
    return static_cast<unsigned int>(countl_zero(x));
}
SIMT_PTX unsigned int brev_b32(unsigned int x) {
    return __brev(x);
}
SIMT_PTX unsigned long long brev_b64(unsigned long long x) {
    return __brevll(x);
}
// The place of the highest bit that is not the sign, or all ones.
SIMT_PTX unsigned int bfind_u32(unsigned int x) {
    return 31U - clz_b32(x);
}
SIMT_PTX unsigned int bfind_u64(unsigned long long x) {
    return 63U - clz_b64(x);
}
SIMT_PTX unsigned int bfind_s32(int x) {
    return bfind_u32(static_cast<unsigned int>(x < 0 ? ~x : x));
}
SIMT_PTX unsigned int bfind_s64(long long x) {
    return bfind_u64(static_cast<unsigned long long>(x < 0 ? ~x : x));
}
SIMT_PTX unsigned int prmt_b32(unsigned int x, unsigned int y, unsigned int selectors) {
    return __byte_perm(x, y, selectors);
}
// The bits of x from `begin` on, at most 32 of them; `begin` and `length` are of 8 bits.
SIMT_PTX unsigned int bfe_u32(unsigned int x, unsigned int begin, unsigned int length) {
    begin &= 255U;
    length &= 255U;
    const unsigned int shifted = begin > 31 ? 0 : x >> begin;
    return length > 31 ? shifted : shifted & ((1U << length) - 1);
}
// Bits of `low` replace those of x from `begin` on.
SIMT_PTX unsigned int bfi_b32(unsigned int low, unsigned int x, unsigned int begin, unsigned int length) {
    begin &= 255U;
    length &= 255U;
    const unsigned int mask = begin > 31 ? 0 : (length > 31 ? ~0U : (1U << length) - 1) << begin;
    return (x & ~mask) | ((begin > 31 ? 0 : low << begin) & mask);
}
// The sum of the distances of four bytes, and of z.
SIMT_PTX unsigned int vabsdiff4_u32_u32_u32_add(unsigned int x, unsigned int y, unsigned int z) {
    for (int byte = 0; byte < 4; byte++) { z = __usad((x >> (8 * byte)) & 255U, (y >> (8 * byte)) & 255U, z); }
    return z;
}

// Rounds to 10 bits of fraction, ties away from zero. A carry out of the fraction is the next exponent.
SIMT_PTX unsigned int cvt_rna_tf32_f32(float x) {
    const auto bits = simt::bit_cast<unsigned int>(x);
    return (bits & 0x7fffffffU) > 0x7f800000U ? 0x7fffffffU : (bits + 0x1000U) & 0xffffe000U;
}
SIMT_PTX unsigned int bf16_bits(float x) {
    const auto bits = simt::bit_cast<unsigned int>(x);
    return (bits & 0x7fffffffU) > 0x7f800000U ? 0x7fffU : (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16;
}
// The first argument goes into the upper half.
SIMT_PTX unsigned int cvt_rn_bf16x2_f32(float high, float low) {
    return bf16_bits(high) << 16 | bf16_bits(low);
}
// Subnormal numbers are taken and given as 0. The result is rounded correctly, which a GPU's need not be.
SIMT_PTX float ex2_approx_ftz_f32(float x) {
    constexpr float kSmallestNormal = 0x1p-126F;
    const float power = exp2f(fabsf(x) < kSmallestNormal ? 0.0F : x);
    return power < kSmallestNormal ? 0.0F : power;
}

SIMT_PTX unsigned long long cvta_to_shared_u64(unsigned long long generic) {
    return shared_offset(reinterpret_cast<const void*>(generic));
}
template <class Pointer>
SIMT_PTX unsigned int cvta_to_shared_u32(Pointer generic) {
    return static_cast<unsigned int>(shared_offset((const void*)generic));
}

// cp.async in inline PTX, to an offset in shared memory.
template <class Source>
SIMT_PTX void cp_async(unsigned long long shared, Source global, std::size_t bytes) {
    copy_async(shared_address(shared), (const void*)global, bytes, bytes);
}
template <class Source>
SIMT_PTX void cp_async(unsigned long long shared, Source global, std::size_t bytes, std::size_t source_bytes) {
    copy_async(shared_address(shared), (const void*)global, bytes, source_bytes);
}
SIMT_PTX void cp_async_commit_group() {
    commit_copies();
}
SIMT_PTX void cp_async_wait_group(std::size_t newest) {
    wait_for_copies(newest);
}
SIMT_PTX void cp_async_wait_all() {
    wait_for_all_copies();
}

// An mma.sync in inline PTX: `numbers` are those of the operands that hold D, A, B and C.
template <MmaShape shape, int... numbers, class... Operands>
SIMT_PTX void mma_sync_operands(Operands&&... operands) {
    static_assert(((sizeof(Operands) == 4) && ...), "the operands of mma.sync are registers of 32 bits");
    constexpr int kAll = sizeof...(numbers), kNumbers[kAll] = {numbers...};
    constexpr int kD = shape == MmaShape::m16n8k8_f16_f16 || shape == MmaShape::m16n8k16_f16_f16 ? 2 : 4;
    constexpr int kA = (kAll - 2 * kD) / 3 * 2;
    const void* const at[] = {&operands...};
    unsigned int registers[kAll];
    for (int i = kD; i < kAll; i++) { __builtin_memcpy(&registers[i], at[kNumbers[i]], 4); }
    mma_sync(shape, registers, registers + kD, registers + kD + kA, registers + kAll - kD);
    for (int i = 0; i < kD; i++) { __builtin_memcpy(const_cast<void*>(at[kNumbers[i]]), &registers[i], 4); }
}

// An ldmatrix in inline PTX: the operand number `address` is an offset in shared memory, to which `more` is added.
template <bool transposed, int more, int address, int... numbers, class... Operands>
SIMT_PTX void ldmatrix_operands(Operands&&... operands) {
    constexpr int kMatrices = sizeof...(numbers), kNumbers[kMatrices] = {numbers...};
    constexpr std::size_t kBytes[] = {sizeof(Operands)...};
    const void* const at[] = {&operands...};
    unsigned long long offset = 0;
    __builtin_memcpy(&offset, at[address], kBytes[address]);
    unsigned int registers[kMatrices];
    load_matrix(registers, kMatrices, transposed, shared_address(offset + more));
    for (int i = 0; i < kMatrices; i++) { __builtin_memcpy(const_cast<void*>(at[kNumbers[i]]), &registers[i], 4); }
}

#undef SIMT_PTX

}  // namespace ptx
}  // namespace simt
