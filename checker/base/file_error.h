// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>

namespace checker {

// A file that cannot be used. The message is one line: which file, what is wrong with it, how to mend it.
struct FileError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace checker
