// SPDX-License-Identifier: MIT
//
// Matrices of a batch as a library's call is given them, and parts of them: what a call touches, and what is multiplied.
#pragma once

#include <cstddef>
#include <string>

#include "checker/simt/libraries/cublas_handle.h"
#include "checker/simt/libraries/library_call.h"
#include "checker/simt/libraries/product.h"

namespace simt {

// What a gemm is given for A, B or C: a matrix, or several at a stride, or an array of pointers in the device's memory.
struct GemmMatrix {
    const void* data;
    cudaDataType type;
    long ld;
    long stride = 0;
};

// Rows [row, row + rows) and columns [column, column + columns) of op(X) in each of some matrices at a stride.
struct Part {
    const GemmMatrix* x;
    bool transposed;
    long row, rows, column, columns;
    long first, batch;

    Element element() const { return *element_of(x->type); }
    const char* begin() const {
        return static_cast<const char*>(x->data) +
               (first * x->stride + (transposed ? row * x->ld + column : column * x->ld + row)) *
                   static_cast<long>(bytes_of(element()));
    }
    const void* at(long index) const { return begin() + index * x->stride * static_cast<long>(bytes_of(element())); }
    Operand operand(long index) const { return {at(index), element(), transposed, x->ld}; }
    CallMatrix matrix(const std::string& text, std::size_t alignment) const {
        return {.text = text,
                .data = begin(),
                .element_bytes = bytes_of(element()),
                .rows = transposed ? columns : rows,
                .columns = transposed ? rows : columns,
                .ld = x->ld,
                .batch = batch,
                .stride = x->stride,
                .alignment = alignment};
    }
};

}  // namespace simt
