// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/hot.h"

namespace simt {

constinit Hot hot;

}  // namespace simt
