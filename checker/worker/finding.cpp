// SPDX-License-Identifier: MIT
#include "checker/worker/finding.h"

#include "checker/base/json.h"

namespace checker {

std::string findings_to_json(const std::vector<Finding>& findings) {
    Json result = Json::array();
    for (const Finding& finding : findings) {
        result.push_back({{"kind", finding.kind}, {"text", finding.text}, {"details", Json::array(finding.details)}});
    }
    return result.dump();
}

std::vector<Finding> findings_from_json(const std::string& json) {
    std::vector<Finding> findings;
    const Json rows = Json::parse(json);
    for (const Json& row : rows.elements()) {
        Finding& finding = findings.emplace_back();
        finding.kind = row.at("kind").text();
        finding.text = row.at("text").text();
        for (const Json& detail : row.at("details").elements()) { finding.details.push_back(detail.text()); }
    }
    return findings;
}

}  // namespace checker
