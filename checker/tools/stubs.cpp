// SPDX-License-Identifier: MIT
//
// Writes lessons/NN_name/OP.cpp, OP.cu or HELPER.cuh, the stub, from the file of that name in solutions/ (markers: see stub.h).
// A lesson file that somebody has edited is left alone unless --force is given.
#include <fmt/chrono.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>

#include "checker/base/course.h"
#include "checker/base/files.h"
#include "checker/base/stub.h"

namespace {

namespace fs = std::filesystem;
using checker::Text;

std::vector<fs::path> all_solutions() {
    std::vector<fs::path> all;
    for (const auto& [lesson, files] : checker::solution_files()) {
        for (const std::string& file : files) { all.push_back(fs::path("solutions") / lesson / file); }
    }
    for (const std::string& file : checker::helper_files()) { all.push_back("solutions" / fs::path(file)); }
    return all;
}

// solutions/01_layers/gelu.cpp -> lessons/01_layers/gelu.cpp
fs::path lesson_file(const fs::path& solution) {
    return fs::path("lessons") / solution.lexically_relative("solutions");
}

// What this generator wrote last, kept so that a changed solution may replace an untouched stub.
fs::path record_of(const fs::path& lesson) {
    return fs::path("build/stubs") / lesson.lexically_relative("lessons");
}

std::string stub_of(const fs::path& solution) {
    return checker::extract(checker::read_file(solution), solution.string(), Text::stub);
}

// The stub of the committed solution, or nothing where there is none.
std::optional<std::string> committed_stub(const fs::path& solution) {
    const checker::Finished show =
        checker::run_command("git show " + checker::quoted("HEAD:" + solution.generic_string()) + " 2>/dev/null");
    if (show.status != 0) {
        return std::nullopt;
    }
    try {
        return checker::extract(show.output, solution.string(), Text::stub);
    } catch (const checker::MarkerError&) { return std::nullopt; }
}

// Whether a person has worked on the lesson file: it is not what the generator makes, made last, or made of the
// committed solution.
bool edited(const fs::path& solution, const std::string& lesson_text) {
    return lesson_text != stub_of(solution) &&
           lesson_text != checker::read_file_if_there(record_of(lesson_file(solution))) &&
           lesson_text != committed_stub(solution);
}

void write_stub(const fs::path& solution) {
    const std::string stub = stub_of(solution);
    checker::write_file(lesson_file(solution), stub);
    checker::write_file(record_of(lesson_file(solution)), stub);
}

int generate(const std::vector<fs::path>& solutions, bool force) {
    int refused = 0;
    int written = 0;
    for (const fs::path& solution : solutions) {
        const fs::path lesson = lesson_file(solution);
        const std::optional<std::string> old = checker::read_file_if_there(lesson);
        if (old == stub_of(solution)) {
            continue;
        }
        if (old && !force && edited(solution, *old)) {
            fmt::print(stderr, "{}: edited, so not replaced by the stub; FORCE=1 replaces it\n", lesson.string());
            refused++;
            continue;
        }
        write_stub(solution);
        fmt::print("{}\n", lesson.string());
        written++;
    }
    fmt::print("{} stubs written, {} as they were\n", written, static_cast<int>(solutions.size()) - written - refused);
    return refused == 0 ? 0 : 1;
}

int list_differing(const std::vector<fs::path>& solutions) {
    int drifted = 0;
    for (const fs::path& solution : solutions) {
        const fs::path lesson = lesson_file(solution);
        const std::string stub = stub_of(solution);
        const std::optional<std::string> text = checker::read_file_if_there(lesson);
        if (text == stub) {
            continue;
        }
        if (!text) {
            fmt::print("{}: missing; make stubs\n", lesson.string());
        } else {
            const auto same = std::ranges::mismatch(*text, stub).in1;
            fmt::print("{}:{}: not the stub of {}; make stubs\n", lesson.string(),
                       1 + std::count(text->begin(), same, '\n'), solution.string());
        }
        drifted++;
    }
    return drifted == 0 ? 0 : 1;
}

int reset(const std::vector<fs::path>& solutions, const fs::path& keep) {
    for (const fs::path& solution : solutions) {
        const fs::path lesson = lesson_file(solution);
        const std::string stub = stub_of(solution);
        const std::optional<std::string> old = checker::read_file_if_there(lesson);
        if (old == stub) {
            fmt::print("{} is the untouched stub already\n", lesson.string());
            continue;
        }
        if (old && edited(solution, *old)) {
            const fs::path kept = keep / lesson;
            checker::write_file(kept, *old);
            fmt::print("{} is the stub again; yours is kept in {}\n", lesson.string(), kept.string());
        } else {
            fmt::print("{} is the stub again\n", lesson.string());
        }
        write_stub(solution);
    }
    return 0;
}

// A folder name that sorts by time and is not there yet.
fs::path new_folder(const fs::path& parent) {
    const std::string name = fmt::format("{:%Y-%m-%d_%H%M%S}", fmt::localtime(std::time(nullptr)));
    fs::path folder = parent / name;
    for (int i = 2; fs::exists(folder); i++) { folder = parent / fmt::format("{}_{}", name, i); }
    return folder;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Stubs from solutions");
    bool force = false;
    bool only_check = false;
    bool restore = false;
    std::string print;
    std::vector<std::string> names;
    app.add_flag("--force", force, "replace edited lesson files too");
    app.add_flag("--check", only_check, "write nothing; list the stubs that differ");
    app.add_flag("--reset", restore, "keep the learner's version under results/kept, then write the stub");
    app.add_option("--print", print, "write nothing; print the `stub` or the `solution` of the one file given")
        ->check(CLI::IsMember({"stub", "solution"}));
    app.add_option("solutions", names, "solution files; none means all");
    CLI11_PARSE(app, argc, argv);
    try {
        std::vector<fs::path> solutions(names.begin(), names.end());
        if (solutions.empty()) {
            solutions = all_solutions();
        }
        if (!print.empty()) {
            const fs::path& file = solutions.front();
            fmt::print("{}", checker::extract(checker::read_file(file), file.string(),
                                              print == "stub" ? Text::stub : Text::solution));
            return 0;
        }
        if (only_check) {
            return list_differing(solutions);
        }
        return restore ? reset(solutions, new_folder("results/kept")) : generate(solutions, force);
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 2;
    }
}
