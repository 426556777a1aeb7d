// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

// Turns a stream of bytes into text that is safe on a terminal: valid UTF-8, complete characters only. What is no
// UTF-8, and control characters other than newline and tab, become U+FFFD.
class Utf8Stream {
  public:
    std::string push(std::string_view bytes);  // what can be shown now; the beginning of a character is held back
    std::string finish();                      // what was held back

  private:
    void push(unsigned char byte, std::string& out);

    std::string held_;          // the bytes of a character so far
    std::size_t length_ = 0;    // how many it will have
    unsigned char low_ = 0x80;  // the range of the byte that may follow
    unsigned char high_ = 0xbf;
};
