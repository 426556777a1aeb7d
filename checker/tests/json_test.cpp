// SPDX-License-Identifier: MIT
#include "checker/base/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace {

using checker::Json;

// What parsing, or what `f` does with the value, throws.
template <class F>
std::string error_of(const std::string& text, F f) {
    try {
        f(Json::parse(text));
    } catch (const std::exception& e) { return e.what(); }
    return "";
}
std::string error_of(const std::string& text) {
    return error_of(text, [](const Json&) {});
}

TEST(Json, IsWrittenAsItWasRead) {
    const std::string text = R"({"z":[1,-2,18446744073709551615,0.1,1e300,true,null,[],{}],"a":{"b":"\"\\é\u001f"}})";
    EXPECT_EQ(Json::parse(text).dump(), text);
    EXPECT_EQ(Json::parse(R"({"a": [1, {}], "b": []})").dump(2), R"({
  "a": [
    1,
    {}
  ],
  "b": []
})");
}

TEST(Json, OfCppValuesIsReadBack) {
    const Json made{{"text", "x"},
                    {"number", 0.1},
                    {"whole", 2.0},
                    {"count", 3UL},
                    {"yes", true},
                    {"none", Json()},
                    {"list", Json::array(std::vector<std::string>{"a", "b"})},
                    {"empty", Json::object()}};
    EXPECT_EQ(made.dump(), R"({"text":"x","number":0.1,"whole":2.0,"count":3,"yes":true,"none":null,)"
                           R"("list":["a","b"],"empty":{}})");
    const Json read = Json::parse(made.dump());
    EXPECT_EQ(read.at("text").text(), "x");
    EXPECT_EQ(read.at("number").number(), 0.1);
    EXPECT_EQ(read.at("count").integer(), 3);
    EXPECT_TRUE(read.at("yes").boolean());
    EXPECT_TRUE(read.at("none").is_null());
    EXPECT_EQ(read.at("list").elements()[1].text(), "b");
    EXPECT_TRUE(read.at("empty").is_object());
    EXPECT_EQ(read.find("more"), nullptr);
}

TEST(Json, WithoutANumberForWhatIsNotFiniteIsNull) {
    EXPECT_TRUE(Json(std::numeric_limits<double>::infinity()).is_null());
    EXPECT_TRUE(Json(std::nan("")).is_null());
}

TEST(Json, TellsIntegersFromOtherNumbers) {
    EXPECT_TRUE(Json::parse("-7").is_integer());
    EXPECT_FALSE(Json::parse("7.0").is_integer());
    EXPECT_FALSE(Json::parse("7e0").is_integer());
    EXPECT_FALSE(Json::parse("\"7\"").is_integer());
}

TEST(Json, TakesTheLastOfTwoEqualNames) {
    EXPECT_EQ(Json::parse(R"({"a":1,"a":2})").at("a").integer(), 2);
}

TEST(Json, ReplacesWhatIsNoUtf8) {
    const std::string good = "\u007f\u0080\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff";
    EXPECT_EQ(Json(good).dump(), "\"" + good + "\"");
    for (const char* bad : {"\x80", "\xc1\xbf", "\xc3", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                            "\xf4\x90\x80\x80", "\xe2\x82", "\xff"}) {
        const std::string text = Json(std::string(bad) + "x").dump();
        EXPECT_EQ(Json::parse(text).text().substr(0, 3), "\ufffd") << text;
        EXPECT_TRUE(text.ends_with("x\"")) << text;
    }
}

TEST(Json, ThatIsNoneIsRefused) {
    EXPECT_EQ(error_of("[1,"), "is no JSON from byte 4 on");
    EXPECT_EQ(error_of(""), "is no JSON from byte 1 on");
    EXPECT_EQ(error_of("[1] 2"), "is no JSON from byte 5 on");
    EXPECT_EQ(error_of(std::string(100, '[') + std::string(100, ']')), "");
    EXPECT_EQ(error_of(std::string(1'000'000, '[')), "is JSON nested more than 100 deep");
}

TEST(Json, OfAnotherTypeSaysWhatItIs) {
    EXPECT_EQ(error_of("{}", [](const Json& json) { json.at("a"); }), "key 'a' not found");
    EXPECT_EQ(error_of("[]", [](const Json& json) { json.at("a"); }), "type must be object, but is array");
    EXPECT_EQ(error_of("1", [](const Json& json) { json.text(); }), "type must be string, but is number");
    EXPECT_EQ(error_of("null", [](const Json& json) { json.number(); }), "type must be number, but is null");
    EXPECT_EQ(error_of("1.5", [](const Json& json) { json.integer(); }), "type must be integer, but is 1.5");
    EXPECT_EQ(error_of("18446744073709551616", [](const Json& json) { json.integer(); }),
              "type must be integer, but is 18446744073709551616");
}

}  // namespace
