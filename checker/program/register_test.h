// SPDX-License-Identifier: MIT
//
// A GoogleTest test that is made while the program runs.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

namespace checker {

inline void register_test(const std::string& suite, const std::string& name, std::function<void()> body) {
    class Registered : public testing::Test {
      public:
        explicit Registered(std::function<void()> f) : body_(std::move(f)) {}
        void TestBody() override { body_(); }

      private:
        std::function<void()> body_;
    };
    testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [body = std::move(body)]() -> testing::Test* { return new Registered(body); });
}

}  // namespace checker
