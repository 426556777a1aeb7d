// SPDX-License-Identifier: MIT
#include "checker/worker/messages.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "checker/cases/lesson.h"

namespace checker {

Reply make_reply(Answer answer, std::string_view text) {
    Reply reply;
    reply.answer = answer;
    text.copy(reply.text, sizeof reply.text - 1);
    return reply;
}

Reply reply_of(const std::exception& error) {
    const bool left = dynamic_cast<const LeftChanged*>(&error) != nullptr;
    return make_reply(left ? Answer::left_changed : Answer::exception, error.what());
}

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

void put_counted(Reply& reply, const std::vector<CounterResult>& counted) {
    if (counted.size() > reply.counted.size()) {
        throw std::logic_error("a call needs more counters than a reply holds");
    }
    const auto put = [](auto& to, std::string_view text) { text.copy(to, sizeof to - 1); };
    for (const CounterResult& one : counted) {
        CountedInReply& to = reply.counted[reply.counters++];
        put(to.counter, one.counter);
        put(to.takes, one.takes);
        to.value = one.value;
        to.needed = one.needed;
        put(to.most, one.most);
    }
}

std::vector<CounterResult> counted_in(const Reply& reply) {
    std::vector<CounterResult> counted;
    for (std::uint32_t i = 0; i < reply.counters; i++) {
        const CountedInReply& from = reply.counted[i];
        counted.push_back({.counter = from.counter,
                           .takes = from.takes,
                           .value = from.value,
                           .needed = from.needed,
                           .most = from.most});
    }
    return counted;
}

}  // namespace checker
