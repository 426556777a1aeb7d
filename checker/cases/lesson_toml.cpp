// SPDX-License-Identifier: MIT
#include "checker/cases/lesson_toml.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <regex>

#include "checker/base/course.h"
#include "checker/base/file_error.h"
#include "checker/base/text.h"
#include "checker/cases/budget.h"

namespace checker {
namespace {

const std::vector<std::string> kKeys{"title",  "idea",     "requires",  "given",  "branch_of",
                                     "target", "counters", "precision", "ladder", "beyond"};
const std::vector<std::string> kTargetKeys{"against", "bronze",  "silver", "gold",     "of_recorded", "by_capability",
                                           "older",   "threads", "shapes", "reported", "gap"};

// sm_ and digits, and an `a` where only that architecture has it: sm_90a.
bool is_card(const std::string& name) {
    if (!name.starts_with("sm_"))
        return false;
    std::string_view number = std::string_view(name).substr(3);
    if (number.ends_with('a'))
        number.remove_suffix(1);
    return !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
}

class Reader {
  public:
    explicit Reader(const std::filesystem::path& file) { result_.file = file; }

    LessonToml read() {
        const toml::table lesson = parse();
        require_known(lesson, "", kKeys);
        result_.title = text(lesson, "title");
        result_.idea = text(lesson, "idea");
        read_cards(lesson);
        result_.given = strings(lesson, "given", "");
        read_branch(lesson);
        for (const auto& [op, row] : tables(lesson, "target")) {
            result_.ops.push_back(op);
            result_.targets[op] = target(*row, "[target." + op + "]");
        }
        for (const auto& [op, row] : tables(lesson, "counters")) { read_counters(op, *row); }
        read_precisions(lesson);
        require_fp32_for_arithmetic();
        read_ladder(lesson);
        require_sizes_beyond(lesson);
        return std::move(result_);
    }

  private:
    toml::table parse() const {
        try {
            toml::table lesson = toml::parse_file(result_.file.string());
            require_plain_letters();
            return lesson;
        } catch (const toml::parse_error& e) {
            throw FileError(fmt::format("{}:{}: {}", result_.file.string(), e.source().begin.line, e.description()));
        }
    }

    // make finds lessons with grep, which would miss `older` in a key "\u006flder".
    void require_plain_letters() const {
        std::ifstream lines(result_.file);
        int number = 0;
        for (std::string line; std::getline(lines, line);) {
            number++;
            for (const char* escape : {"\\u", "\\U", "\\x"}) {
                if (line.find(escape) != std::string::npos) {
                    throw FileError(
                        fmt::format("{}:{}: has an escape {}; write the letter: make looks for keys as text",
                                    result_.file.string(), number, escape));
                }
            }
        }
    }

    [[noreturn]] void refuse(const toml::node& node, const std::string& where, const std::string& what) const {
        throw FileError(fmt::format("{}:{}: {}{}{}", result_.file.string(), node.source().begin.line, where,
                                    where.empty() ? "" : " ", what));
    }

    void require_known(const toml::table& table, const std::string& where,
                       const std::vector<std::string>& known) const {
        for (const auto& [key, value] : table) {
            if (std::ranges::find(known, key.str()) == known.end()) {
                refuse(value, where,
                       fmt::format("has the unknown key {}{}", key.str(), did_you_mean(key.str(), known)));
            }
        }
    }

    // The key's value, T() without it.
    template <class T>
    T value(const toml::table& table, const char* key, const std::string& where, const char* kind) const {
        const toml::node* node = table.get(key);
        const std::optional<T> value = node == nullptr ? T() : node->value<T>();
        if (!value) {
            refuse(*node, where, fmt::format("needs {} as {}", key, kind));
        }
        return *value;
    }
    std::string text(const toml::table& table, const char* key) const {
        return value<std::string>(table, key, "", "a string");
    }
    double number(const toml::table& table, const char* key, const std::string& where) const {
        return value<double>(table, key, where, "a number");
    }

    std::vector<std::string> strings(const toml::table& table, const char* key, const std::string& where) const {
        std::vector<std::string> result;
        const toml::node* node = table.get(key);
        if (node == nullptr) {
            return result;
        }
        const toml::array* array = node->as_array();
        for (std::size_t i = 0; array != nullptr && i < array->size(); i++) {
            if (const std::optional<std::string> one = (*array)[i].value<std::string>()) {
                result.push_back(*one);
            }
        }
        if (array == nullptr || result.size() != array->size()) {
            refuse(*node, where, fmt::format("needs {} as a list of strings", key));
        }
        return result;
    }

    void read_cards(const toml::table& lesson) {
        result_.cards = strings(lesson, "requires", "");
        for (const std::string& card : result_.cards) {
            if (!is_card(card)) {
                refuse(*lesson.get("requires"), "", fmt::format("requires {}, which is no card such as sm_80", card));
            }
        }
    }

    void read_branch(const toml::table& lesson) {
        result_.branch_of = text(lesson, "branch_of");
        const toml::node* node = lesson.get("branch_of");
        if (node == nullptr) {
            return;
        }
        const std::filesystem::path folder = result_.file.parent_path();
        if (!(result_.branch_of < folder.filename().string()) ||
            !std::filesystem::exists(folder.parent_path() / result_.branch_of / "lesson.toml")) {
            refuse(*node, "", fmt::format("needs branch_of as an earlier lesson, not \"{}\"", result_.branch_of));
        }
        std::ifstream lines(result_.file);
        std::string line;
        for (unsigned int i = 0; i < node->source().begin.line; i++) { std::getline(lines, line); }
        if (const std::string wanted = fmt::format("branch_of = \"{}\"", result_.branch_of); line != wanted) {
            refuse(*node, "", fmt::format("needs the line '{}' and no other: make looks for it as text", wanted));
        }
    }

    void read_precisions(const toml::table& lesson) {
        const toml::table* precisions = table(lesson, "precision", "", "a table such as { matmul = \"tf32\" }");
        if (precisions == nullptr) {
            return;
        }
        const std::vector<std::string> known(kPrecisions.begin(), kPrecisions.end());
        for (const auto& [key, node] : *precisions) {
            const std::string op(key.str()), precision = node.value_or("");
            if (std::ranges::find(known, precision) == known.end()) {
                refuse(node, "[precision]",
                       fmt::format("needs {} as one that there is, not \"{}\"{}", op, precision,
                                   did_you_mean(precision, known)));
            }
            result_.precision[op] = precision;
            result_.lines["precision." + op] = static_cast<int>(node.source().begin.line);
        }
    }

    void read_ladder(const toml::table& lesson) {
        const toml::table* ladder = table(lesson, "ladder", "", "a table");
        if (ladder == nullptr) {
            return;
        }
        require_known(*ladder, "[ladder]", {"random_shapes", "multiple_of"});
        result_.ladder.emplace();
        if (const toml::node* shapes = ladder->get("random_shapes")) {
            result_.ladder->random_shapes = whole(*shapes, 0, "[ladder]", "needs random_shapes as a whole number");
        }
        const toml::table* sizes = table(*ladder, "multiple_of", "[ladder]", "a table such as { C = 16 }");
        if (sizes == nullptr) {
            return;
        }
        const std::string where = "[ladder] multiple_of";
        require_known(*sizes, where, {"N", "C", "OC", "out_stride"});
        for (const auto& [size, of] : *sizes) {
            result_.ladder->multiple_of[std::string(size.str())] =
                whole(of, 1, where, fmt::format("needs {} as a whole number from 1 on", size.str()));
        }
    }

    // The course's own tests compare them with the cases.
    void require_sizes_beyond(const toml::table& lesson) const {
        if (const toml::table* beyond = table(lesson, "beyond", "", "a table such as { gelu = [\"N > kBlock\"] }")) {
            for (const auto& [op, node] : *beyond) { strings(*beyond, std::string(op.str()).c_str(), "[beyond]"); }
        }
    }

    // The key's table, null without it.
    const toml::table* table(const toml::table& all, const char* key, const std::string& where,
                             const char* kind) const {
        const toml::node* node = all.get(key);
        if (node != nullptr && !node->is_table()) {
            refuse(*node, where, fmt::format("needs {} as {}", key, kind));
        }
        return node == nullptr ? nullptr : node->as_table();
    }

    int whole(const toml::node& node, int least, const std::string& where, const std::string& refusal) const {
        if (!node.is_integer() || node.value_or(least - 1) < least) {
            refuse(node, where, refusal);
        }
        return node.value_or(least);
    }

    // The tables of [target] or [counters], in the file's order.
    std::vector<std::pair<std::string, const toml::table*>> tables(const toml::table& lesson, const char* key) {
        std::vector<std::pair<std::string, const toml::table*>> result;
        const toml::table* all = table(lesson, key, "", "a table");
        if (all == nullptr) {
            return result;
        }
        for (const auto& [op, node] : *all) {
            if (!node.is_table()) {
                refuse(node, fmt::format("[{}.{}]", key, op.str()), "is no table");
            }
            result.emplace_back(op.str(), node.as_table());
            result_.lines[fmt::format("{}.{}", key, op.str())] = static_cast<int>(node.source().begin.line);
        }
        std::ranges::sort(result, {}, [](const auto& row) { return row.second->source().begin.line; });
        return result;
    }

    Target target(const toml::table& row, const std::string& where) const {
        require_known(row, where, kTargetKeys);
        Target target{.against = against(row, where),
                      .shares = shares(row, where),
                      .of_recorded = of_recorded(row, where),
                      .older = older(row, where),
                      .threads = number(row, "threads", where),
                      .shapes = strings(row, "shapes", where),
                      .reported = strings(row, "reported", where)};
        if (target.shapes.empty() && row.contains("bronze")) {
            refuse(row, where, "needs shapes = [\"N=…\", …]");
        }
        const bool is_recorded = target.of_recorded.gold > 0;
        if (is_recorded && (row.contains("silver") || row.contains("gold") || !(target.shares.bronze > 0))) {
            refuse(row, where, "needs bronze above 0 and no silver or gold, which of_recorded says");
        }
        if (!target.shapes.empty() && !is_recorded && !is_rising(target.shares)) {
            refuse(row, where, "needs bronze, silver and gold, rising shares above 0");
        }
        if (target.against == Baseline::older && target.older.gold > 0) {
            refuse(row, where, "needs no older: it is against the older solution");
        }
        target.by_capability = by_capability(row, where);
        if (is_recorded && !target.by_capability.empty()) {
            refuse(row, where, "needs by_capability or of_recorded, not both");
        }
        read_gap(row, where, target);
        return target;
    }

    static bool is_rising(const Shares& shares) {
        return 0 < shares.bronze && shares.bronze < shares.silver && shares.silver < shares.gold;
    }
    Shares shares(const toml::table& row, const std::string& where) const {
        return {number(row, "bronze", where), number(row, "silver", where), number(row, "gold", where)};
    }

    // of_recorded = { bronze = 0.8, silver = 0.88, gold = 0.95 }
    Shares of_recorded(const toml::table& row, const std::string& where) const {
        const toml::table* medals = table(row, "of_recorded", where, "a table such as { bronze = 0.8, … }");
        if (medals == nullptr) {
            return {};
        }
        const std::string inside = where + " of_recorded";
        require_known(*medals, inside, {"bronze", "silver", "gold"});
        const Shares result = shares(*medals, inside);
        if (!is_rising(result) || result.gold > 1) {
            refuse(*medals, inside, "needs bronze, silver and gold, rising shares up to 1");
        }
        return result;
    }

    // by_capability = { 9 = { bronze = 0.35, silver = 0.45, gold = 0.55 } }, by a compute capability or its first number.
    std::map<std::string, Shares> by_capability(const toml::table& row, const std::string& where) const {
        static const std::regex kCapability(R"([1-9]\d?(\.\d)?)");
        std::map<std::string, Shares> result;
        const toml::table* all = table(row, "by_capability", where, "a table such as { 9 = { bronze = 0.35, … } }");
        if (all == nullptr) {
            return result;
        }
        for (const auto& [key, node] : *all) {
            const std::string number(key.str()), inside = fmt::format("{} by_capability {}", where, number);
            if (!std::regex_match(number, kCapability)) {
                refuse(node, inside,
                       "is no compute capability, such as \"9.0\", and no first number of one, such as 9");
            }
            if (!node.is_table()) {
                refuse(node, inside, "is no table");
            }
            require_known(*node.as_table(), inside, {"bronze", "silver", "gold"});
            const Shares medals = shares(*node.as_table(), inside);
            if (!is_rising(medals)) {
                refuse(node, inside, "needs bronze, silver and gold, rising shares above 0");
            }
            result[number] = medals;
        }
        return result;
    }

    // gap = { shapes = […], bronze = 4.0, silver = 2.0, gold = 1.3 }, in microseconds for each node.
    void read_gap(const toml::table& row, const std::string& where, Target& target) const {
        const toml::table* gap = table(row, "gap", where, "a table such as { shapes = […], bronze = 4.0, … }");
        if (gap == nullptr) {
            return;
        }
        const std::string inside = where + " gap";
        require_known(*gap, inside, {"shapes", "bronze", "silver", "gold"});
        constexpr double kMicrosecond = 1e-6;
        target.gap_shapes = strings(*gap, "shapes", inside);
        target.gap = {kMicrosecond * number(*gap, "bronze", inside), kMicrosecond * number(*gap, "silver", inside),
                      kMicrosecond * number(*gap, "gold", inside)};
        if (target.against != Baseline::busy) {
            refuse(*gap, inside, "is of what is against \"busy\" alone");
        }
        if (target.gap_shapes.empty() ||
            !(target.gap.bronze > target.gap.silver && target.gap.silver > target.gap.gold && target.gap.gold > 0)) {
            refuse(*gap, inside, "needs shapes, and bronze, silver and gold, falling above 0");
        }
        target.shapes.insert(target.shapes.end(), target.gap_shapes.begin(), target.gap_shapes.end());
    }

    Baseline against(const toml::table& row, const std::string& where) const {
        const std::string text = row["against"].value_or("");
        std::vector<std::string> known;
        for (const Baseline baseline : {Baseline::copy, Baseline::read, Baseline::solution, Baseline::library,
                                        Baseline::arithmetic, Baseline::older, Baseline::busy}) {
            if (text == to_string(baseline)) {
                return baseline;
            }
            known.push_back(to_string(baseline));
        }
        refuse(
            row, where,
            fmt::format("needs against, whose speed it is a share of, not \"{}\"{}", text, did_you_mean(text, known)));
    }

    // How many times as fast as the older solution: a number for every medal, or { silver = 1.3 } from a medal on.
    Shares older(const toml::table& row, const std::string& where) const {
        const toml::node* node = row.get("older");
        if (node == nullptr || !node->is_table()) {
            const double all = number(row, "older", where);
            return {all, all, all};
        }
        const toml::table& medals = *node->as_table();
        const std::string table = where + " older";
        require_known(medals, table, {"bronze", "silver", "gold"});
        Shares least{number(medals, "bronze", table), number(medals, "silver", table), number(medals, "gold", table)};
        least.silver = std::max(least.silver, least.bronze);
        least.gold = std::max(least.gold, least.silver);
        if (!(least.gold > 0)) {
            refuse(*node, table, "asks for nothing: it is a number, or { silver = 1.3 }");
        }
        return least;
    }

    // Where a product is rounded to TF32 tensor cores compute it, whose speed has nothing to do with fp32's.
    void require_fp32_for_arithmetic() const {
        for (const auto& [op, target] : result_.targets) {
            if (target.against == Baseline::arithmetic && result_.precision_of(op) != "fp32") {
                throw FileError(fmt::format("{} is against the roof of fp32, and [precision] says {}",
                                            result_.where("target." + op), result_.precision_of(op)));
            }
        }
    }

    void read_counters(const std::string& op, const toml::table& row) {
        for (const auto& [key, value] : row) {
            const std::string counter(key.str());
            const double at_most = value.value_or(0.0);
            if (!(at_most >= 1)) {
                refuse(value, fmt::format("[counters.{}]", op),
                       fmt::format("needs {} as a number from 1 on: times what is needed", counter));
            }
            result_.counters[op][counter] = at_most;
            result_.lines[fmt::format("counters.{}.{}", op, counter)] = static_cast<int>(value.source().begin.line);
        }
    }

    LessonToml result_;
};

}  // namespace

bool Target::judges(const std::string& shape) const {
    return !shapes.empty() && std::ranges::find(reported, shape) == reported.end();
}

bool Target::judges_gap(const std::string& shape) const {
    return judges(shape) && std::ranges::find(gap_shapes, shape) != gap_shapes.end();
}

Target on_card(Target target, const Gpu& card) {
    const std::string first = std::to_string(card.capability / 10);
    for (const std::string& capability : {first, fmt::format("{}.{}", first, card.capability % 10)}) {
        if (const auto found = target.by_capability.find(capability); found != target.by_capability.end()) {
            target.shares = found->second;
        }
    }
    return target;
}

std::string LessonToml::where(const std::string& table) const {
    const auto line = lines.find(table);
    return fmt::format("{}{}: [{}]", file.string(), line == lines.end() ? "" : fmt::format(":{}", line->second), table);
}

std::string LessonToml::precision_of(const std::string& op) const {
    const auto found = precision.find(op);
    return found == precision.end() ? "fp32" : found->second;
}

std::string unmet(const LessonToml& toml, const Gpu& card) {
    for (const std::string& needed : toml.cards) {
        const int least = std::stoi(needed.substr(std::string_view("sm_").size()));
        const bool has_it = needed.ends_with('a') ? card.capability == least : card.capability >= least;
        if (card.capability != 0 && !has_it) {
            return fmt::format("{} is sm_{}, this needs {}; the CPU device has it: make check-lesson{} DEVICE=cpu",
                               card.name, card.capability, needed,
                               lesson_number(toml.file.parent_path().filename().string()));
        }
    }
    return "";
}

LessonToml read_lesson_toml(const std::filesystem::path& file) {
    return Reader(file).read();
}

}  // namespace checker
