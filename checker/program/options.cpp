// SPDX-License-Identifier: MIT
#include "checker/program/options.h"

#include <CLI/CLI.hpp>

namespace checker {

std::string Options::only_case() const {
    const std::size_t slash = only.find('/');
    return slash == std::string::npos ? "" : only.substr(slash + 1);
}

bool Options::wants(const std::string& op, const std::string& case_name) const {
    return wants(op) && (only_case().empty() || only_case() == case_name);
}

std::vector<std::string> Options::for_worker() const {
    return {"--lesson-dir",    lesson_dir.string(),    "--impl-dir", impl_dir.string(),
            "--reference-dir", reference_dir.string(), "--cases",    cases.string()};
}

std::filesystem::path Options::source(const std::string& lesson, const std::string& op) const {
    namespace fs = std::filesystem;
    const bool known = subject == "lessons" || subject == "solutions";
    const fs::path kernel = (known ? fs::path(subject) / lesson : fs::path(subject)) / (op + ".cu");
    const fs::path host = fs::path(kernel).replace_extension(".cpp");
    if (!known || fs::exists(kernel) || fs::exists(host)) {
        return fs::exists(kernel) ? kernel : host;
    }
    std::string newest;
    std::error_code error;  // no folder: no file of the lesson has another to stand behind it
    for (const auto& entry : fs::directory_iterator("solutions", error)) {
        const std::string name = entry.path().filename().string();
        for (const char* extension : {".cu", ".cpp"}) {
            const bool has_it = name <= lesson && fs::exists(entry.path() / (op + extension));
            newest = has_it && name + "/" + op + extension > newest ? name + "/" + op + extension : newest;
        }
    }
    return newest.empty() ? host : fs::path(subject) / newest;
}

Parsed parse_options(int argc, const char* const* argv, const std::string& lesson) {
    constexpr int kBadOption = 2;
    Parsed parsed;
    Options& options = parsed.options;
    CLI::App app{"The check of lesson " + lesson + ". GoogleTest's options (--gtest_filter=...) work too."};
    app.add_option("--subject", options.subject, "whose files: lessons, solutions, or a folder of sources");
    app.add_option("--lesson-dir", options.lesson_dir, "the folder with lesson.toml");
    app.add_option("--impl-dir", options.impl_dir, "the folder with OP.so of the subject");
    app.add_option("--reference-dir", options.reference_dir, "the folder with OP.so of the solution");
    app.add_option("--log-dir", options.log_dir, "the folder with OP.log, which has what the compiler said");
    app.add_option("--cases", options.cases, "the folder with cases/");
    app.add_option("--only", options.only, "OP, OP/CASE or OP/timing");
    app.add_flag("--no-timing", options.no_timing, "right or wrong only");
    app.add_flag("--no-large", options.no_large, "no case whose output only the device has room for");
    app.add_flag("--timing-only", options.timing_only, "the times only");
    app.add_flag("--verbose", options.verbose, "every case and every finding");
    app.add_option("--roof", options.roof, "this machine's roof; --timing-only measures it where it is missing");
    app.add_option("--device", options.device, "what the verdict calls the device: the card's name");
    app.add_flag("!--more", options.last, "another device's check follows: a pass does not say what comes next");
    app.add_option("--json", options.json, "write the verdict to this file");
    app.add_option("--results", options.results, "append one JSON line an op to this file");
    app.add_flag("--one-thread", options.one_thread, "no check: look at the thread of SIMT_STOP or SIMT_TRACE");
    app.add_flag("--traffic", options.traffic, "no check: what the kernels ask of memory, by line; --json writes it");
    app.add_flag("--describe", options.describe,
                 "no check: what the lesson is, as JSON: ops, shapes, targets, counters");
    app.add_flag("--worker", options.worker, "(the check starts itself with this)")->group("");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        parsed.exit_status = app.exit(e) == 0 ? 0 : kBadOption;
        return parsed;
    }
    const std::filesystem::path impl = "build/impl";
    if (options.lesson_dir.empty()) {
        options.lesson_dir = std::filesystem::path("lessons") / lesson;
    }
    if (options.impl_dir.empty()) {
        options.impl_dir = impl / options.subject / lesson;
    }
    if (options.reference_dir.empty()) {
        options.reference_dir = impl / "solutions" / lesson;
    }
    if (options.log_dir.empty()) {
        options.log_dir = std::filesystem::path("build/ops") / options.subject / lesson;
    }
    return parsed;
}

}  // namespace checker
