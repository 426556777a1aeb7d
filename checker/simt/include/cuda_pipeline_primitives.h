// SPDX-License-Identifier: MIT
#error "cuda_pipeline_primitives.h is not on the CPU device"
