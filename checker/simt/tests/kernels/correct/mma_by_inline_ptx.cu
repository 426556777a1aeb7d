// SPDX-License-Identifier: MIT
// verdict: correct
// Inline PTX as other programs have it: a shared address, ldmatrix with its qualifiers in two orders, mma.sync with
// accumulators apart from the result, and the conversions.
#include "checker/simt/tests/matrices.h"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    __shared__ alignas(16) std::uint32_t rows_of_a[16][12], rows_of_b[16][4];
    fill_a(rows_of_a, lane, 32);
    fill_b_by_k(rows_of_b, lane, 32);
    __syncwarp();
    unsigned int a[4], b[2], from_a, tf32, pair;
    asm("{ .reg .u64 address; cvta.to.shared.u64 address, %1; cvt.u32.u64 %0, address; }"
        : "=r"(from_a)
        : "l"(&rows_of_a[lane % 16][lane / 16 * 4]));
    const auto from_b = static_cast<unsigned int>(__cvta_generic_to_shared(&rows_of_b[lane % 8][0]));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(from_a));
    asm volatile("ldmatrix.sync.aligned.x1.trans.m8n8.shared.b16 {%0}, [%1];" : "=r"(b[0]) : "r"(from_b));
    asm volatile("ldmatrix.sync.aligned.x1.trans.m8n8.shared.b16 {%0}, [%1 + 128];" : "=r"(b[1]) : "r"(from_b) : "memory");
    ptx::Accumulators c{{1, 2, 3, 4}}, d;
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3},\n"
        " {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};\n"
        : "=f"(d.x[0]), "=f"(d.x[1]), "=f"(d.x[2]), "=f"(d.x[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c.x[0]), "f"(c.x[1]), "f"(c.x[2]), "f"(c.x[3]));
    for (int i = 0; i < 4; i++) { d.x[i] -= c.x[i]; }
    assert(is_product(d, lane, 16));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d.x[0]), "+f"(d.x[1]), "+f"(d.x[2]), "+f"(d.x[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    for (int i = 0; i < 4; i++) { d.x[i] /= 2; }
    assert(is_product(d, lane, 16));

    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(tf32) : "f"(1.0f + 1.0f / 2048));  // a tie, which goes away from zero
    assert(__uint_as_float(tf32) == 1.0f + 1.0f / 1024);
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(2.0f), "f"(-1.0f));
    assert(pair == 0x4000bf80U);
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(-3.0f));
    assert(power == 0.125f);
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(-127.0f));
    assert(power == 0.0f);
}

#else
__global__ void kernel() {}
#endif

int main() { return run_block(kernel); }
