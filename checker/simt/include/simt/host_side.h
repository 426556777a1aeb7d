// SPDX-License-Identifier: MIT
//
// Read after kept_words.h for the host's side of a file: nvcc compiles that without __CUDA_ARCH__.
#undef __CUDA_ARCH__
