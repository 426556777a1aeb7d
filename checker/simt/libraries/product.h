// SPDX-License-Identifier: MIT
//
// The numbers of a library's matrix product: D = alpha op(A) op(B) + beta C, every matrix column-major, once. Inputs are
// rounded if the product asks for it, products of two inputs are exact, and sums are of float (of double for fp64), in
// OpenBLAS's order. What is in memory is read and written as it is: callers have judged it (library_call.h).
#pragma once

#include <cstddef>
#include <functional>

namespace simt {

// An element in memory.
enum class Element { fp32, fp64, bf16, fp16 };
std::size_t bytes_of(Element element);
double value_of(const void* element, Element type);
// Values of `count` elements, and values rounded to nearest even. Not for fp64.
void widen(const void* from, Element type, float* to, long count);
void narrow(const float* from, void* to, Element type, long count);

// What A's and B's values of 32 bits are rounded to before they are multiplied; those of 16 bits are exact as they are.
enum class Inputs { as_they_are, tf32, bf16, fp16 };

// What tensor cores multiply; as_they_are: no tensor core does.
Inputs multiplied_as(Inputs inputs, Element a);

// Rounds to ten bits of fraction: to nearest even, as cuBLAS on an H100 does (LIBRARIES.md), or with SIMT_TF32=truncate
// towards zero.
float tf32(float value);

// op(X) is X, or X transposed.
struct Operand {
    const void* data = nullptr;
    Element element = Element::fp32;
    bool transposed = false;
    long ld = 1;
};

struct Product {
    long m = 0, n = 0, k = 0;  // op(A) is m x k, op(B) k x n, C and D are m x n
    Operand a = {}, b = {};
    double alpha = 1, beta = 0;
    // Not read where beta is 0; may be D itself, with the same element and ld. Transposed: not for C.
    Operand c = {};
    void* d = nullptr;
    Element d_element = Element::fp32;
    long ldd = 1;
    Inputs inputs = Inputs::as_they_are;
    // Called with the m x n values, column-major with this ld, before they are rounded to D's element. Not for fp64.
    std::function<void(float* values, long ld)> finish = {};
};

// A, B, C and D are all of fp64 or none of them is.
void multiply(const Product& product);

}  // namespace simt
