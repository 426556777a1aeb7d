// SPDX-License-Identifier: MIT
//
// One implementation: a shared object, opened so that its symbols stay its own. A function of it is found by its
// declaration, name and parameters: find<gelu>() of what ops.h declares, find<accumulate<__nv_bfloat16>>() of a template
// that the object instantiates.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <typeinfo>

namespace checker {

class Library {
  public:
    // Throws FileError when the file is missing or cannot be linked, naming what is undefined.
    explicit Library(const std::filesystem::path& file);

    // Null where the object defines no function of this name and these parameters.
    template <auto function>
    decltype(function) find() const {
        static const std::string declared = declaration(typeid(Named<function>));
        return reinterpret_cast<decltype(function)>(address(declared));
    }

  private:
    template <auto function>
    struct Named {};
    static std::string declaration(const std::type_info& named);  // "gelu(float*, float const*, int, Context&)"
    void* address(const std::string& declaration) const;

    struct Close {
        void operator()(void* handle) const;
    };
    std::unique_ptr<void, Close> handle_;
    std::map<std::string, void*> functions_;  // by declaration
};

// Whether an implementation defines all of these: defines<attention, attention_scratch_bytes>.
template <auto... functions>
bool defines(const Library& library) {
    return ((library.find<functions>() != nullptr) && ...);
}

}  // namespace checker
