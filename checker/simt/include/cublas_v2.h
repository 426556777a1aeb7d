// SPDX-License-Identifier: MIT
#error "cublas_v2.h is not on the CPU device"
