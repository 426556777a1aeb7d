// SPDX-License-Identifier: MIT
#error "cublasLt.h is not on the CPU device"
