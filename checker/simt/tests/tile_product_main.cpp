// SPDX-License-Identifier: MIT
//
// tile_product sm_90 tf32 f32 ROWS COLUMNS K: multiplies the tiles of its input, for Python (reference/tensor_cores/product.py).
// A tile is a, b and c as tile_product.h has them; c is f32 or f16. Writes each d.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checker/simt/runtime/tensor/tile_product.h"

namespace {

using simt::TensorCore;
using simt::TensorType;

struct Tiles {
    const TensorCore* core;
    TensorType type;
    int rows, columns, k;
};

std::optional<TensorType> type_named(std::string_view name) {
    constexpr std::array<std::string_view, 3> kNames{"f16", "bf16", "tf32"};
    for (std::size_t i = 0; i < kNames.size(); i++) {
        if (name == kNames[i]) {
            return static_cast<TensorType>(i);
        }
    }
    return std::nullopt;
}

template <class Element>
bool read(std::vector<Element>& elements) {
    return std::fread(elements.data(), sizeof(Element), elements.size(), stdin) == elements.size();
}

void multiply(const Tiles& tiles, const std::uint32_t* a, const std::uint32_t* b, std::vector<float>& c) {
    multiply_tile(*tiles.core, tiles.type, tiles.rows, tiles.columns, tiles.k, a, b, c.data(), c.data());
}

void multiply(const Tiles& tiles, const std::uint32_t* a, const std::uint32_t* b, std::vector<std::uint16_t>& c) {
    multiply_tile_f16(*tiles.core, tiles.rows, tiles.columns, tiles.k, a, b, c.data(), c.data());
}

template <class Element>
int multiply_all(const Tiles& tiles) {
    std::vector<std::uint32_t> a(static_cast<std::size_t>(tiles.rows * tiles.k));
    std::vector<std::uint32_t> b(static_cast<std::size_t>(tiles.columns * tiles.k));
    std::vector<Element> c(static_cast<std::size_t>(tiles.rows * tiles.columns));
    while (read(a) && read(b) && read(c)) {
        multiply(tiles, a.data(), b.data(), c);
        if (std::fwrite(c.data(), sizeof(Element), c.size(), stdout) != c.size()) {
            return 1;
        }
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.size() != 6 || !words[0].starts_with("sm_")) {
        fmt::print(stderr, "usage: tile_product sm_90 f16|bf16|tf32 f16|f32 ROWS COLUMNS K\n");
        return 2;
    }
    const TensorCore* core = simt::tensor_core(std::stoi(words[0].substr(3)));
    const std::optional<TensorType> type = type_named(words[1]);
    const bool is_f16 = words[2] == "f16";
    if (core == nullptr || !type || !core->has(*type) || (is_f16 && type != TensorType::f16)) {
        fmt::print(stderr, "tile_product: {} has no products of {} in {}\n", words[0], words[1], words[2]);
        return 2;
    }
    const Tiles tiles{core, *type, std::stoi(words[3]), std::stoi(words[4]), std::stoi(words[5])};
    return is_f16 ? multiply_all<std::uint16_t>(tiles) : multiply_all<float>(tiles);
}
