// SPDX-License-Identifier: MIT
//
// Writes one JSON object, key by key. It exists because calibrate_gpu.cu must build with nvcc alone.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace checker {

class JsonWriter {
  public:
    JsonWriter() { text_ = "{"; }

    void begin_object(std::string_view key) { begin(key, '{'); }
    void begin_element() { begin("", '{'); }  // an object in an array
    void begin_array(std::string_view key) { begin(key, '['); }
    void end_object() { end('}'); }
    void end_array() { end(']'); }

    // Empty and what is no number are null. Six digits: more than a timing has.
    void number(std::string_view key, std::optional<double> value) {
        char digits[32] = "null";
        if (value && std::isfinite(*value)) {
            std::snprintf(digits, sizeof digits, "%.6g", *value);
        }
        item(key, digits);
    }
    void integer(std::string_view key, std::optional<std::int64_t> value) {
        item(key, value ? std::to_string(*value) : "null");
    }
    void boolean(std::string_view key, bool value) { item(key, value ? "true" : "false"); }
    void text(std::string_view key, const std::optional<std::string>& value) {
        item(key, value ? quoted(*value) : "null");
    }

    // The whole object; nothing may be written after it.
    std::string finish() {
        end('}');
        return text_;
    }

    // What is no UTF-8 becomes U+FFFD.
    static std::string quoted(std::string_view value) {
        std::string result = "\"";
        while (!value.empty()) {
            const std::size_t length = length_of_character(value);
            if (length == 0) {
                result += "\\ufffd";
            } else if (value[0] == '"' || value[0] == '\\') {
                result += {'\\', value[0]};
            } else if (static_cast<unsigned char>(value[0]) < 0x20) {
                char escape[8];
                std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(value[0]));
                result += escape;
            } else {
                result += value.substr(0, length);
            }
            value.remove_prefix(length == 0 ? 1 : length);
        }
        return result + '"';
    }

  private:
    // The bytes of the UTF-8 character that the text starts with; 0 where it starts with none.
    static std::size_t length_of_character(std::string_view text) {
        const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
        const unsigned first = byte(0);
        if (first < 0x80) {
            return 1;
        }
        // Of the second byte: longer than need be, a half of a UTF-16 pair, beyond the last character.
        const unsigned low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
        const unsigned high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
        const std::size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
        if (byte(1) < low || byte(1) > high) {
            return 0;
        }
        for (std::size_t i = 2; i < length; i++) {
            if ((byte(i) & 0xc0) != 0x80) {
                return 0;
            }
        }
        return length;
    }

    void new_line() { text_ += '\n' + std::string(2 * depth_, ' '); }

    void item(std::string_view key, std::string_view value) {
        text_ += first_ ? "" : ",";
        first_ = false;
        new_line();
        if (!key.empty()) {
            text_ += quoted(key) + ": ";
        }
        text_ += value;
    }

    void begin(std::string_view key, char bracket) {
        item(key, {&bracket, 1});
        depth_++;
        first_ = true;
    }

    void end(char bracket) {
        depth_--;
        if (!first_) {
            new_line();
        }
        text_ += bracket;
        first_ = false;
    }

    std::string text_;
    std::size_t depth_ = 1;
    bool first_ = true;  // nothing written yet in the innermost object or array
};

}  // namespace checker
