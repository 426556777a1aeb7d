// SPDX-License-Identifier: MIT
//
// The seam of the course: every op of GPT-2, declared once. A file name is an op name: lessons/01_layers/layernorm.cpp
// defines layernorm(), and a later lesson replaces it with a file of the same name and the same signature.
//
// An op on other elements than floats is an op of its own, named by both: gelu_bf16.cu defines gelu_bf16(), and the scratch of
// attention_bf16() is attention_bf16_scratch_bytes(). mean, rstd, lse and losses are floats in each.
//
// Parameters come in this order: outputs, inputs, scratch, dims, scalars, Context.
// All tensors are dense and row-major; where a row is longer than what is used (logits), its stride is named.
// Outputs do not overlap inputs. Every output element that the shape comment names is written; nothing else is.
//
//   B  sequences in the batch      C   channels          V   tokens in the vocabulary
//   T  tokens in a sequence        NH  attention heads   Vp  V rounded up: rows of wte, row stride of the logits
//   N  rows, or elements           HS  C / NH            OC  output channels of a matmul
//
// Rows of wte beyond V are zero. Columns V and beyond of the logits are padding: nobody reads them. Up to lesson 10 they are
// left as they were; from lesson 11 on forward may store 0 there, and nothing else.
#pragma once

#include <cstddef>

#include "lessons/gpt2/context.h"

struct Config;
struct __nv_bfloat16;  // cuda_bf16.h has it
template <class Element>
struct ActivationsOf;
template <class Element>
struct ParametersOf;
using Activations = ActivationsOf<float>;
using Parameters = ParametersOf<float>;

// out[b, t, :] = wte[tokens[b, t], :] + wpe[t, :]
void encoder(float* out,         // (B, T, C)
             const int* tokens,  // (B, T), each in [0, V)
             const float* wte,   // (Vp, C)
             const float* wpe,   // (max_T, C), max_T >= T
             int B, int T, int C, Context& ctx);

// out[b, t, :] = (inp[b, t, :] - mean) * rstd * weight + bias, with the mean and 1 / sqrt(variance + 1e-5) of that row.
void layernorm(float* out,           // (B, T, C)
               float* mean,          // (B, T)
               float* rstd,          // (B, T)
               const float* inp,     // (B, T, C)
               const float* weight,  // (C)
               const float* bias,    // (C)
               int B, int T, int C, Context& ctx);

// out[i] = 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) with x = inp[i]   (arXiv:1606.08415, section 2)
void gelu(float* out,        // (N)
          const float* inp,  // (N)
          int N, Context& ctx);

// out[i] = inp1[i] + inp2[i]
void residual(float* out,         // (N)
              const float* inp1,  // (N)
              const float* inp2,  // (N)
              int N, Context& ctx);

// residual[b, t, :] = inp1[b, t, :] + inp2[b, t, :], and out, mean and rstd are layernorm's of that row.
void residual_layernorm(float* residual,      // (B, T, C)
                        float* out,           // (B, T, C)
                        float* mean,          // (B, T)
                        float* rstd,          // (B, T)
                        const float* inp1,    // (B, T, C)
                        const float* inp2,    // (B, T, C)
                        const float* weight,  // (C)
                        const float* bias,    // (C)
                        int B, int T, int C, Context& ctx);

// out[n, o] = bias[o] + sum over c of inp[n, c] * weight[o, c], for o < OC; columns OC and beyond are left alone.
void matmul(float* out,           // (N, out_stride), out_stride >= OC
            const float* inp,     // (N, C)
            const float* weight,  // (OC, C)
            const float* bias,    // (OC), or null for none
            int N, int C, int OC, int out_stride, Context& ctx);

// out[n, o] = gelu(bias[o] + sum over c of inp[n, c] * weight[o, c]), in fp32. No step of GPT-2 calls it: lesson 12 shows an
// epilogue by it, and linear_gelu takes its place.
void matmul_gelu(float* out,           // (N, OC)
                 const float* inp,     // (N, C)
                 const float* weight,  // (OC, C)
                 const float* bias,    // (OC)
                 int N, int C, int OC, Context& ctx);

// matmul with a bias always and no stride: out[n, o] = bias[o] + sum over c of inp[n, c] * weight[o, c].
void linear(float* out,           // (N, OC)
            const float* inp,     // (N, C)
            const float* weight,  // (OC, C)
            const float* bias,    // (OC)
            int N, int C, int OC, Context& ctx);

// out = gelu(pre_gelu), where pre_gelu is what linear gives.
void linear_gelu(float* out,           // (N, OC)
                 float* pre_gelu,      // (N, OC), OC a multiple of 8; or null where nobody needs it
                 const float* inp,     // (N, C)
                 const float* weight,  // (OC, C)
                 const float* bias,    // (OC)
                 int N, int C, int OC, Context& ctx);

// att[b, h, t, s] = exp(scale * scores[b, h, t, s] - lse[b, h, t]) for s <= t, exactly 0 for s > t, with
// lse[b, h, t] = log of the sum over s <= t of exp(scale * scores[b, h, t, s]). scores with s > t are not read.
void causal_softmax(float* att,           // (B, NH, T, T)
                    float* lse,           // (B, NH, T)
                    const float* scores,  // (B, NH, T, T)
                    float scale, int B, int NH, int T, Context& ctx);

// Causal self-attention. Row qkv[b, t, :] is the query, the key and the value, C floats each; head h of each is
// elements h * HS to (h + 1) * HS. out[b, t, h * HS + i] = sum over s <= t of att[b, h, t, s] * value[b, s, h * HS + i],
// where att is the causal softmax of query . key / sqrt(HS).
void attention(float* out,        // (B, T, C)
               float* lse,        // (B, NH, T), as causal_softmax
               const float* qkv,  // (B, T, 3C)
               void* scratch,     // attention_scratch_bytes(B, T, C, NH), aligned to 64 bytes
               int B, int T, int C, int NH, Context& ctx);
std::size_t attention_scratch_bytes(int B, int T, int C, int NH);

// probs[n, v] = exp(logits[n, v]) / sum over v < V of exp(logits[n, v]), for v < V; columns V and beyond are left alone.
void softmax(float* probs,         // (N, Vp)
             const float* logits,  // (N, Vp)
             int N, int V, int Vp, Context& ctx);

// losses[n] = -log(probs[n, targets[n]])
void crossentropy(float* losses,       // (N)
                  const float* probs,  // (N, Vp)
                  const int* targets,  // (N), each in [0, V)
                  int N, int Vp, Context& ctx);

// losses[n] = lse[n] - logits[n, targets[n]], with lse[n] = log of the sum over v < V of exp(logits[n, v]).
void loss(float* losses,        // (N)
          float* lse,           // (N)
          const float* logits,  // (N, Vp)
          const int* targets,   // (N), each in [0, V)
          int N, int V, int Vp, Context& ctx);

// The whole forward pass: which op runs on which tensor, in which order. Fills every activation that the step has,
// but probs, loss_lse and losses only if there are targets, and fc if acts.backward_follows or if one of its ops reads it.
void forward(Activations& acts, const Parameters& params,
             const int* tokens,   // (B, T) of acts
             const int* targets,  // (B, T), or null: no loss is wanted
             Context& ctx);
std::size_t forward_scratch_bytes(const Config& config, int B, int T);

// logits[b, :] = forward's logits at position T - 1 of sequence b: what a program that writes text asks for, token after token.
// The one op whose output and tokens lie in the host's memory, beside a model on a device; it returns when the logits are there.
// Afterwards acts holds anything. What acts and params point to stays where it is as long as the Context lives, and may be
// written between calls, which may differ in everything.
void predict(float* logits,             // (B, V), on the host
             Activations& acts,         // with room for acts.B >= B sequences of acts.T >= T tokens
             const Parameters& params,  //
             const int* tokens,         // (B, T), each in [0, V), on the host
             int B, int T, Context& ctx);
