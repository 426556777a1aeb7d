// SPDX-License-Identifier: MIT
//
// Whose memory an address is.
#pragma once

namespace simt {

// `either`: managed and pinned memory, which both may use.
enum class Side { host, device, either };

Side side_of(const void* pointer);

}  // namespace simt
