// SPDX-License-Identifier: MIT
//
// Settings of the CPU device for the GPU's backend, which a rehearsal compiles for it.
#pragma once

#include "checker/simt/runtime/report/findings.h"

namespace checker {

// Suppresses the device's own report at the end of the program: the backend's findings are the checker's.
inline void silence_report_at_exit() {
    simt::report_at_exit(false);
}

}  // namespace checker
