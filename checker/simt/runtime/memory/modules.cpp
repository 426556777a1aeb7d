// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/memory/modules.h"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string_view>

#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/base/hot.h"

namespace simt {
namespace {

std::string demangled(const std::string& linkage_name) {
    if (!linkage_name.starts_with("_Z")) {
        return linkage_name;  // a variable `a` is no signed char, whose mangled name that is
    }
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> name(
        abi::__cxa_demangle(linkage_name.c_str(), nullptr, nullptr, &status), std::free);
    return status == 0 ? name.get() : linkage_name;
}

// A file that is mapped for reading while this lives; empty if that is not possible.
class MappedFile {
  public:
    explicit MappedFile(const std::string& path) {
        const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat status = {};
        if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0) {
            void* memory = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
            if (memory != MAP_FAILED) {
                begin_ = static_cast<const char*>(memory);
                bytes_ = static_cast<std::size_t>(status.st_size);
            }
        }
        if (file >= 0) {
            ::close(file);
        }
    }
    ~MappedFile() {
        if (begin_ != nullptr) {
            munmap(const_cast<char*>(begin_), bytes_);
        }
    }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    // `count` objects at an offset; null if the file ends earlier.
    template <class T>
    const T* at(std::size_t offset, std::size_t count = 1) const {
        return offset <= bytes_ && count <= (bytes_ - offset) / sizeof(T) ? reinterpret_cast<const T*>(begin_ + offset)
                                                                          : nullptr;
    }

  private:
    const char* begin_ = nullptr;
    std::size_t bytes_ = 0;
};

Section section_named(std::string_view name) {
    return name == "simt_device"     ? Section::device
           : name == "simt_constant" ? Section::constant
           : name == "simt_managed"  ? Section::managed
                                     : Section::none;
}

void note_device_range(Module& module, const Module::Range& range) {
    module.device_sections.push_back(range);
    if (range.section != Section::managed) {
        hot.variables_begin = std::min(hot.variables_begin, range.begin);
        hot.variables_end = std::max(hot.variables_end, range.end);
    }
}

// Finds inline variables and templates by their scope (qualifiers.h).
void note_scoped_variables(Module& module) {
    for (const Symbol& symbol : module.variables) {
        const auto in = [&](const char* scope) { return symbol.linkage_name.find(scope) != std::string::npos; };
        const std::string& name = symbol.linkage_name;  // _ZZ: of a static variable in a function
        const Section kind = !name.starts_with("_ZN") && !name.starts_with("_ZZ") ? Section::none
                             : in("simt_device_variable")                         ? Section::device
                             : in("simt_constant_variable")                       ? Section::constant
                             : in("simt_managed_variable")                        ? Section::managed
                                                                                  : Section::none;
        if (kind != Section::none) {
            note_device_range(module, {symbol.begin, symbol.begin + symbol.bytes, kind});
        }
    }
}

// Variables that several files share count as one file's. Inline ones and templates do not count: files may have theirs.
void count_constants(Module& module) {
    std::map<int, std::size_t> bytes;
    for (const Symbol& symbol : module.variables) {
        if (!symbol.is_guard() && module.section_of(symbol.begin) == Section::constant &&
            symbol.linkage_name.find("simt_constant_variable") == std::string::npos) {
            bytes[symbol.file] += symbol.bytes;
        }
    }
    for (const auto& [file, its] : bytes) { module.constant_bytes = std::max(module.constant_bytes, its); }
}

void read_symbols(Module& module, std::uintptr_t base) {
    const MappedFile file(module.path);
    const auto* header = file.at<ElfW(Ehdr)>(0);
    if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) {
        return;
    }
    const auto* sections = file.at<ElfW(Shdr)>(header->e_shoff, header->e_shnum);
    if (sections == nullptr || header->e_shstrndx >= header->e_shnum) {
        return;
    }
    const std::size_t names = sections[header->e_shstrndx].sh_offset;
    for (std::size_t s = 0; s < header->e_shnum; s++) {
        const ElfW(Shdr)& section = sections[s];
        const char* name = file.at<char>(names + section.sh_name);
        if (const Section kind = name == nullptr ? Section::none : section_named(name); kind != Section::none) {
            const std::uintptr_t begin = base + section.sh_addr;
            note_device_range(module, {begin, begin + section.sh_size, kind});
        }
        if (name != nullptr && std::string_view(name) == "simt_shared_use") {
            module.shared_uses = {reinterpret_cast<const SharedUse*>(base + section.sh_addr),
                                  section.sh_size / sizeof(SharedUse)};
        }
        if (name != nullptr && std::string_view(name) == "simt_kernel") {
            module.kernels = {reinterpret_cast<const std::int64_t*>(base + section.sh_addr),
                              section.sh_size / sizeof(std::int64_t)};
        }
        if (section.sh_type != SHT_SYMTAB || section.sh_link >= header->e_shnum) {
            continue;
        }
        const auto* symbols = file.at<ElfW(Sym)>(section.sh_offset, section.sh_size / sizeof(ElfW(Sym)));
        int source_file = 0;  // its name comes before its own symbols
        for (std::size_t i = 0; symbols != nullptr && i < section.sh_size / sizeof(ElfW(Sym)); i++) {
            const ElfW(Sym)& symbol = symbols[i];
            const char* text = file.at<char>(sections[section.sh_link].sh_offset + symbol.st_name);
            const unsigned type = ELF64_ST_TYPE(symbol.st_info);
            source_file += type == STT_FILE ? 1 : 0;
            const int of = ELF64_ST_BIND(symbol.st_info) == STB_LOCAL ? source_file : 0;
            if (text == nullptr || symbol.st_shndx == SHN_UNDEF || symbol.st_size == 0) {
                continue;
            }
            if (type == STT_TLS) {
                module.thread_locals.push_back({symbol.st_value, symbol.st_size, text, of});
            } else if (type == STT_FUNC) {
                module.functions.push_back({base + symbol.st_value, symbol.st_size, text, of});
            } else if (type == STT_OBJECT) {
                module.variables.push_back({base + symbol.st_value, symbol.st_size, text, of});
            }
        }
    }
    for (auto* list : {&module.thread_locals, &module.functions, &module.variables}) {
        std::sort(list->begin(), list->end(), [](const Symbol& a, const Symbol& b) { return a.begin < b.begin; });
    }
    note_scoped_variables(module);
    count_constants(module);
}

const Symbol* symbol_at(const std::vector<Symbol>& symbols, std::uintptr_t address) {
    auto after = std::upper_bound(symbols.begin(), symbols.end(), address,
                                  [](std::uintptr_t value, const Symbol& symbol) { return value < symbol.begin; });
    if (after == symbols.begin()) {
        return nullptr;
    }
    --after;
    return address - after->begin < after->bytes ? &*after : nullptr;
}

// Whether the variable is declared in the function: _ZN1a6kernelEPf has _ZZN1a6kernelEPfE4tile, and in a lambda of it
// _ZZZN1a6kernelEPfENK…E4tile. Functions of one name in two source files have their own variables.
bool lies_in(const Symbol& variable, const Symbol& function) {
    const std::string& name = function.linkage_name;
    const std::string scope = name.starts_with("_Z") ? name.substr(2) : std::to_string(name.size()) + name;
    const std::string_view inner = variable.linkage_name;
    const std::size_t begin = inner.find_first_not_of('Z', 1);
    return inner.starts_with("_ZZ") && begin != std::string_view::npos &&
           inner.substr(begin).starts_with(scope + 'E') && (function.file == 0 || variable.file == function.file);
}

int read_module(dl_phdr_info* info, std::size_t, void* data) {
    auto& modules = *static_cast<std::vector<std::unique_ptr<Module>>*>(data);
    auto module = std::make_unique<Module>();
    module->path = info->dlpi_name == nullptr || *info->dlpi_name == '\0' ? "/proc/self/exe" : info->dlpi_name;
    module->begin = UINTPTR_MAX;
    module->thread_local_module = info->dlpi_tls_modid;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr)& segment = info->dlpi_phdr[i];
        const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
        if (segment.p_type == PT_LOAD) {
            module->begin = std::min(module->begin, begin);
            module->end = std::max(module->end, begin + segment.p_memsz);
            if ((segment.p_flags & PF_W) == 0) {
                module->read_only.emplace_back(begin, begin + segment.p_memsz);
            }
        } else if (segment.p_type == PT_GNU_RELRO) {
            module->read_only.emplace_back(begin, begin + segment.p_memsz);
        } else if (segment.p_type == PT_TLS) {
            module->thread_local_bytes = segment.p_memsz;
        }
    }
    const bool known = std::any_of(modules.begin(), modules.end(), [&](const auto& other) {
        return other->begin == module->begin && other->path == module->path;
    });
    if (!known && module->begin < module->end) {
        read_symbols(*module, info->dlpi_addr);
        modules.push_back(std::move(module));
    }
    return 0;
}

}  // namespace

std::string Symbol::name() const {
    const std::string full = demangled(linkage_name);
    int depth = 0;  // a scope's own :: lies in its brackets: kernel(float*)::{lambda()#1}::operator()() const::tile
    for (std::size_t i = full.size(); i-- > 1;) {
        depth += full[i] == ')' || full[i] == '>' || full[i] == '}'   ? 1
                 : full[i] == '(' || full[i] == '<' || full[i] == '{' ? -1
                                                                      : 0;
        if (depth == 0 && full[i] == ':' && full[i - 1] == ':') {
            return full.substr(i + 1);
        }
    }
    return full;
}

bool Symbol::is_guard() const {
    return linkage_name.find("simt_guard_") != std::string::npos;
}

bool Symbol::is_flag() const {
    return linkage_name.starts_with("_ZGV");
}

const Symbol* Module::function_at(std::uintptr_t address) const {
    return symbol_at(functions, address);
}
const Symbol* Module::variable_at(std::uintptr_t address) const {
    return symbol_at(variables, address);
}

Section Module::section_of(std::uintptr_t address) const {
    for (const Range& range : device_sections) {
        if (address >= range.begin && address < range.end) {
            return range.section;
        }
    }
    return Section::none;
}

const Extents* Module::extents_of(const Symbol& variable) const {
    // The extents of ..E8inp_tile are ..E21simt_extents_inp_tile; a function's second variable of that name ends in
    // _0. Those of a variable that is no function's are known to their file only, which an L says.
    const std::string name = variable.name(), extents = "simt_extents_" + name;
    const std::string tail = std::to_string(name.size()) + name;
    std::string wanted = variable.linkage_name == name ? "_Z" + tail : variable.linkage_name;
    const std::size_t at = wanted.rfind(tail);
    if (at == std::string::npos) {
        return nullptr;
    }
    const bool is_functions = wanted.starts_with("_ZZ"), has_l = at > 0 && wanted[at - 1] == 'L';
    wanted.replace(at, tail.size(), (is_functions || has_l ? "" : "L") + std::to_string(extents.size()) + extents);
    const auto found = std::find_if(variables.begin(), variables.end(), [&](const Symbol& symbol) {
        return symbol.linkage_name == wanted && (variable.file == 0 || symbol.file == variable.file);
    });
    return found == variables.end() || found->bytes != sizeof(Extents) ? nullptr
                                                                       : reinterpret_cast<const Extents*>(found->begin);
}

bool Module::is_kernel(const Symbol& function) const {
    return std::any_of(kernels.begin(), kernels.end(), [&](const std::int64_t& note) {
        const std::uintptr_t place = reinterpret_cast<std::uintptr_t>(&note) + static_cast<std::uintptr_t>(note);
        return place - function.begin < function.bytes;
    });
}

const Symbol* Module::device_variable_before(std::uintptr_t address) const {
    constexpr std::uintptr_t kNear = 128;  // as wide as a guard band
    const Symbol* before = nullptr;
    for (const Symbol& symbol : variables) {
        if (symbol.begin <= address && !symbol.is_guard() && section_of(symbol.begin) != Section::none) {
            before = &symbol;
        }
    }
    return before != nullptr && address - (before->begin + before->bytes) <= kNear ? before : nullptr;
}

const Module* module_of(const void* address) {
    static auto& modules = *new std::vector<std::unique_ptr<Module>>;  // read until the process ends
    const auto value = reinterpret_cast<std::uintptr_t>(address);
    for (int attempt = 0; attempt < 2; attempt++) {
        for (const auto& module : modules) {
            if (value >= module->begin && value < module->end) {
                return module.get();
            }
        }
        if (attempt == 0) {
            const InRuntime
                in_runtime;  // the linker may have taken the program's own std::string for reading the names
            dl_iterate_phdr(read_module, &modules);
        }
    }
    return nullptr;
}

std::uintptr_t thread_local_begin(const Module& module) {
    struct Search {
        std::size_t number;
        std::uintptr_t begin;
    } search{module.thread_local_module, 0};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            auto& wanted = *static_cast<Search*>(data);
            if (info->dlpi_tls_modid == wanted.number && wanted.number != 0) {
                wanted.begin = reinterpret_cast<std::uintptr_t>(info->dlpi_tls_data);
                return 1;
            }
            return 0;
        },
        &search);
    return search.begin;
}

std::size_t static_shared_bytes(const Module& module, const Symbol& kernel, const void* code) {
    std::size_t bytes = 0;
    for (const Symbol& symbol : module.thread_locals) {
        if (!symbol.is_guard() && !symbol.is_flag() && lies_in(symbol, kernel)) {
            bytes += symbol.bytes;
        }
    }
    const Symbol* function = module.function_at(reinterpret_cast<std::uintptr_t>(code));
    std::set<std::uint64_t> counted;  // one function may have been inlined more than once
    for (const SharedUse& use : module.shared_uses) {
        const std::uintptr_t user = reinterpret_cast<std::uintptr_t>(&use.code) + static_cast<std::uintptr_t>(use.code);
        if (function != nullptr && user - function->begin < function->bytes && counted.insert(use.variable).second) {
            bytes += use.bytes;
        }
    }
    return bytes;
}

}  // namespace simt
