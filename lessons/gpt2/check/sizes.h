// SPDX-License-Identifier: MIT
//
// The integers and scalars that an op is called with, by their names in ops.h: B=4 T=1024 scale=0.125.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cases {

class Sizes {
  public:
    Sizes() = default;
    Sizes(std::initializer_list<std::pair<const std::string, double>> values) : values_(values) {}
    // "B=4 T=1024 C=768"; throws std::invalid_argument with what is wrong.
    static Sizes of(std::string_view text);

    bool has(std::string_view name) const { return values_.contains(name); }
    int operator[](std::string_view name) const;  // these throw std::invalid_argument for a name that is not there
    double number(std::string_view name) const;
    void set(std::string_view name, double value) { values_.insert_or_assign(std::string(name), value); }

    // What is missing is filled in from "out_stride=OC scale=0.125": a number, or another size.
    Sizes completed(std::string_view defaults) const;
    Sizes at_most(const Sizes& largest) const;

    // "B T C" as "B=4 T=1024 C=768".
    std::string text(std::string_view names) const;
    // The lengths of the axes of "B T 3C/c". Has them where it has every size that they name.
    bool has_axes(std::string_view dims) const;
    std::vector<long> axes(std::string_view dims) const;

  private:
    std::map<std::string, double, std::less<>> values_;
};

// A call as lessons/gpt2/calls_main.cpp writes it, without its op: "N=4096 C=768 OC=50257 out_stride=50304 -bias".
struct CallSizes {
    Sizes sizes;
    std::vector<std::string> null;  // parameters

    // Throws std::invalid_argument as Sizes::of, and if a parameter is null twice.
    static CallSizes of(std::string_view text);
};

std::vector<std::string> words(std::string_view text);

}  // namespace cases
