// SPDX-License-Identifier: MIT
//
// WMMA on the CPU device: fragments of __half, __nv_bfloat16 and TF32 with the names and shapes of CUDA's mma.h. Those of
// integers and of double do not compile.
#pragma once
#pragma GCC system_header

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"
#include "simt/wmma.h"

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

namespace precision {
struct tf32;
}

namespace simt_fragments {

template <class T>
struct Element {
    static_assert(sizeof(T*) == 0, "the CPU device's wmma has __half, __nv_bfloat16 and precision::tf32");
};
template <>
struct Element<__half> {
    using Type = __half;
    static constexpr simt::MmaShape kType = simt::MmaShape::m16n8k16_f16;
};
template <>
struct Element<__nv_bfloat16> {
    using Type = __nv_bfloat16;
    static constexpr simt::MmaShape kType = simt::MmaShape::m16n8k16_bf16;
};
template <>
struct Element<precision::tf32> {
    using Type = float;
    static constexpr simt::MmaShape kType = simt::MmaShape::m16n8k8_tf32;
};

template <class T>
constexpr bool has_shape(int m, int n, int k) {
    const bool is_16_bits = (m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32);
    return sizeof(typename Element<T>::Type) == 4 ? m == 16 && n == 16 && k == 8 : is_16_bits && k == 16;
}

// A lane's elements of A or B with `values` elements: 16 of __half in each shape, some of them more than once.
template <class T>
constexpr int slots(int values) {
    return __is_same(T, __half) ? 16 : values / 32;
}

}  // namespace simt_fragments

template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment;

#define SIMT_FRAGMENT(use, number, rows, columns)                                                              \
    template <int m, int n, int k, class T, class Layout>                                                      \
    class fragment<use, m, n, k, T, Layout> {                                                                  \
      public:                                                                                                  \
        static_assert(simt_fragments::has_shape<T>(m, n, k), "a shape that wmma does not have for this type"); \
        using element_type = T;                                                                                \
        using storage_element_type = typename simt_fragments::Element<T>::Type;                                \
        enum { num_elements = simt_fragments::slots<T>(rows * columns), num_storage_elements = num_elements }; \
        storage_element_type x[num_elements];                                                                  \
        static constexpr simt::WmmaFragment kKind = {number,                                                   \
                                                     m,                                                        \
                                                     n,                                                        \
                                                     k,                                                        \
                                                     rows,                                                     \
                                                     columns,                                                  \
                                                     sizeof(storage_element_type),                             \
                                                     num_elements,                                             \
                                                     simt_fragments::Element<T>::kType};                       \
        static constexpr bool kColumnMajor = __is_same(Layout, col_major);                                     \
    };
SIMT_FRAGMENT(matrix_a, 0, m, k)
SIMT_FRAGMENT(matrix_b, 1, k, n)
#undef SIMT_FRAGMENT

template <int m, int n, int k, class T>
class fragment<accumulator, m, n, k, T, void> {
  public:
    static_assert(__is_same(T, float) || __is_same(T, __half), "the CPU device's wmma accumulates in float and __half");
    using element_type = T;
    using storage_element_type = T;
    enum { num_elements = m * n / 32, num_storage_elements = num_elements };
    T x[num_elements];
    static constexpr simt::WmmaFragment kKind = {
        2,
        m,
        n,
        k,
        m,
        n,
        sizeof(T),
        num_elements,
        __is_same(T, float) ? simt::MmaShape::m16n8k16_f16 : simt::MmaShape::m16n8k16_f16_f16};
};

#define SIMT_WMMA __attribute__((always_inline)) inline

template <class Use, int m, int n, int k, class T, class Layout, class Value>
SIMT_WMMA void fill_fragment(fragment<Use, m, n, k, T, Layout>& to, const Value& value) {
    for (auto& element : to.x) {
        element = static_cast<typename fragment<Use, m, n, k, T, Layout>::storage_element_type>(value);
    }
}

template <class Use, int m, int n, int k, class T, class Layout>
SIMT_WMMA void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& to,
                                const typename fragment<Use, m, n, k, T, Layout>::storage_element_type* from,
                                unsigned stride) {
    using Kind = fragment<Use, m, n, k, T, Layout>;
    simt::wmma_load(to.x, Kind::kKind, from, stride, Kind::kColumnMajor);
}
template <int m, int n, int k, class T>
SIMT_WMMA void load_matrix_sync(fragment<accumulator, m, n, k, T>& to, const T* from, unsigned stride,
                                layout_t layout) {
    simt::wmma_load(to.x, fragment<accumulator, m, n, k, T>::kKind, from, stride, layout == mem_col_major);
}
template <int m, int n, int k, class T>
SIMT_WMMA void store_matrix_sync(T* to, const fragment<accumulator, m, n, k, T>& from, unsigned stride,
                                 layout_t layout) {
    simt::wmma_store(to, fragment<accumulator, m, n, k, T>::kKind, from.x, stride, layout == mem_col_major);
}

template <int m, int n, int k, class T, class LayoutA, class LayoutB, class C>
SIMT_WMMA void mma_sync(fragment<accumulator, m, n, k, C>& d, const fragment<matrix_a, m, n, k, T, LayoutA>& a,
                        const fragment<matrix_b, m, n, k, T, LayoutB>& b, const fragment<accumulator, m, n, k, C>& c) {
    static_assert(__is_same(C, float) || __is_same(T, __half), "only products of __half accumulate in __half");
    simt::wmma_multiply(a.kKind, b.kKind, c.kKind, d.x, a.x, b.x, c.x);
}

SIMT_WMMA float __float_to_tf32(float x) {
    return simt::bit_cast<float>(simt::ptx::cvt_rna_tf32_f32(x));
}

#undef SIMT_WMMA

}  // namespace wmma
}  // namespace nvcuda
