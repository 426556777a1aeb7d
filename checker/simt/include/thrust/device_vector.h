// SPDX-License-Identifier: MIT
#error "thrust/device_vector.h is not on the CPU device"
