// SPDX-License-Identifier: MIT
//
// out[n, o] = bias[o] + sum over c of inp[n, c] * weight[o, c], for o < OC
//
// One output at a time: the dot product of a row of inp and a row of weight, added up in order. out_stride is the
// distance between two rows of out; the columns from OC on belong to others.
#include "lessons/gpt2/ops.h"

void matmul(float* out,           // (N, out_stride), out_stride >= OC
            const float* inp,     // (N, C)
            const float* weight,  // (OC, C)
            const float* bias,    // (OC), or null for none
            int N, int C, int OC, int out_stride, Context&) {
    for (int n = 0; n < N; n++) {
        const float* inp_n = inp + n * C;     // inp[n, :]
        float* out_n = out + n * out_stride;  // out[n, :]
        // TODO: for each of the OC output channels, name its row of weight, take the dot product with inp_n, and
        // start from the bias of that channel, or from 0 where bias is null.
    }
}
