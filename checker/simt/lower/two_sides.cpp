// SPDX-License-Identifier: MIT
#include "checker/simt/lower/two_sides.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/simt/lower/functions.h"

namespace simt {
namespace {

// A source's functions with a body, and what stands outside of them.
class Side {
  public:
    explicit Side(const Source& source) : source_(source), tokens_(source, source.runs().back()) {
        std::size_t at = 0;
        for (const Function& function : declarations(tokens_).functions) {
            const bool defined = function.open != 0;
            if (defined) {
                functions_.push_back(function);
            }
            // The host's text says nothing of a function that only the device has.
            const bool of_the_device = function.is_kernel || (function.is_device && !function.is_host);
            outside(at, of_the_device ? function.begin : defined ? function.open : at);
            at = of_the_device ? (defined ? function.close : tokens_.statement_end(function.name)) + 1
                 : defined     ? function.close
                               : at;
        }
        outside(at, tokens_.size());
    }

    const Source& source() const { return source_; }
    const Navigation& tokens() const { return tokens_; }
    const std::vector<Function>& functions() const { return functions_; }
    const std::vector<std::size_t>& outside() const { return outside_; }
    std::string_view name(std::size_t i) const { return tokens_.text(functions_[i].name); }

    std::vector<std::string_view> body(std::size_t i) const {
        std::vector<std::string_view> words;
        for (std::size_t j = functions_[i].open; j <= functions_[i].close; j++) { words.push_back(tokens_.text(j)); }
        return words;
    }

    // A linemarker for what follows token i, in lines of its own.
    std::string marker(std::size_t i) const {
        const std::string place = source_.place(tokens_.token(i).begin);
        const std::size_t colon = place.rfind(':');
        return fmt::format("\n# {} \"{}\"\n", place.substr(colon + 1), place.substr(0, colon));
    }

    std::string body_text(std::size_t i) const {
        const Function& function = functions_[i];
        const std::size_t begin = tokens_.token(function.open).begin, end = tokens_.token(function.close).end;
        return marker(function.open) + source_.text().substr(begin, end - begin);
    }

  private:
    void outside(std::size_t begin, std::size_t end) {
        static const Names kWords = {"__host__", "__device__", "__forceinline__", "__inline__", "inline"};
        for (std::size_t i = begin; i < end; i++) {
            if (!kWords.contains(tokens_.text(i))) {
                outside_.push_back(i);
            }
        }
    }

    const Source& source_;
    const Navigation tokens_;
    std::vector<Function> functions_;
    std::vector<std::size_t> outside_;  // tokens
};

// The functions that both sides have, in their order: the longest common sequence of names.
std::vector<std::pair<std::size_t, std::size_t>> common(const Side& device, const Side& host) {
    const std::size_t n = device.functions().size(), m = host.functions().size();
    std::vector<std::vector<unsigned int>> longest(n + 1, std::vector<unsigned int>(m + 1));
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t j = m; j-- > 0;) {
            longest[i][j] = device.name(i) == host.name(j) ? longest[i + 1][j + 1] + 1
                                                           : std::max(longest[i + 1][j], longest[i][j + 1]);
        }
    }
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    for (std::size_t i = 0, j = 0; i < n && j < m;) {
        if (device.name(i) == host.name(j)) {
            pairs.emplace_back(i++, j++);
        } else if (longest[i + 1][j] >= longest[i][j + 1]) {
            i++;
        } else {
            j++;
        }
    }
    return pairs;
}

std::string warning_of(const Side& device, const Side& host) {
    const std::vector<std::size_t>&mine = device.outside(), &theirs = host.outside();
    const auto [first, other] =
        std::mismatch(mine.begin(), mine.end(), theirs.begin(), theirs.end(),
                      [&](std::size_t i, std::size_t j) { return device.tokens().text(i) == host.tokens().text(j); });
    if (first == mine.end() && other == theirs.end()) {
        return "";
    }
    const Side& side = first != mine.end() ? device : host;
    const std::size_t token = first != mine.end() ? *first : *other;
    return side.source().place(side.tokens().token(token).begin) +
           ": warning: what stands here depends on __CUDA_ARCH__, outside of a function's body: the CPU device has the "
           "device's side everywhere\n";
}

}  // namespace

BothSides both_sides(const Source& device, const Source& host) {
    const Side mine(device), theirs(host);
    BothSides result{.text = "", .warning = warning_of(mine, theirs)};
    std::size_t at = 0;
    const auto take_until = [&](std::size_t end) {
        result.text.append(device.text(), at, end - at);
        at = end;
    };
    for (const auto& [i, j] : common(mine, theirs)) {
        const Function& function = mine.functions()[i];
        const bool of_both = function.is_device && function.is_host;
        if (function.is_kernel || (function.is_device && !of_both) || mine.body(i) == theirs.body(j)) {
            continue;
        }
        const std::size_t open = mine.tokens().token(function.open).begin,
                          end = mine.tokens().token(function.close).end;
        take_until(open);
        if (of_both) {
            result.text += function.is_constexpr ? "{ if (!__builtin_is_constant_evaluated() && ::simt::in_kernel())"
                                                 : "{ if (::simt::in_kernel())";
            take_until(end);
            result.text += " else" + theirs.body_text(j) + mine.marker(function.close) + "}";
        } else {
            result.text += theirs.body_text(j) + mine.marker(function.close);
            at = end;
        }
    }
    take_until(device.text().size());
    return result;
}

}  // namespace simt
