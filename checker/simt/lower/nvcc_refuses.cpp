// SPDX-License-Identifier: MIT
#include "checker/simt/lower/nvcc_refuses.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "checker/simt/lower/functions.h"

namespace simt {
namespace {

// Functions of the standard library that the device's code may not call, unlike those of <cmath> and std::move.
const Names kStandard = {"max",         "min",        "clamp",     "minmax", "swap",    "sort",
                         "stable_sort", "accumulate", "fill",      "copy",   "find",    "for_each",
                         "iota",        "reverse",    "transform", "reduce", "exchange"};

class Finder {
  public:
    Finder(const Source& source, const TokenRun& run, bool relaxed)
        : source_(source), tokens_(source, run), found_(declarations(tokens_)), relaxed_(relaxed) {
        for (const std::size_t name : found_.namespaces) { namespaces_.insert(tokens_.text(name)); }
        for (const std::size_t name : found_.constant_arrays) { arrays_.insert(tokens_.text(name)); }
        for (const Function& function : found_.functions) {
            if (!function.is_member) {
                Free& all = free_[tokens_.text(function.name)];
                (function.is_kernel ? all.kernels : function.is_device ? all.device : all.host)++;
            }
            if (is_of_the_host(function)) {
                bool& is_constexpr = of_the_host_.try_emplace(tokens_.text(function.name), true).first->second;
                is_constexpr = is_constexpr && function.is_constexpr;
            }
        }
    }

    HostUses run() {
        for (const Function& function : of_the_device()) { read(function); }
        launches();
        for (const Function& function : found_.functions) {
            if (is_of_the_host(function) && used_.contains(tokens_.text(function.name)) &&
                !free_[tokens_.text(function.name)].is_for_the_device(function)) {
                result_.marks.push_back(tokens_.token(after_template(function.begin)).begin);
            }
        }
        return std::move(result_);
    }

  private:
    struct Free {  // functions of one name that are not members
        int host = 0, device = 0, kernels = 0;
        bool is_for_the_device(const Function& function) const { return !function.is_member && device + kernels > 0; }
    };

    bool is(std::size_t i, std::string_view word) const { return tokens_.is(i, word); }

    // The functions of which nvcc makes device code: kernels, what must be there for other files, and whatever has a name
    // that occurs in one of these.
    std::vector<Function> of_the_device() const {
        std::vector<Function> waiting, made;
        for (const Function& function : found_.functions) {
            if (function.open != 0 && function.is_for_the_device()) {
                (function.is_kernel || function.is_emitted ? made : waiting).push_back(function);
            }
        }
        Names names;
        for (std::size_t next = 0; next < made.size(); next++) {
            for (std::size_t i = made[next].open; i < made[next].close; i++) {
                if (tokens_.token(i).kind == TokenKind::identifier) {
                    names.insert(tokens_.text(i));
                }
            }
            const auto called = std::stable_partition(waiting.begin(), waiting.end(), [&](const Function& function) {
                return !names.contains(tokens_.text(function.name));
            });
            made.insert(made.end(), called, waiting.end());
            waiting.erase(called, waiting.end());
        }
        std::sort(made.begin(), made.end(), [](const Function& a, const Function& b) { return a.open < b.open; });
        return made;
    }

    // A member that is defined outside its class has CUDA's words inside. A program may declare the C library's functions
    // again that kernels have.
    bool is_of_the_host(const Function& function) const {
        static const Names kOfTheDeviceToo = {"printf", "malloc", "free", "memcpy", "memmove", "memset"};
        return !kOfTheDeviceToo.contains(tokens_.text(function.name)) && !function.is_for_the_device() &&
               !function.is_defaulted && !is(function.name - 1, "::") && !is(function.name, "main") &&
               !(relaxed_ && function.is_constexpr);
    }

    // Behind template <…>, [[…]] and extern "C".
    std::size_t after_template(std::size_t i) const {
        for (;;) {
            if (is(i, "template") && is(i + 1, "<")) {
                i = tokens_.match_angle(i + 1) + 1;
            } else if (is(i, "[") && is(i + 1, "[")) {
                i = tokens_.match(i) + 1;
            } else if (is(i, "extern") && tokens_.token(i + 1).kind == TokenKind::text) {
                i += 2;
            } else {
                return i;
            }
        }
    }

    std::string caller(const Function& function) const {
        const char* kind = function.is_kernel ? "__global__" : function.is_host ? "__host__ __device__" : "__device__";
        return fmt::format("a {} function(\"{}\")", kind, tokens_.text(function.name));
    }

    // Returns true if token i is part of a constant expression, or of one that is not evaluated. `begin`: of the body.
    bool is_constant(std::size_t begin, std::size_t i) const {
        static const Names kConstant = {"constexpr", "static_assert", "case",    "alignas",
                                        "decltype",  "sizeof",        "noexcept"};
        const std::size_t statement = std::max(begin, tokens_.statement_begin(i));
        if (tokens_.mentions(statement, i, kConstant)) {
            return true;
        }
        int depth = 0;
        for (std::size_t j = i; j-- > statement;) {
            depth += Navigation::closes(tokens_.text(j)) ? 1 : Navigation::opens(tokens_.text(j)) ? -1 : 0;
            if (is(j, "[") && depth < 0) {
                return tokens_.is_name(j - 1) &&
                       (tokens_.is_name(j - 2) || ((is(j - 2, "*") || is(j - 2, "&")) && j < statement + 4));
            }
            if (is(j, "<") && depth == 0 && tokens_.is_name(j - 1)) {
                const std::size_t close = tokens_.match_angle_if_any(j);
                if (close > i && close < tokens_.size()) {
                    return true;
                }
            }
        }
        return false;
    }

    // Returns true if [begin, end) declares a variable with token i's name, or a parameter between its brackets does.
    bool declares(const Function& function, std::string_view name) const {
        for (std::size_t i = function.name + 1; i < function.close; i++) {
            if (!is(i, name)) {
                continue;
            }
            const bool ends = is(i + 1, "=") || is(i + 1, ";") || is(i + 1, ",") || is(i + 1, ")") || is(i + 1, "[") ||
                              is(i + 1, "{") || is(i + 1, ":");
            const bool behind_type = tokens_.is_name(i - 1) && !is(i - 1, "case") && !is(i - 1, "typename");
            const std::size_t begin = tokens_.statement_begin(i);
            const bool behind_pointer = (is(i - 1, "*") || is(i - 1, "&") || is(i - 1, ">")) &&
                                        (i < function.open || (tokens_.is_name(begin) && begin + 4 > i));
            if (ends && (behind_type || behind_pointer)) {
                return true;
            }
        }
        return false;
    }

    void read(const Function& function) {
        const bool of_both = function.is_host && !function.is_kernel;
        for (std::size_t i = function.open + 1; i < function.close; i++) {
            if (tokens_.token(i).kind != TokenKind::identifier) {
                continue;
            }
            const std::string_view name = tokens_.text(i);
            const bool of_an_object = is(i - 1, ".") || is(i - 1, "->");
            if (const auto host = of_the_host_.find(name);
                host != of_the_host_.end() && !(host->second && is_constant(function.open + 1, i))) {
                used_.insert(name);
                result_.uses.push_back({source_.place(tokens_.token(i).begin), std::string(name), caller(function),
                                        host->second, !of_both});
            }
            if (arrays_.contains(name) && !of_an_object && !is(i - 1, "::") && !is(i + 1, "(") &&
                !is_constant(function.open + 1, i) && !declares(function, name)) {
                throw source_.error(tokens_.token(i).begin,
                                    fmt::format("identifier \"{}\" is undefined in device code: it is an array of the "
                                                "host; __constant__ makes it the device's",
                                                name));
            }
            if (!of_both && !relaxed_ && !of_an_object && is(i - 1, "::") && is(i - 2, "std") && !is(i - 3, "::")) {
                standard(function, i);
            }
        }
    }

    // Throws at std::max(…) and its like; token i is the name.
    void standard(const Function& function, std::size_t i) const {
        std::size_t last = i;
        if (is(i, "numeric_limits") && is(i + 1, "<")) {
            last = tokens_.match_angle(i + 1) + 2;
            if (!is(last - 1, "::") || !is(last + 1, "(")) {
                return;
            }
        } else {
            const std::size_t behind = is(i + 1, "<") ? tokens_.match_angle(i + 1) + 1 : i + 1;
            if (!kStandard.contains(tokens_.text(i)) || !is(behind, "(")) {
                return;
            }
        }
        if (!is_constant(function.open + 1, i)) {
            throw source_.error(
                tokens_.token(i).begin,
                fmt::format(
                    "calling a constexpr __host__ function(\"{}\") from {} is not allowed. The experimental flag "
                    "'--expt-relaxed-constexpr' can be used to allow this.",
                    tokens_.text(last), caller(function)));
        }
    }

    // Returns true if a variable somewhere in the file has the name: a pointer to a kernel may be launched.
    bool is_a_variable(std::string_view name) const {
        for (std::size_t i = 1; i < tokens_.size(); i++) {
            if (is(i, name) && ((tokens_.is_name(i - 1) && !is(i + 1, "(") && !is(i + 1, "<")) ||
                                ((is(i - 1, "*") || is(i - 1, "&")) && !is(i + 1, "<") && !is(i + 1, "(")))) {
                return true;
            }
        }
        return false;
    }

    void launches() {
        for (std::size_t i = 1; i < tokens_.size(); i++) {
            if (!tokens_.angles(i, "<")) {
                continue;
            }
            const std::size_t name = is(i - 1, ">") ? tokens_.match_angle_back(i - 1) - 1 : i - 1;
            const bool qualified = is(name - 1, "::") && !namespaces_.contains(tokens_.text(name - 2));
            const auto functions = free_.find(tokens_.text(name));
            i += 2;
            if (functions == free_.end() || functions->second.kernels > 0 || qualified || is(name - 1, ".") ||
                is(name - 1, "->") || is_a_variable(tokens_.text(name))) {
                continue;
            }
            throw source_.error(tokens_.token(name).begin,
                                fmt::format("a {} function call cannot be configured: {} is not a kernel",
                                            functions->second.device > 0 ? "__device__" : "host", tokens_.text(name)));
        }
    }

    const Source& source_;
    const Navigation tokens_;
    const Declarations found_;
    const bool relaxed_;
    Names namespaces_, arrays_, used_;
    std::map<std::string_view, Free> free_;
    std::map<std::string_view, bool> of_the_host_;  // true if all functions of the name are constexpr
    HostUses result_;
};

}  // namespace

HostUses find_host_uses(const Source& source, bool relaxed) {
    HostUses all;
    for (const TokenRun& run : source.runs()) {
        if (!run.is_macro) {
            HostUses found = Finder(source, run, relaxed).run();
            all.marks.insert(all.marks.end(), found.marks.begin(), found.marks.end());
            all.uses.insert(all.uses.end(), found.uses.begin(), found.uses.end());
        }
    }
    return all;
}

}  // namespace simt
