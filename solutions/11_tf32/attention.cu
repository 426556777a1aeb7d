// SPDX-License-Identifier: MIT
//
// scores[b, h] = query[b, h] key[b, h]^T            (T, T)
// att, lse     = causal_softmax(scores / sqrt(HS))
// out[b, h]    = att[b, h] value[b, h]              (T, HS)
//
// Two products of matrices for each head, by one call of cuBLAS for all heads of a sequence. Nothing is copied: a head's
// query, key and value are matrices inside of qkv whose rows are 3C floats apart, and its part of out has rows C apart.
// The scratch holds scores, then att, (B, NH, T, T) each.
#include <cmath>

#include "checker/cublas_check.h"
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

using checker::CublasHandle;

std::size_t attention_scratch_bytes(int B, int T, int, int NH) {
    return 2 * sizeof(float) * B * NH * T * T;
}

void attention(float* out,        // (B, T, C)
               float* lse,        // (B, NH, T), as causal_softmax
               const float* qkv,  // (B, T, 3C)
               void* scratch,     // attention_scratch_bytes(B, T, C, NH), aligned to 64 bytes
               int B, int T, int C, int NH, Context& ctx) {
    const int HS = C / NH;
    const float scale = 1.0f / std::sqrt(static_cast<float>(HS));
    const long of_head = static_cast<long>(T) * T;                                             // scores of a head
    const long of_qkv = 3L * T * C, of_out = static_cast<long>(T) * C, of_att = NH * of_head;  // floats of a sequence
    float* scores = static_cast<float*>(scratch);                                              // (B, NH, T, T)
    float* att = scores + B * of_att;                                                          // (B, NH, T, T)

    const cublasHandle_t handle = ctx.handle<CublasHandle>();
    const float alpha = 1.0f, beta = 0.0f;  // beta 0: the output is not read
    // >>> solution
    //~ // TODO: the handle's stream and math mode. For each sequence, scores = query key^T of all heads by one
    //~ // cublasSgemmStridedBatched.
    check(cublasSetStream(handle, ctx.stream));
    check(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH));
    for (int b = 0; b < B; b++) {
        const float* query = qkv + b * of_qkv;  // query[b, 0, 0, :]; a head is HS floats further, a token 3C
        const float* key = query + C;
        check(cublasSgemmStridedBatched(handle, CUBLAS_OP_T, CUBLAS_OP_N, T, T, HS,  //
                                        &alpha, key, 3 * C, HS, query, 3 * C, HS,    //
                                        &beta, scores + b * of_att, T, of_head, NH));
    }
    // <<< solution

    causal_softmax(att, lse, scores, scale, B, NH, T, ctx);

    // >>> solution
    //~ // TODO: for each sequence, out = att value of all heads. Row t of head h of out is out[b, t, h * HS].
    for (int b = 0; b < B; b++) {
        const float* value = qkv + b * of_qkv + 2 * C;
        check(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, HS, T, T,              //
                                        &alpha, value, 3 * C, HS, att + b * of_att, T, of_head,  //
                                        &beta, out + b * of_out, C, HS, NH));
    }
    // <<< solution
}
