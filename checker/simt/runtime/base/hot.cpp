// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/base/hot.h"

namespace simt {

constinit Hot hot;

}  // namespace simt
