// SPDX-License-Identifier: MIT
#pragma once

// out (n, oc) = gelu(inp (n, c) weight (oc, c)^T + bias (oc)) in one matmul of cuBLASLt, and pre_gelu (n, oc) what goes into
// gelu, or null; gives cuBLASLt's status. Of `alignment` bytes the algorithm is told that they divide each address; 0: no
// algorithm is asked for.
extern "C" int linear_gelu(float* out, float* pre_gelu, const float* inp, const float* weight, const float* bias, int n,
                           int c, int oc, int alignment);
