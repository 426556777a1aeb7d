// SPDX-License-Identifier: MIT
#include "checker/cases/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "checker/base/file_error.h"

namespace checker {

Library::Library(const std::filesystem::path& file) {
    // Without a slash dlopen would search the system's library path.
    const std::filesystem::path path = std::filesystem::absolute(file);
    if (!std::filesystem::exists(path)) {
        throw FileError(fmt::format("{} is missing; 'make check-lessonNN' builds it", file.string()));
    }
    handle_.reset(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
    if (!handle_) {
        throw FileError(fmt::format("{} cannot be loaded: {}", file.string(), dlerror()));
    }
    table_ = dlsym(handle_.get(), "op_table");
    if (table_ == nullptr) {
        throw FileError(fmt::format("{} exports no op_table; 'make clean' and build again", file.string()));
    }
}

void Library::Close::operator()(void* handle) const {
    dlclose(handle);
}

}  // namespace checker
