// SPDX-License-Identifier: MIT
//
// Kinds of accesses, and where they go.
#pragma once

namespace simt {

// `copy`: an asynchronous copy reads. It may copy bytes that nobody has written; whoever reads the copy is told.
enum class Access { read, write, atomic, copy };

// Where a thread's access goes, if another thread may see it. `none`: to its own stack, to a constant, to the host's
// memory, or the access is wrong.
enum class Space { none, global, shared };

}  // namespace simt
