// SPDX-License-Identifier: MIT
//
// The well-formed byte sequences are those of the Unicode Standard, table 3-7; a sequence that breaks off becomes one
// U+FFFD, as section 3.9 recommends.
#include "lessons/gpt2/utf8.h"

#include <utility>

namespace {
constexpr std::string_view kReplacement = "\xef\xbf\xbd";
}

std::string Utf8Stream::push(std::string_view bytes) {
    std::string out;
    for (const char byte : bytes) { push(static_cast<unsigned char>(byte), out); }
    return out;
}

std::string Utf8Stream::finish() {
    if (held_.empty()) {
        return "";
    }
    held_.clear();
    return std::string(kReplacement);
}

void Utf8Stream::push(unsigned char byte, std::string& out) {
    if (!held_.empty()) {
        if (byte < low_ || byte > high_) {
            out += finish();
        } else {
            held_ += static_cast<char>(byte);
            low_ = 0x80;
            high_ = 0xbf;
            if (held_.size() < length_) {
                return;
            }
            const bool control = length_ == 2 && held_[0] == '\xc2' && byte < 0xa0;  // U+0080 to U+009F
            out += control ? kReplacement : std::string_view(held_);
            held_.clear();
            return;
        }
    }
    if (byte < 0x80) {
        const bool control = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
        if (control) {
            out += kReplacement;
        } else {
            out += static_cast<char>(byte);
        }
        return;
    }
    if (byte < 0xc2 || byte > 0xf4) {
        out += kReplacement;
        return;
    }
    held_ = static_cast<char>(byte);
    length_ = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    low_ = byte == 0xe0 ? 0xa0 : byte == 0xf0 ? 0x90 : 0x80;   // no overlong forms
    high_ = byte == 0xed ? 0x9f : byte == 0xf4 ? 0x8f : 0xbf;  // no surrogates, nothing beyond U+10FFFF
}
