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

  private:
    static std::string quoted(std::string_view value) {
        std::string result = "\"";
        for (const char c : value) {
            if (c == '"' || c == '\\') {
                result += '\\';
                result += c;
            } else if (static_cast<unsigned char>(c) < 0x20) {
                char escape[8];
                std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
                result += escape;
            } else {
                result += c;
            }
        }
        return result + '"';
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
