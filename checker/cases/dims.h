// SPDX-License-Identifier: MIT
//
// The shape of a tensor with names: "B T C" and {2, 8, 64} print as "B=2, T=8, C=64", and element 70 as
// "b=0, t=1, c=6". An index is the dimension's name in lower case; where two dimensions have the same name, "T/s" says
// that the dimension is T and its index s.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace checker {

class Dims {
  public:
    Dims() = default;
    Dims(std::string_view names, std::span<const long> sizes);  // throws std::invalid_argument when they disagree
    Dims(std::string_view names, std::initializer_list<long> sizes);

    std::size_t rank() const { return sizes_.size(); }
    long size(std::size_t axis) const { return sizes_[axis]; }
    const std::string& name(std::size_t axis) const { return names_[axis]; }
    const std::string& index_name(std::size_t axis) const { return index_names_[axis]; }
    long elements() const;
    long columns() const { return sizes_.empty() ? 1 : sizes_.back(); }  // the last dimension: the length of a row
    long rows() const { return columns() == 0 ? 0 : elements() / columns(); }

    std::vector<long> index(long element) const;  // one number an axis
    std::string index_text(long element) const;   // "b=0, t=1, c=6"
    std::string text() const;                     // "B=2, T=8, C=64"

  private:
    std::vector<std::string> names_;
    std::vector<std::string> index_names_;
    std::vector<long> sizes_;
};

}  // namespace checker
