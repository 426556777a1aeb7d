// SPDX-License-Identifier: MIT
#include "checker/cases/budget.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "checker/base/file_error.h"
#include "checker/judge/compare.h"

using namespace checker;
namespace fs = std::filesystem;

namespace {

constexpr double kSmallestDenormal = 0x1p-149;

float number(const nlohmann::json& value) {
    return value.is_string() ? std::stof(value.get<std::string>()) : value.get<float>();
}

std::vector<float> numbers(const nlohmann::json& list) {
    std::vector<float> result;
    for (const auto& value : list) { result.push_back(number(value)); }
    return result;
}

Element element_named(std::string_view name) {
    for (const Element element : {Element::bf16, Element::f16, Element::f8_e4m3, Element::f8_e5m2}) {
        if (name_of(element) == name) {
            return element;
        }
    }
    return Element::f32;
}

// A folder with a budgets.json of the given text.
class BudgetFiles : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = fs::path(testing::TempDir()) / ("budget_" + std::to_string(getpid()));
        fs::create_directories(folder_);
        write("budgets.json",
              R"({"k": {"fp32": 8}, "local": {"gelu.out": {"fp32": 2.0}, "residual.out": {"fp32": 0.25}},
                                  "chained": {"h.0.fc": {"fp32": 3.0}},
                                  "own": {"lesson24": {"gelu.out": {"fp32": 5.0}, "silu.out": {"fp32": 0.5}}}})");
    }
    void TearDown() override { fs::remove_all(folder_); }
    void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }
    Budgets read() { return Budgets::read(folder_ / "budgets.json"); }

    // The message of the error that `f` throws.
    template <class F>
    static std::string error_of(F&& f) {
        try {
            f();
        } catch (const FileError& e) { return e.what(); }
        return "nothing was thrown";
    }
    fs::path folder_;
};

}  // namespace

TEST(Ulp, IsTheDistanceToTheNextLargerFloat) {
    for (const float x : {1.0F, 1.5F, 3.0F, 1e-30F, 1e30F, 0.1F, 16777216.0F}) {
        const double next = std::nextafter(x, std::numeric_limits<float>::infinity());
        EXPECT_EQ(ulp(x), next - x) << x;
        EXPECT_EQ(ulp(-x), ulp(x)) << x;
    }
}

TEST(Ulp, OfZeroAndDenormalsIsTheSmallestDenormal) {
    EXPECT_EQ(ulp(0.0F), kSmallestDenormal);
    EXPECT_EQ(ulp(-0.0F), kSmallestDenormal);
    EXPECT_EQ(ulp(1e-40F), kSmallestDenormal);
    EXPECT_EQ(ulp(std::numeric_limits<float>::min()), kSmallestDenormal);
}

TEST(Ulp, OfTheLargestFloatIsFinite) {
    EXPECT_EQ(ulp(std::numeric_limits<float>::max()), 0x1p104);
}

TEST(Budget, IsNeverLessThanOneUlp) {
    EXPECT_EQ(budget(8.0, 0.0F, 1.0F), ulp(1.0F));
    EXPECT_EQ(budget(8.0, 0.5F, 1.0F), 4.0);
}

// reference/tests/test_budget.py reads the same file: the two sides cannot drift apart.
TEST(Budget, AgreesWithPythonOnEveryVector) {
    std::ifstream in("reference/cases/budget_vectors.json");
    ASSERT_TRUE(in) << "run from the repository's root";
    const nlohmann::json file = nlohmann::json::parse(in);
    ASSERT_GE(file.at("vectors").size(), 20U);
    for (const auto& vector : file.at("vectors")) {
        const std::vector<float> got = numbers(vector.at("got"));
        const std::vector<float> ref = numbers(vector.at("ref"));
        const std::vector<float> floor = numbers(vector.at("floor"));
        const long rows = static_cast<long>(floor.size());
        const long columns = static_cast<long>(ref.size()) / rows;
        const double factor = vector.at("k").get<double>() * std::max(vector.at("ratio").get<double>(), 1.0);
        const Expected expected{
            .values = ref, .floor = floor, .factor = factor, .element = element_named(vector.value("element", "f32"))};
        const Comparison c = compare(Dims("N C", {rows, columns}), columns, got, expected);
        const std::string name = vector.at("name");
        EXPECT_EQ(c.wrong, vector.at("wrong").get<long>()) << name;
        EXPECT_EQ(c.worst, vector.at("worst").get<long>()) << name;
        const double used = number(vector.at("used"));
        if (std::isfinite(used)) {
            EXPECT_NEAR(c.used, vector.at("used").get<double>(), 1e-12 * c.used) << name;
        } else {
            EXPECT_FALSE(std::isfinite(c.used)) << name;
        }
    }
}

TEST_F(BudgetFiles, GiveKTimesTheRatioButAtLeastK) {
    const Budgets budgets = read();
    EXPECT_EQ(budgets.local("gelu.out", "fp32"), 16.0);
    EXPECT_EQ(budgets.local("residual.out", "fp32"), 8.0);
    EXPECT_EQ(budgets.chained("h.0.fc", "fp32"), 24.0);
}

TEST_F(BudgetFiles, GiveALessonsOwnCaseItsOwnRatioAndNoOtherCase) {
    const Budgets budgets = read();
    EXPECT_EQ(budgets.local("gelu.out", "fp32", "lesson24"), 40.0);
    EXPECT_EQ(budgets.local("silu.out", "fp32", "lesson24"), 8.0);
    EXPECT_EQ(budgets.local("residual.out", "fp32", "lesson24"), 8.0);
    EXPECT_EQ(budgets.local("gelu.out", "fp32", "regular"), 16.0);
    EXPECT_NE(error_of([&] { static_cast<void>(budgets.local("silu.out", "fp32")); }).find("silu.out"),
              std::string::npos);
}

TEST_F(BudgetFiles, LackingAnOutputAreNamedWithIt) {
    const Budgets budgets = read();
    const std::string error = error_of([&] { static_cast<void>(budgets.local("softmax.probs", "fp32")); });
    EXPECT_NE(error.find("budgets.json has no local ratio for softmax.probs in fp32"), std::string::npos) << error;
}

TEST_F(BudgetFiles, LackingAPrecisionAreNamedWithIt) {
    const Budgets budgets = read();
    EXPECT_NE(error_of([&] { static_cast<void>(budgets.local("gelu.out", "fp8")); }).find("in fp8"), std::string::npos);
}

TEST_F(BudgetFiles, ThatAreMissingSayHowToGetThemBack) {
    fs::remove(folder_ / "budgets.json");
    const std::string error = error_of([&] { read(); });
    EXPECT_NE(error.find("make reference"), std::string::npos) << error;
    EXPECT_NE(error.find("git checkout"), std::string::npos) << error;
}

TEST_F(BudgetFiles, ThatAreMalformedAreNamed) {
    write("budgets.json", "{\"local\": 3}");
    EXPECT_NE(error_of([&] { read(); }).find("budgets.json"), std::string::npos);
    write("budgets.json", "{");
    EXPECT_NE(error_of([&] { read(); }).find("budgets.json"), std::string::npos);
    write("budgets.json", R"({"local": {}, "chained": {}, "own": {}})");
    EXPECT_NE(error_of([&] { read(); }).find("'k'"), std::string::npos);
}

TEST_F(BudgetFiles, ThatGiveNoUsableFactorAreRefused) {
    write("budgets.json", R"({"k": {"fp32": -8}, "local": {"gelu.out": {"fp32": 2.0}}, "chained": {}, "own": {}})");
    EXPECT_NE(error_of([&] { static_cast<void>(read().local("gelu.out", "fp32")); }).find("factor"), std::string::npos);
}
