// SPDX-License-Identifier: MIT
//
// One implementation: a shared object that exports `op_table`, opened so that its symbols stay its own.
#pragma once

#include <filesystem>
#include <memory>

namespace checker {

class Library {
  public:
    // Throws FileError when the file is missing or cannot be linked, naming what is undefined.
    explicit Library(const std::filesystem::path& file);

    // The table of functions that it exports. Table must be the type that it was compiled with.
    template <class Table>
    const Table& table() const {
        return *static_cast<const Table*>(table_);
    }

  private:
    struct Close {
        void operator()(void* handle) const;
    };
    std::unique_ptr<void, Close> handle_;
    const void* table_ = nullptr;
};

}  // namespace checker
