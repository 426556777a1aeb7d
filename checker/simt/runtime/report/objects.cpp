// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/report/objects.h"

#include <map>
#include <utility>

#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/report/findings.h"

namespace simt {
namespace {

struct Object {
    std::string what;
    const void* site;
};

std::map<const void*, Object>& objects() {
    static auto& all = *new std::map<const void*, Object>;  // never destroyed: what is left is reported at the end
    return all;
}

}  // namespace

void note_object(const void* object, std::string what, const void* site) {
    const ApiLock turn;
    objects()[object] = {std::move(what), site};
}

void forget_object(const void* object) {
    const ApiLock turn;
    objects().erase(object);
}

bool is_object(const void* object) {
    const ApiLock turn;
    return objects().contains(object);
}

void report_left_objects() {
    for (const auto& [address, object] : objects()) {
        report(Kind::leak, "", object.site, [&] { return object.what + " was never destroyed"; });
    }
}

}  // namespace simt
