// SPDX-License-Identifier: MIT
#include "checker/base/course.h"

#include <algorithm>
#include <set>

namespace checker {

namespace fs = std::filesystem;

bool is_lesson(std::string_view folder) {
    const auto is_digit = [&](std::size_t i) { return '0' <= folder[i] && folder[i] <= '9'; };
    return folder.size() > 3 && is_digit(0) && is_digit(1) && folder[2] == '_';
}

std::string lesson_number(const std::string& lesson) {
    return lesson.substr(0, lesson.find('_'));
}

std::string lesson_title(const std::string& lesson) {
    return lesson.substr(lesson.find('_') + 1);
}

std::map<std::string, std::vector<std::string>> solution_files() {
    std::map<std::string, std::vector<std::string>> files;
    std::error_code error;  // what is no folder has no files
    for (const auto& lesson : fs::directory_iterator("solutions", error)) {
        for (const auto& entry : fs::directory_iterator(lesson.path(), error)) {
            if (entry.path().extension() == ".cpp" || entry.path().extension() == ".cu") {
                files[lesson.path().filename().string()].push_back(entry.path().filename().string());
            }
        }
    }
    for (auto& [lesson, names] : files) { std::ranges::sort(names); }
    return files;
}

std::vector<std::string> solution_files(const std::string& lesson) {
    return solution_files()[lesson];
}

bool has_kernels(const std::string& lesson) {
    return std::ranges::any_of(solution_files(lesson), [](const std::string& file) { return file.ends_with(".cu"); });
}

bool is_step(const std::string& lesson) {
    const std::string shared = "forward", extension = has_kernels(lesson) ? ".cu" : ".cpp";
    const auto lessons = solution_files();
    std::set<std::string> all, served{shared};
    for (const auto& [name, files] : lessons) {
        const bool has_model = all.contains(shared);
        for (const fs::path file : files) {
            if (!has_model) {
                all.insert(file.stem());
            }
            if (name <= lesson && file.extension() == extension) {
                served.insert(file.stem());
            }
        }
    }
    return lessons.contains(lesson) && all.contains(shared) && std::ranges::includes(served, all);
}

fs::path newest_solution(const std::string& lesson, const std::string& op) {
    fs::path newest;
    for (const auto& [name, files] : solution_files()) {
        for (const std::string& file : files) {
            newest = name <= lesson && fs::path(file).stem() == op ? fs::path("solutions") / name / file : newest;
        }
    }
    return newest;
}

}  // namespace checker
