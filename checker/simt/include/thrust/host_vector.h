// SPDX-License-Identifier: MIT
#error "thrust/host_vector.h is not on the CPU device"
