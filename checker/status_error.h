// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <exception>
#include <source_location>

namespace checker {

// A call of a library that failed: "file:line: name: meaning". Every kernel file includes this header, so it holds
// characters: <string> and <stdexcept> would take longer to read than most kernels take to compile.
class StatusError : public std::exception {
  public:
    StatusError(const std::source_location& where, const char* name, const char* meaning) {
        std::snprintf(message_, sizeof message_, "%s:%u: %s: %s", where.file_name(),
                      static_cast<unsigned int>(where.line()), name, meaning);
    }
    const char* what() const noexcept override { return message_; }

  private:
    char message_[1024];  // a longer message is cut
};

}  // namespace checker
