// SPDX-License-Identifier: MIT
//
// build/tools/lessons [FOLDER]: what lesson.toml says of every lesson of the course in FOLDER, as JSON for scripts. Needs no
// check program; what only that knows (cases, bytes, FLOP) its --describe tells.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <vector>

#include "checker/base/course.h"
#include "checker/base/json.h"
#include "checker/cases/lesson_toml.h"
#include "checker/program/describe_lesson.h"

namespace {

namespace fs = std::filesystem;

// In the course's order. The ladder and the model are no lessons.
std::vector<std::string> lessons() {
    std::vector<std::string> names;
    for (const fs::directory_entry& folder : fs::directory_iterator("lessons")) {
        if (const std::string name = folder.path().filename().string(); checker::is_lesson(name)) {
            names.push_back(name);
        }
    }
    std::ranges::sort(names);
    return names;
}

}  // namespace

int main(int argc, char** argv) {
    checker::Json all = checker::Json::array();
    try {
        fs::current_path(argc > 1 ? argv[1] : ".");
        for (const std::string& name : lessons()) {
            all.push_back(
                checker::outline_of(checker::read_lesson_toml(fs::path("lessons") / name / "lesson.toml"), name));
        }
    } catch (const std::exception& e) {
        fmt::print(stderr, "lessons: {}\n", e.what());
        return 2;
    }
    fmt::print("{}\n", all.dump(1));
    return 0;
}
