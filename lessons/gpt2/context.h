// SPDX-License-Identifier: MIT
#pragma once

// What an op needs beside its arguments: on a device the stream, the library handles and a workspace.
// On the CPU there is nothing to carry.
struct Context {};
