// SPDX-License-Identifier: MIT
#include "checker/estimate/cards.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <ranges>
#include <stdexcept>

#include "checker/base/text.h"

// The assembler copies the file into the program.
asm(R"(
    .pushsection .rodata
sol_cards_toml:
    .incbin "reference/cards.toml"
sol_cards_toml_end:
    .popsection
)");

extern "C" {
extern const char sol_cards_toml[], sol_cards_toml_end[];
}

namespace checker::estimate {
namespace {

struct Row {
    const toml::table& table;
    std::string where;  // "cards.toml: [card.T4]"

    template <class T>
    T get(const char* key) const {
        const std::optional<T> value = table[key].value<T>();
        if (!value) {
            throw std::runtime_error(
                fmt::format("{} needs {} as {}", where, key, std::is_same_v<T, std::string> ? "a text" : "a number"));
        }
        return *value;
    }
    double positive(const char* key) const {
        const double value = get<double>(key);
        if (!(value > 0)) {
            throw std::runtime_error(fmt::format("{}: {} is not above 0", where, key));
        }
        return value;
    }
    int count(const char* key) const { return static_cast<int>(positive(key)); }
    double if_any(const char* key, double otherwise = 0) const { return table[key].value_or(otherwise); }
    std::vector<std::string> texts(const char* key) const {
        std::vector<std::string> found;
        if (const toml::array* list = table[key].as_array()) {
            for (const toml::node& node : *list) { found.push_back(node.value_or(std::string())); }
        }
        return found;
    }
};

const toml::table& table_of(const toml::table& all, const std::string& kind, const std::string& name,
                            const std::string& from) {
    const toml::table* found = all[kind][name].as_table();
    if (found == nullptr) {
        throw std::runtime_error(fmt::format("{} has no [{}.{}]", from, kind, name));
    }
    return *found;
}

GpuSpec card_of(const std::string& key, const toml::table& all, const std::string& from) {
    const Row card{table_of(all, "card", key, from), fmt::format("{}: [card.{}]", from, key)};
    const std::string number = std::to_string(card.get<int>("sm"));
    const Row sm{table_of(all, "sm", number, from), fmt::format("{}: [sm.{}]", from, number)};
    GpuSpec result{.key = key,
                   .name = card.get<std::string>("name"),
                   .sass = card.get<std::string>("sass"),
                   .clock = 1e6 * card.positive("clock"),
                   .multiprocessors = card.count("multiprocessors"),
                   .schedulers = sm.count("schedulers"),
                   .fp32_lanes = sm.count("fp32_lanes"),
                   .int_lanes = sm.count("int_lanes"),
                   .special_lanes = sm.count("special_lanes"),
                   .lsu_lanes = sm.count("lsu_lanes"),
                   .l1_bytes = sm.count("l1_bytes"),
                   .fp32 = 1e12 * card.positive("fp32"),
                   .tf32 = 1e12 * card.if_any("tf32"),
                   .bf16 = 1e12 * card.if_any("bf16"),
                   .fp16 = 1e12 * card.if_any("fp16", card.if_any("bf16")),
                   .fp16_fp16 = 1e12 * card.if_any("fp16_fp16", card.if_any("fp16", card.if_any("bf16"))),
                   .tensor_clock = 1e6 * card.if_any("tensor_clock", card.positive("clock")),
                   .mma_sync = sm.if_any("mma_sync", 1),
                   .memory = 1e9 * card.positive("memory"),
                   .l2 = 1e9 * card.positive("l2"),
                   .l2_size = 1e6 * card.positive("l2_size"),
                   .l1_cycles = sm.positive("l1_cycles"),
                   .l2_cycles = card.positive("l2_cycles"),
                   .memory_cycles = card.positive("memory_cycles"),
                   .limits = {.warps = sm.count("warps"),
                              .blocks = sm.count("blocks"),
                              .shared = sm.count("shared"),
                              .shared_unit = sm.count("shared_unit"),
                              .shared_reserved = sm.get<int>("shared_reserved")},
                   .assumed = card.texts("assumed")};
    std::ranges::copy(sm.texts("assumed"), std::back_inserter(result.assumed));
    return result;
}

// Without what names of cards differ in.
std::string normalised(std::string_view name) {
    std::string text;
    for (const char letter : name) {
        if (std::isalnum(static_cast<unsigned char>(letter)) != 0) {
            text += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
        }
    }
    for (const std::string_view maker : {"geforce", "nvidia", "rtx"}) {
        if (const std::size_t at = text.find(maker); at != std::string::npos) {
            text.erase(at, maker.size());
        }
    }
    return text;
}

}  // namespace

GpuSpec GpuSpec::at(double hertz) const {
    GpuSpec other = *this;
    const double faster = hertz / clock;
    other.clock = hertz;
    other.tensor_clock = hertz;
    for (double* rate : {&other.fp32, &other.l2}) { *rate *= faster; }
    for (double* rate : {&other.tf32, &other.bf16, &other.fp16, &other.fp16_fp16}) { *rate *= hertz / tensor_clock; }
    other.memory_cycles = l2_cycles + (memory_cycles - l2_cycles) * faster;
    return other;
}

std::vector<GpuSpec> parse_cards(std::string_view text, const std::string& from) {
    toml::table all;
    try {
        all = toml::parse(text, from);
    } catch (const toml::parse_error& e) {
        throw std::runtime_error(fmt::format("{}:{}: {}", from, e.source().begin.line, e.description()));
    }
    std::vector<std::pair<toml::source_index, std::string>> keys;  // the table has them by name
    if (const toml::table* known = all["card"].as_table()) {
        for (const auto& [key, row] : *known) { keys.emplace_back(key.source().begin.line, key.str()); }
    }
    std::ranges::sort(keys);
    std::vector<GpuSpec> found;
    for (const auto& [line, key] : keys) { found.push_back(card_of(key, all, from)); }
    return found;
}

const std::vector<GpuSpec>& cards() {
    static const auto& known = *new std::vector<GpuSpec>(  // read when the process ends, and so never destroyed
        parse_cards({sol_cards_toml, sol_cards_toml_end}, "reference/cards.toml"));
    return known;
}

const GpuSpec& card_named(std::string_view name) {
    const std::string wanted = normalised(name);
    const auto exact = std::ranges::find(cards(), wanted, [](const GpuSpec& card) { return normalised(card.key); });
    if (exact != cards().end()) {
        return *exact;
    }
    const auto first = std::ranges::find_if(
        cards(), [&](const GpuSpec& card) { return wanted.size() > 1 && normalised(card.key).starts_with(wanted); });
    if (first == cards().end()) {
        throw std::runtime_error(fmt::format("the card {} is not known; there is {}", name,
                                             fmt::join(cards() | std::views::transform(&GpuSpec::key), ", ")));
    }
    return *first;
}

std::vector<GpuSpec> cards_named(std::string_view names) {
    if (names == "all") {
        return cards();
    }
    std::vector<GpuSpec> found;
    for (const std::string_view part : split(names, ',')) { found.push_back(card_named(part)); }
    return found;
}

}  // namespace checker::estimate
