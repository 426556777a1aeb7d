// SPDX-License-Identifier: MIT
#include "checker/simt/driver/host_calls.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace simt {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(separator), text.size());
        parts.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

// "scope::name(parameters)" from a signature as g++ prints it; "" if the function has another name.
std::string_view named(std::string_view signature, std::string_view name) {
    for (std::size_t at = signature.find(name); at != std::string_view::npos; at = signature.find(name, at + 1)) {
        const std::size_t end = at + name.size();
        const bool begins = at == 0 || std::string_view(": *&").find(signature[at - 1]) != std::string_view::npos;
        const std::size_t close = signature.find(')', end);
        if (begins && end < signature.size() && (signature[end] == '(' || signature[end] == '<') &&
            close != std::string_view::npos) {
            const std::size_t before = signature.find_last_of(" *&'\x98", at);  // \x98 ends a quotation mark
            const std::size_t first = before == std::string_view::npos || before >= at ? 0 : before + 1;
            return signature.substr(first, close + 1 - first);
        }
    }
    return "";
}

}  // namespace

RefusedCalls refused_calls(std::string_view warnings, std::string_view uses) {
    RefusedCalls refused;
    std::set<std::pair<int, std::string>> said;  // by line
    for (const std::string_view line : split(warnings, '\n')) {
        constexpr std::string_view kWarning = ": warning: ";
        const std::size_t mark = line.find(" is deprecated: simt: host"), warning = line.find(kWarning);
        if (mark == std::string_view::npos || warning == std::string_view::npos) {
            continue;
        }
        // file:line:column
        const std::string_view place = line.substr(0, line.rfind(':', warning - 1));
        const std::string_view signature = line.substr(warning + kWarning.size(), mark - warning - kWarning.size());
        for (const std::string_view use : split(uses, '\n')) {
            const std::vector<std::string_view> fields = split(use, '\t');
            if (fields.size() != 5 || fields[0] != place) {
                continue;
            }
            const std::string_view function = named(signature, fields[1]);
            if (function.empty()) {
                continue;
            }
            const bool is_constexpr = fields[3].starts_with("constexpr");
            const std::string text = fmt::format(
                "{}: {}: calling a {} function(\"{}\") from {} is not allowed{}\n", place, fields[2], fields[3],
                is_constexpr ? fields[1] : function, fields[4],
                is_constexpr ? ". The experimental flag '--expt-relaxed-constexpr' can be used to allow this." : "");
            if (!(is_constexpr && fields[2] == "warning")) {
                said.emplace(std::stoi(std::string(place.substr(place.rfind(':') + 1))), text);
                refused.is_error = refused.is_error || fields[2] == "error";
            }
            break;
        }
    }
    for (const auto& [number, text] : said) { refused.text += text; }
    return refused;
}

}  // namespace simt
