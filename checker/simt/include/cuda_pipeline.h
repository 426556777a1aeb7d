// SPDX-License-Identifier: MIT
#error "cuda_pipeline.h is not on the CPU device"
