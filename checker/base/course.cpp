// SPDX-License-Identifier: MIT
#include "checker/base/course.h"

#include <algorithm>
#include <optional>
#include <sstream>

#include "checker/base/files.h"

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

std::vector<std::string> helper_files() {
    std::vector<std::string> files;
    std::error_code error;
    for (const auto& lesson : fs::directory_iterator("solutions", error)) {
        for (const auto& entry : fs::directory_iterator(lesson.path(), error)) {
            if (entry.path().extension() == ".cuh") {
                files.push_back(entry.path().lexically_relative("solutions").generic_string());
            }
        }
    }
    std::ranges::sort(files);
    return files;
}

std::set<std::string> helpers_of(const fs::path& source) {
    const std::vector<std::string> all = helper_files();
    const fs::path tree = source.parent_path().parent_path();
    std::set<std::string> found;
    for (std::vector<fs::path> left{source}; !left.empty();) {
        const fs::path file = left.back();
        left.pop_back();
        std::istringstream lines(read_file_if_there(file).value_or(""));
        for (std::string line; std::getline(lines, line);) {
            const std::size_t begin = line.find('"'), end = line.rfind('"');
            if (!line.starts_with("#include") || begin >= end) {
                continue;
            }
            const std::string name = line.substr(begin + 1, end - begin - 1);
            for (const fs::path& helper : {fs::path(name), file.parent_path().filename() / name}) {
                if (std::ranges::count(all, helper.generic_string()) > 0 &&
                    found.insert(helper.generic_string()).second) {
                    left.push_back(tree / helper);
                }
            }
        }
    }
    return found;
}

std::vector<fs::path> files_of_exercise(const fs::path& file) {
    std::vector<fs::path> files{file};
    for (const std::string& helper : helpers_of(file)) { files.push_back(file.parent_path().parent_path() / helper); }
    return files;
}

std::string exercise_digest(const fs::path& file) {
    if (!fs::exists(file)) {
        return "";
    }
    std::string text;
    for (const fs::path& one : files_of_exercise(file)) { text += read_file_if_there(one).value_or(""); }
    return fnv1a64(text);
}

bool has_kernels(const std::string& lesson) {
    return std::ranges::any_of(solution_files(lesson), [](const std::string& file) { return file.ends_with(".cu"); });
}

std::string branch_of(const std::string& lesson) {
    const std::string begin = "branch_of = \"";
    std::istringstream lines(read_file_if_there(fs::path("lessons") / lesson / "lesson.toml").value_or(""));
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(begin)) {
            return line.substr(begin.size(), line.rfind('"') - begin.size());
        }
    }
    return "";
}

bool is_step(const std::string& lesson) {
    if (!branch_of(lesson).empty()) {
        return false;
    }
    const std::string shared = "forward", extension = has_kernels(lesson) ? ".cu" : ".cpp";
    const auto lessons = solution_files();
    std::set<std::string> all, served{shared};
    for (const auto& [name, files] : lessons) {
        const bool has_model = all.contains(shared);
        for (const fs::path file : files) {
            if (!has_model) {
                all.insert(file.stem());
            }
            if (name <= lesson && file.extension() == extension && branch_of(name).empty()) {
                served.insert(file.stem());
            }
        }
    }
    return lessons.contains(lesson) && all.contains(shared) && std::ranges::includes(served, all);
}

fs::path newest_solution(const std::string& lesson, const std::string& op) {
    fs::path newest;
    for (const auto& [name, files] : solution_files()) {
        if (name != lesson && !branch_of(name).empty()) {
            continue;
        }
        for (const std::string& file : files) {
            newest = name <= lesson && fs::path(file).stem() == op ? fs::path("solutions") / name / file : newest;
        }
    }
    return newest;
}

}  // namespace checker
