// SPDX-License-Identifier: MIT
#include "checker/worker/messages.h"

#include <cstring>

namespace checker {

void put_findings(Reply& reply, const std::vector<Finding>& findings) {
    std::vector<Finding> some;
    for (const Finding& finding : findings) {
        some.push_back(finding);
        const std::string json = findings_to_json(some);
        if (json.size() >= sizeof reply.findings) {
            return;
        }
        std::memcpy(reply.findings, json.c_str(), json.size() + 1);
    }
}

}  // namespace checker
