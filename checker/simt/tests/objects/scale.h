// SPDX-License-Identifier: MIT
//
// scale.cu's functions, as a worker finds them in the shared object.
#pragma once

extern "C" {
void scale(float* out, const float* inp, float factor, int n);
void scale_too_far(float* out, const float* inp, float factor, int n);
void scale_from(float* out, const float* inp, float factor, int n);
void add_scaled(float* out, const float* inp, float factor, int n);
}
