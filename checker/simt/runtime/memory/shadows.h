// SPDX-License-Identifier: MIT
//
// On a GPU the address of a device variable, taken in host code, is that of a shadow in the host's memory. Here both are
// one, so what a kernel or cudaGetSymbolAddress gave to the host is told from what the host took itself.
#pragma once

#include <cstddef>

namespace simt {

struct Symbol;

// Returns the variable of which `address` can only be the shadow's; null if it is none, or where that is not sure.
const Symbol* shadow_at(const void* address);

// The host has the variable's address on the device.
void give_out(const void* variable);
// Gives out the addresses among what the device wrote: the words of [begin, begin + bytes), or all managed and pinned
// memory.
void give_out_addresses_in(const void* begin, std::size_t bytes);
void give_out_addresses_in_host_memory();

}  // namespace simt
