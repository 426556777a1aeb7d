// SPDX-License-Identifier: MIT
//
// JSON as a value, and as what a reader meets in turn. Reading nlohmann's header takes longer than all else that a file does
// with JSON: it stands in json.cpp alone.
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace checker {

// What is asked for and is not there, or is of another type, throws std::runtime_error.
class Json {
  public:
    struct Member;

    Json() = default;  // null
    Json(bool value) : Json(Type::boolean, value ? "true" : "false") {}
    Json(std::integral auto value) : Json(Type::number, std::to_string(value)) {}
    Json(double value);  // JSON has no infinity: what is not finite is null
    Json(std::string text) : Json(Type::string, std::move(text)) {}
    Json(std::string_view text) : Json(Type::string, std::string(text)) {}
    Json(const char* text) : Json(Type::string, text) {}
    Json(std::initializer_list<Member> members);
    static Json array(const auto& list) {
        Json result(Type::array, "");
        for (const auto& element : list) { result.push_back(element); }
        return result;
    }
    static Json array(std::initializer_list<Json> list = {}) { return array<std::initializer_list<Json>>(list); }
    static Json object() { return {Type::object, ""}; }
    static Json object(const auto& map) {
        Json result = object();
        for (const auto& [name, value] : map) { result[name] = value; }
        return result;
    }

    static Json parse(std::string_view text);  // throws std::runtime_error
    std::string dump(int indent = -1) const;   // of less than 0: one line. What is no UTF-8 becomes U+FFFD.

    bool is_null() const { return type_ == Type::null; }
    bool is_integer() const;
    bool is_number() const { return type_ == Type::number; }
    bool is_string() const { return type_ == Type::string; }
    bool is_array() const { return type_ == Type::array; }
    bool is_object() const { return type_ == Type::object; }
    bool boolean() const;
    long integer() const;
    double number() const;
    const std::string& text() const;
    const std::vector<Json>& elements() const;   // of an array
    const std::vector<Member>& members() const;  // of an object, in its order

    // Of two members of the same name the last. `find` is null where there is none, and where this is no object.
    const Json* find(std::string_view name) const;
    const Json& at(std::string_view name) const;
    Json& operator[](std::string_view name);  // null becomes an object, which is given what it lacks
    Json& operator[](std::size_t i) { return elements_.at(i); }
    void push_back(Json element) { elements_.push_back(std::move(element)); }

  private:
    enum class Type { null, boolean, number, string, array, object };
    class Builder;

    Json(Type type, std::string text) : type_(type), text_(std::move(text)) {}
    void require(Type type) const;
    void write(std::string& to, int indent, std::size_t depth) const;

    Type type_ = Type::null;
    std::string text_;  // of a number and a boolean: as it is written
    std::vector<Json> elements_;
    std::vector<Member> members_;
};

// What stands there; 0 or no text where it is missing or null.
double number_or_0(const Json& object, std::string_view name);
std::string text_or_none(const Json& object, std::string_view name);

struct Json::Member {
    std::string name;
    Json value;
};

// What a JSON text is made of, in its order. Where one is false, the rest is not read.
class JsonEvents {
  public:
    virtual ~JsonEvents() = default;
    virtual bool null() = 0;
    virtual bool boolean(bool value) = 0;
    virtual bool number(const std::string& digits) = 0;
    virtual bool string(std::string& text) = 0;
    virtual bool start_object() = 0;
    virtual bool key(std::string& name) = 0;
    virtual bool end_object() = 0;
    virtual bool start_array() = 0;
    virtual bool end_array() = 0;
    virtual void no_json(std::size_t byte) = 0;  // from there on
};
bool read_json(std::string_view text, JsonEvents& events);

}  // namespace checker
