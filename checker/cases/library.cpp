// SPDX-License-Identifier: MIT
#include "checker/cases/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "checker/base/file_error.h"
#include "checker/base/files.h"
#include "checker/base/text.h"

namespace checker {
namespace {

// The symbols of the functions that a shared object defines for others. The linker has read the file before.
std::vector<std::string> exported_functions(const std::string& object) {
    const auto at = [&]<class T>(T, std::size_t offset) {
        T value;
        std::memcpy(&value, object.substr(offset, sizeof(T)).data(), sizeof(T));
        return value;
    };
    const auto header = at(Elf64_Ehdr{}, 0);
    const auto section = [&](std::size_t i) { return at(Elf64_Shdr{}, header.e_shoff + i * header.e_shentsize); };
    std::vector<std::string> symbols;
    for (std::size_t i = 0; i < header.e_shnum; i++) {
        const Elf64_Shdr table = section(i);
        if (table.sh_type != SHT_DYNSYM) {
            continue;
        }
        const Elf64_Shdr names = section(table.sh_link);
        for (std::size_t offset = 0; offset < table.sh_size; offset += sizeof(Elf64_Sym)) {
            const auto symbol = at(Elf64_Sym{}, table.sh_offset + offset);
            if (symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC) {
                symbols.emplace_back(object.data() + names.sh_offset + symbol.st_name);
            }
        }
    }
    return symbols;
}

}  // namespace

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
    for (const std::string& symbol : exported_functions(read_file(path))) {
        functions_[demangled(symbol)] = dlsym(handle_.get(), symbol.c_str());
    }
}

// The type's name has the function's declaration in it: "checker::Library::Named<&(gelu(float*, int, Context&))>".
std::string Library::declaration(const std::type_info& named) {
    const std::string type = demangled(named.name());
    const std::size_t begin = type.find("<&(") + 3;
    return type.substr(begin, type.rfind(")>") - begin);
}

void* Library::address(const std::string& declaration) const {
    const auto found = functions_.find(declaration);
    return found == functions_.end() ? nullptr : found->second;
}

void Library::Close::operator()(void* handle) const {
    dlclose(handle);
}

}  // namespace checker
