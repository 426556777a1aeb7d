// SPDX-License-Identifier: MIT
#include "checker/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "checker/json_writer.h"

namespace checker {
namespace {

class Adapter : public nlohmann::json_sax<nlohmann::json> {
  public:
    explicit Adapter(JsonEvents& to) : to_(to) {}

    bool null() override { return to_.null(); }
    bool boolean(bool value) override { return to_.boolean(value); }
    bool number_unsigned(number_unsigned_t value) override { return to_.number(std::to_string(value)); }
    bool number_integer(number_integer_t value) override {  // one with a minus sign
        return to_.number(value == 0 ? "-0" : std::to_string(value));
    }
    bool number_float(number_float_t, const string_t& digits) override { return to_.number(digits); }
    bool string(string_t& text) override { return to_.string(text); }
    bool binary(binary_t&) override { return false; }  // no JSON text has it
    bool start_object(std::size_t) override { return to_.start_object(); }
    bool key(string_t& name) override { return to_.key(name); }
    bool end_object() override { return to_.end_object(); }
    bool start_array(std::size_t) override { return to_.start_array(); }
    bool end_array() override { return to_.end_array(); }
    bool parse_error(std::size_t byte, const std::string&, const nlohmann::json::exception&) override {
        to_.no_json(byte);
        return false;
    }

  private:
    JsonEvents& to_;
};

}  // namespace

bool read_json(std::string_view text, JsonEvents& events) {
    Adapter adapter(events);
    return nlohmann::json::sax_parse(text.data(), text.data() + text.size(), &adapter);
}

class Json::Builder : public JsonEvents {
  public:
    Json whole;

    bool null() override { return add({}); }
    bool boolean(bool value) override { return add(value); }
    bool number(const std::string& digits) override { return add({Type::number, digits}); }
    bool string(std::string& text) override { return add(std::move(text)); }
    bool start_object() override { return begin(Type::object); }
    bool key(std::string& name) override {
        open_.back()->members_.push_back({std::move(name), {}});
        return true;
    }
    bool end_object() override { return end(); }
    bool start_array() override { return begin(Type::array); }
    bool end_array() override { return end(); }
    void no_json(std::size_t byte) override {
        throw std::runtime_error(fmt::format("is no JSON from byte {} on", byte));
    }

  private:
    // Where the next value goes: into what was opened last, and is at the end of what was opened before it.
    Json& place() {
        if (open_.empty()) {
            return whole;
        }
        Json& parent = *open_.back();
        return parent.is_array() ? parent.elements_.emplace_back() : parent.members_.back().value;
    }
    bool add(Json value) {
        place() = std::move(value);
        return true;
    }
    bool begin(Type type) {
        constexpr std::size_t kDeepest = 100;
        if (open_.size() == kDeepest) {
            throw std::runtime_error(fmt::format("is JSON nested more than {} deep", kDeepest));
        }
        Json& opened = place();
        opened = {type, ""};
        open_.push_back(&opened);
        return true;
    }
    bool end() {
        open_.pop_back();
        return true;
    }

    std::vector<Json*> open_;
};

Json Json::parse(std::string_view text) {
    Builder builder;
    read_json(text, builder);
    return std::move(builder.whole);
}

Json::Json(double value) {
    if (std::isfinite(value)) {
        std::array<char, 32> digits{};
        type_ = Type::number;
        text_.assign(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
        if (text_.find_first_of(".e") == std::string::npos) {
            text_ += ".0";
        }
    }
}

Json::Json(std::initializer_list<Member> members) : type_(Type::object), members_(members) {}

void Json::require(Type type) const {
    static constexpr std::array kNames{"null", "boolean", "number", "string", "array", "object"};
    if (type_ != type) {
        throw std::runtime_error(fmt::format("type must be {}, but is {}", kNames[static_cast<std::size_t>(type)],
                                             kNames[static_cast<std::size_t>(type_)]));
    }
}

bool Json::is_integer() const {
    return is_number() && text_.find_first_of(".eE") == std::string::npos;
}

bool Json::boolean() const {
    require(Type::boolean);
    return text_ == "true";
}

long Json::integer() const {
    require(Type::number);
    long value = 0;
    const char* end = text_.data() + text_.size();
    if (const auto read = std::from_chars(text_.data(), end, value); read.ec != std::errc() || read.ptr != end) {
        throw std::runtime_error(fmt::format("type must be integer, but is {}", text_));
    }
    return value;
}

double Json::number() const {
    require(Type::number);
    double value = 0;
    std::from_chars(text_.data(), text_.data() + text_.size(), value);
    return value;
}

const std::string& Json::text() const {
    require(Type::string);
    return text_;
}

double number_or_0(const Json& object, std::string_view name) {
    const Json* found = object.find(name);
    return found == nullptr || found->is_null() ? 0 : found->number();
}

std::string text_or_none(const Json& object, std::string_view name) {
    const Json* found = object.find(name);
    return found == nullptr || found->is_null() ? "" : found->text();
}

const std::vector<Json>& Json::elements() const {
    require(Type::array);
    return elements_;
}

const std::vector<Json::Member>& Json::members() const {
    require(Type::object);
    return members_;
}

const Json* Json::find(std::string_view name) const {
    const auto found =
        std::find_if(members_.rbegin(), members_.rend(), [&](const Member& member) { return member.name == name; });
    return found == members_.rend() ? nullptr : &found->value;
}

const Json& Json::at(std::string_view name) const {
    require(Type::object);
    if (const Json* found = find(name)) {
        return *found;
    }
    throw std::runtime_error(fmt::format("key '{}' not found", name));
}

Json& Json::operator[](std::string_view name) {
    if (is_null()) {
        type_ = Type::object;
    }
    const Json* found = find(name);
    return found != nullptr ? const_cast<Json&>(*found) : members_.emplace_back(std::string(name)).value;
}

void Json::write(std::string& to, int indent, std::size_t depth) const {
    if (is_null()) {
        to += "null";
    } else if (is_string()) {
        to += JsonWriter::quoted(text_);
    } else if (!is_array() && !is_object()) {
        to += text_;
    } else {
        const auto new_line = [&](std::size_t level) {
            to += indent < 0 ? "" : '\n' + std::string(static_cast<std::size_t>(indent) * level, ' ');
        };
        const std::size_t size = elements_.size() + members_.size();
        to += is_array() ? '[' : '{';
        for (std::size_t i = 0; i < size; i++) {
            to += i == 0 ? "" : ",";
            new_line(depth + 1);
            if (is_object()) {
                to += JsonWriter::quoted(members_[i].name) + (indent < 0 ? ":" : ": ");
            }
            (is_array() ? elements_[i] : members_[i].value).write(to, indent, depth + 1);
        }
        if (size > 0) {
            new_line(depth);
        }
        to += is_array() ? ']' : '}';
    }
}

std::string Json::dump(int indent) const {
    std::string result;
    write(result, indent, 0);
    return result;
}

}  // namespace checker
