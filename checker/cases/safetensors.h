// SPDX-License-Identifier: MIT
//
// Reader for safetensors: 8 bytes of header length (little-endian), a JSON header that names each tensor with dtype,
// shape and byte range, then the bytes. The whole header is validated on opening, so that a view never leaves the file.
// Memory beside the mapped file is a small multiple of the header, whatever the header claims. To look at a mapping beyond
// the end of a file that has become shorter is a SIGBUS: TensorView::read() throws instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checker/base/file_error.h"
#include "checker/base/files.h"

namespace checker {

enum class DType { f64, f32, f16, bf16, f8_e4m3, f8_e5m2, i64, i32, i16, i8, u64, u32, u16, u8, boolean };

std::string_view to_string(DType dtype);  // as in the file: "F32"
std::size_t bytes_per_element(DType dtype);

class OpenFile;

// One tensor: a view into its SafeTensors, which must outlive it. Dense, row-major, little-endian.
struct TensorView {
    std::string name;
    DType dtype = DType::f32;
    std::vector<long> shape;  // empty: one element
    std::span<const std::byte> bytes;
    std::shared_ptr<const std::string> file;  // for messages
    std::shared_ptr<const OpenFile> source;   // null for from_memory
    std::uint64_t offset = 0;                 // in source

    long elements() const;

    // Copies bytes `first` to first + out.size(). Throws FileError if the file no longer has them.
    void read(std::span<std::byte> out, std::size_t first) const;

    // The elements themselves. They throw FileError for another dtype, and where the bytes are not aligned for the type:
    // the format allows that (the published GPT-2 files start their data at an odd byte), so `bytes` always works.
    std::span<const float> f32() const;
    std::span<const std::int32_t> i32() const;
};

class SafeTensors {
  public:
    // Both validate everything and throw FileError. `name` stands for the file in messages.
    static SafeTensors open(const std::filesystem::path& path);
    static SafeTensors from_memory(std::span<const std::byte> bytes, std::string name);

    const TensorView& at(std::string_view name) const;  // throws FileError that lists the nearest names
    const TensorView* find(std::string_view name) const;
    std::span<const TensorView> tensors() const { return tensors_; }  // in the order of the header
    const std::map<std::string, std::string>& metadata() const { return metadata_; }
    const std::string& file() const { return *file_; }
    void check_unchanged() const;  // throws FileError if the file was written to since open()

  private:
    SafeTensors() = default;
    void parse(std::span<const std::byte> bytes, std::string_view head);

    MappedBytes mapping_;  // null for from_memory
    std::shared_ptr<const std::string> file_;
    std::shared_ptr<const OpenFile> source_;
    std::vector<TensorView> tensors_;
    std::map<std::string, std::size_t, std::less<>> index_;
    std::map<std::string, std::string> metadata_;
};

// Returns true for what git leaves in the place of a large file that it has not fetched.
bool is_lfs_pointer(std::string_view file);
constexpr std::string_view kLfsPointer = "is a Git LFS pointer, not the file itself; run 'git lfs pull' in its folder";

// Text from a file, fit for a message: in double quotes, at most 64 characters, nothing a terminal would interpret.
std::string in_quotes(std::string_view text);

}  // namespace checker
