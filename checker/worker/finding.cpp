// SPDX-License-Identifier: MIT
#include "checker/worker/finding.h"

#include <nlohmann/json.hpp>

namespace checker {

using Json = nlohmann::ordered_json;

std::string findings_to_json(const std::vector<Finding>& findings) {
    Json result = Json::array();
    for (const Finding& finding : findings) {
        result.push_back({{"kind", finding.kind}, {"text", finding.text}, {"details", finding.details}});
    }
    return result.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<Finding> findings_from_json(const std::string& json) {
    std::vector<Finding> findings;
    for (const Json& row : Json::parse(json)) {
        findings.push_back({.kind = row.at("kind"), .text = row.at("text"), .details = row.at("details")});
    }
    return findings;
}

}  // namespace checker
