// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/races/footprint.h"

#include <algorithm>
#include <utility>

namespace simt {
void Footprint::add(Use use, const Span& span) {
    std::vector<Span>& spans = spans_[static_cast<std::size_t>(use)];
    begin_ = std::min(begin_, span.begin);
    end_ = std::max(end_, span.end);
    if (!spans.empty() && spans.back().end == span.begin && spans.back().site == span.site) {
        spans.back().end = span.end;
    } else if (spans.size() < kMostSpans) {
        spans.push_back(span);
    }
}

void Footprint::settle() {
    for (std::vector<Span>& spans : spans_) {
        const auto before = [](const Span& a, const Span& b) { return a.begin < b.begin; };
        if (std::is_sorted(spans.begin(), spans.end(), before)) {
            continue;
        }
        std::sort(spans.begin(), spans.end(), before);
        std::vector<Span> apart;
        for (const Span& span : spans) {
            if (!apart.empty() && span.begin < apart.back().end) {
                apart.back().end = std::max(apart.back().end, span.end);
            } else {
                apart.push_back(span);
            }
        }
        spans = std::move(apart);
    }
}

bool Footprint::empty() const {
    return begin_ >= end_;
}

std::size_t Footprint::spans() const {
    std::size_t all = 0;
    for (const std::vector<Span>& spans : spans_) { all += spans.size(); }
    return all;
}

const Span* Footprint::find(Use use, std::uintptr_t begin, std::uintptr_t end) const {
    if (begin >= end_ || end <= begin_) {
        return nullptr;
    }
    const std::vector<Span>& spans = of(use);
    const auto after = std::upper_bound(spans.begin(), spans.end(), begin,
                                        [](std::uintptr_t at, const Span& s) { return at < s.end; });
    return after != spans.end() && after->begin < end ? &*after : nullptr;
}

void Footprint::for_each_conflict(Use other_use, const Span& other,
                                  const std::function<void(Use, const Span&)>& found) const {
    for (const Use use : kUses) {
        if (const Span* span = conflict(use, other_use) ? find(use, other.begin, other.end) : nullptr) {
            found(use, *span);
        }
    }
}

void for_each_conflict(const Footprint& a, const Footprint& b, const Overlap& found) {
    if (a.begin() >= b.end() || b.begin() >= a.end()) {
        return;
    }
    for (const Use first : kUses) {
        for (const Use second : kUses) {
            if (!conflict(first, second)) {
                continue;
            }
            auto one = a.of(first).begin();
            auto other = b.of(second).begin();
            while (one != a.of(first).end() && other != b.of(second).end()) {
                if (one->end <= other->begin) {
                    ++one;
                } else if (other->end <= one->begin) {
                    ++other;
                } else {
                    found(first, *one, second, *other);
                    one->end < other->end ? ++one : ++other;
                }
            }
        }
    }
}

}  // namespace simt
