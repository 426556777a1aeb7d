// SPDX-License-Identifier: MIT
//
// Provides the matrix products of tensor cores, bit for bit as each architecture adds them, in integers.
// Sources: Xie et al., arXiv 2511.10909 (algorithms 7 to 9); Khattak and Mikaitis, arXiv 2512.07004 (the same model);
// Fasi, Higham, Mikaitis and Pranesh, PeerJ Computer Science 7:e330.
#pragma once

#include <cstdint>

namespace simt {

// Element types of A and B.
enum class TensorType { f16, bf16, tf32 };

// Describes how an architecture adds. It takes the products of a row and a column in chunks of ascending k. A chunk's
// products and its accumulator are aligned to the largest exponent among them and truncated to `fraction_bits` bits below
// it. Their exact sum is rounded and becomes the accumulator of the next chunk. Floats are rounded toward zero, f16 to
// nearest even. The exponent of a product is the sum of its factors' exponents, also if the product is 2 or more.
struct TensorCore {
    int fraction_bits;      // 20 to 27
    int chunk_16_bit;       // products added at once
    int chunk_tf32;         // 0: it has no TF32
    int zero_exponent;      // aligns terms that are 0, if the accumulator is a float
    int zero_exponent_f16;  // aligns terms that are 0, if the accumulator is f16
    bool has_bf16;

    bool has(TensorType type) const {
        return type == TensorType::f16 || (type == TensorType::bf16 ? has_bf16 : chunk_tf32 > 0);
    }
};

// Returns null if it is not known how this compute capability adds. 90 is an H100's, 80 an A100's, 75 a T4's.
const TensorCore* tensor_core(int compute_capability);

// Computes d = a b + c for a of `rows` x `k`, row-major, and b of `k` x `columns`, column-major. Each element has a word:
// a number of 16 bits its low half; TF32 a float's bits, of which the low 13 are ignored, as the hardware ignores them.
// c and d are row-major; d may be c. `core` has `type`.
void multiply_tile(const TensorCore& core, TensorType type, int rows, int columns, int k, const std::uint32_t* a,
                   const std::uint32_t* b, const float* c, float* d);

// As multiply_tile, for f16 elements and f16 accumulators, by their bits.
void multiply_tile_f16(const TensorCore& core, int rows, int columns, int k, const std::uint32_t* a,
                       const std::uint32_t* b, const std::uint16_t* c, std::uint16_t* d);

}  // namespace simt
