// SPDX-License-Identifier: MIT
#include "checker/cases/buffer_spec.h"

namespace checker {

std::size_t bytes_of(Element element) {
    return element == Element::byte ? 1 : 4;
}

}  // namespace checker
