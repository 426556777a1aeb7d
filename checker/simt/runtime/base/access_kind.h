// SPDX-License-Identifier: MIT
//
// Kinds of accesses, and where they go.
#pragma once

namespace simt {

// `copy`: an asynchronous copy reads. It may copy unwritten bytes; a read of the copy is reported.
enum class Access { read, write, atomic, copy };

// The memory that a thread accesses, if other threads may see it. `none`: to its own stack, to a constant, to the host's
// memory, or the access is wrong.
enum class Space { none, global, shared };

}  // namespace simt
