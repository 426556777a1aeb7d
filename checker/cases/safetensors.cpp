// SPDX-License-Identifier: MIT
#include "checker/cases/safetensors.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "checker/base/json.h"
#include "checker/base/text.h"

namespace checker {

// A file that is being read, and how it was when it was opened.
class OpenFile {
  public:
    OpenFile(FileDescriptor file, const struct stat& status) : file_(std::move(file)), status_(status) {}

    std::size_t size() const { return static_cast<std::size_t>(status_.st_size); }

    void read(std::span<std::byte> out, std::uint64_t offset, const std::string& name) const {
        while (!out.empty()) {
            const ssize_t n = pread(file_.get(), out.data(), out.size(), static_cast<off_t>(offset));
            if (n < 0 && errno == EINTR) {
                continue;
            }
            if (n < 0) {
                throw FileError(fmt::format("{}: cannot be read: {}; check the disk", name, std::strerror(errno)));
            }
            if (n == 0) {
                throw FileError(fmt::format("{}: became shorter while it was read; {}", name, kWait));
            }
            out = out.subspan(static_cast<std::size_t>(n));
            offset += static_cast<std::uint64_t>(n);
        }
    }

    void check_unchanged(const std::string& name) const {
        struct stat now {};
        if (fstat(file_.get(), &now) != 0 || now.st_size != status_.st_size ||
            now.st_mtim.tv_sec != status_.st_mtim.tv_sec || now.st_mtim.tv_nsec != status_.st_mtim.tv_nsec) {
            throw FileError(fmt::format("{}: was written to while it was read; {}", name, kWait));
        }
    }

  private:
    static constexpr std::string_view kWait = "run again when it is complete";

    FileDescriptor file_;
    struct stat status_ {};
};

namespace {

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian, and views are not converted");

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeader = 100'000'000;  // the format's own limit
constexpr std::size_t kMaxRank = 8;
constexpr std::string_view kAgain = "copy or download the file again";
constexpr std::string_view kWriteAgain = "write the file again with safetensors' save_file";

struct DTypeInfo {
    DType dtype;
    std::string_view name;
    std::size_t bytes;
};
constexpr std::array kDTypes{
    DTypeInfo{DType::f64, "F64", 8},   DTypeInfo{DType::f32, "F32", 4},         DTypeInfo{DType::f16, "F16", 2},
    DTypeInfo{DType::bf16, "BF16", 2}, DTypeInfo{DType::f8_e4m3, "F8_E4M3", 1}, DTypeInfo{DType::f8_e5m2, "F8_E5M2", 1},
    DTypeInfo{DType::i64, "I64", 8},   DTypeInfo{DType::i32, "I32", 4},         DTypeInfo{DType::i16, "I16", 2},
    DTypeInfo{DType::i8, "I8", 1},     DTypeInfo{DType::u64, "U64", 8},         DTypeInfo{DType::u32, "U32", 4},
    DTypeInfo{DType::u16, "U16", 2},   DTypeInfo{DType::u8, "U8", 1},           DTypeInfo{DType::boolean, "BOOL", 1},
};

const DTypeInfo& info(DType dtype) {
    return *std::ranges::find(kDTypes, dtype, &DTypeInfo::dtype);
}

// What the header says about one tensor.
struct Entry {
    std::string name;
    std::optional<DType> dtype;
    std::optional<std::vector<std::uint64_t>> shape;
    std::optional<std::vector<std::uint64_t>> offsets;
};

// Reads the header's JSON as it is parsed. A document tree would keep only the last of two equal names, and would grow
// with whatever the file holds; this accepts the three levels of the format and stops at anything else.
class HeaderReader : public JsonEvents {
  public:
    std::vector<Entry> entries;
    std::map<std::string, std::string> metadata;
    std::string error;

    bool start_object() override {
        switch (where_) {
            case Where::start:
                where_ = Where::top;
                return true;
            case Where::top_value:
                if (key_ == "__metadata__") {
                    where_ = Where::metadata;
                } else {
                    where_ = Where::tensor;
                    entries.push_back({.name = key_, .dtype = {}, .shape = {}, .offsets = {}});
                }
                return true;
            default:
                return misplaced("an object");
        }
    }
    bool key(std::string& text) override {
        key_ = text;
        switch (where_) {
            case Where::top:
                where_ = Where::top_value;
                if (!names_.insert({key_, true}).second) {
                    return fail(fmt::format("names {} twice", in_quotes(key_)));
                }
                return true;
            case Where::metadata:
                where_ = Where::metadata_value;
                return true;
            default:
                where_ = Where::tensor_value;
                if (key_ != "dtype" && key_ != "shape" && key_ != "data_offsets") {
                    return fail(
                        fmt::format("has the unknown key {} in tensor {}", in_quotes(key_), in_quotes(tensor())));
                }
                return true;
        }
    }
    bool end_object() override {
        where_ = where_ == Where::top ? Where::end : Where::top;
        return true;
    }
    bool string(std::string& text) override {
        if (where_ == Where::metadata_value) {
            where_ = Where::metadata;
            if (!metadata.insert({key_, text}).second) {
                return fail(fmt::format("has the metadata key {} twice", in_quotes(key_)));
            }
            return true;
        }
        if (where_ != Where::tensor_value || key_ != "dtype") {
            return misplaced("a string");
        }
        where_ = Where::tensor;
        const auto known = std::ranges::find(kDTypes, std::string_view(text), &DTypeInfo::name);
        if (known == kDTypes.end()) {
            return fail(fmt::format("gives tensor {} the dtype {}, which this reader does not know",
                                    in_quotes(tensor()), in_quotes(text)));
        }
        if (entries.back().dtype) {
            return fail(fmt::format("has two dtypes for tensor {}", in_quotes(tensor())));
        }
        entries.back().dtype = known->dtype;
        return true;
    }
    bool start_array() override {
        if (where_ != Where::tensor_value || key_ == "dtype") {
            return misplaced("an array");
        }
        std::optional<std::vector<std::uint64_t>>& list = numbers();
        if (list) {
            return fail(fmt::format("has two of {} for tensor {}", in_quotes(key_), in_quotes(tensor())));
        }
        list.emplace();
        where_ = Where::numbers;
        return true;
    }
    bool end_array() override {
        where_ = Where::tensor;
        return true;
    }
    bool number(const std::string& digits) override {
        if (where_ != Where::numbers) {
            return misplaced("a number");
        }
        std::uint64_t value = 0;
        const char* end = digits.data() + digits.size();
        if (const auto read = std::from_chars(digits.data(), end, value); read.ec != std::errc() || read.ptr != end) {
            const bool negative = digits[0] == '-' && digits.find_first_of(".eE") == std::string::npos;
            return fail(negative ? fmt::format("has the negative number {} in {} of tensor {}", digits, key_,
                                               in_quotes(tensor()))
                                 : fmt::format("has {} in {} of tensor {}, which is no 64-bit integer",
                                               in_quotes(digits), key_, in_quotes(tensor())));
        }
        if (numbers()->size() == kMaxRank) {
            return fail(
                fmt::format("has more than {} numbers in {} of tensor {}", kMaxRank, key_, in_quotes(tensor())));
        }
        numbers()->push_back(value);
        return true;
    }
    bool null() override { return misplaced("null"); }
    bool boolean(bool) override { return misplaced("true or false"); }
    void no_json(std::size_t byte) override { error = fmt::format("is not JSON (from byte {} of the header)", byte); }

  private:
    enum class Where { start, top, top_value, metadata, metadata_value, tensor, tensor_value, numbers, end };

    const std::string& tensor() const { return entries.back().name; }
    std::optional<std::vector<std::uint64_t>>& numbers() {
        return key_ == "shape" ? entries.back().shape : entries.back().offsets;
    }
    bool fail(std::string text) {
        error = std::move(text);
        return false;
    }
    bool misplaced(std::string_view what) {
        if (where_ == Where::start) {
            return fail(fmt::format("is {}, not a JSON object", what));
        }
        if (where_ == Where::top_value) {
            return fail(fmt::format("has {} as the value of {}", what, in_quotes(key_)));
        }
        if (where_ == Where::metadata_value) {
            return fail(fmt::format("has {} as metadata {}, where a string belongs", what, in_quotes(key_)));
        }
        return fail(fmt::format("has {} in {} of tensor {}", what, key_, in_quotes(tensor())));
    }

    Where where_ = Where::start;
    std::string key_;
    std::map<std::string, bool> names_;
};

// The number of bytes of a tensor of this shape, or nothing where it exceeds 63 bits.
std::optional<std::uint64_t> byte_count(std::span<const std::uint64_t> shape, std::size_t bytes_each) {
    if (std::ranges::find(shape, 0u) != shape.end()) {
        return 0;
    }
    std::uint64_t n = bytes_each;
    for (const std::uint64_t dim : shape) {
        if (n > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / dim) {
            return std::nullopt;
        }
        n *= dim;
    }
    return n;
}

std::string shape_text(std::span<const std::uint64_t> shape) {
    std::string text = "(";
    for (std::size_t i = 0; i < shape.size(); i++) { text += (i ? ", " : "") + std::to_string(shape[i]); }
    return text + ")";
}

template <class T>
std::span<const T> typed(const TensorView& tensor, DType dtype) {
    if (tensor.dtype != dtype) {
        throw FileError(fmt::format("{}: tensor {} is {}, but {} is needed here", tensor.file ? *tensor.file : "",
                                    in_quotes(tensor.name), to_string(tensor.dtype), to_string(dtype)));
    }
    if (reinterpret_cast<std::uintptr_t>(tensor.bytes.data()) % alignof(T) != 0 && !tensor.bytes.empty()) {
        throw FileError(fmt::format("{}: tensor {} is misaligned: its data do not start at a multiple of {} bytes; {}",
                                    tensor.file ? *tensor.file : "", in_quotes(tensor.name), alignof(T), kWriteAgain));
    }
    return {reinterpret_cast<const T*>(tensor.bytes.data()), tensor.bytes.size() / sizeof(T)};
}

}  // namespace

std::string_view to_string(DType dtype) {
    return info(dtype).name;
}

std::size_t bytes_per_element(DType dtype) {
    return info(dtype).bytes;
}

bool is_lfs_pointer(std::string_view file) {
    return file.starts_with("version https://git-lfs.github.com/spec/");
}

std::string in_quotes(std::string_view text) {
    constexpr std::size_t kLongest = 64;
    std::string out = "\"";
    for (const char c : text.substr(0, kLongest)) { out += c < ' ' || c > '~' || c == '"' ? '?' : c; }
    return out + (text.size() > kLongest ? "…\"" : "\"");
}

long TensorView::elements() const {
    return static_cast<long>(bytes.size() / bytes_per_element(dtype));
}

void TensorView::read(std::span<std::byte> out, std::size_t first) const {
    if (source) {
        source->read(out, offset + first, *file);
    } else {
        std::ranges::copy(bytes.subspan(first, out.size()), out.begin());
    }
}

std::span<const float> TensorView::f32() const {
    return typed<float>(*this, DType::f32);
}

std::span<const std::int32_t> TensorView::i32() const {
    return typed<std::int32_t>(*this, DType::i32);
}

SafeTensors SafeTensors::open(const std::filesystem::path& path) {
    SafeTensors file;
    file.file_ = std::make_shared<const std::string>(path.string());
    const std::string& name = *file.file_;

    // Without O_NONBLOCK, opening a FIFO would wait for a writer.
    FileDescriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (opened.get() < 0) {
        const int reason = errno;
        throw FileError(
            fmt::format("{}: cannot be read: {}; check the path and its permissions", name, std::strerror(reason)));
    }
    struct stat status {};
    if (fstat(opened.get(), &status) != 0) {
        throw FileError(fmt::format("{}: cannot be read: {}", name, std::strerror(errno)));
    }
    if (S_ISDIR(status.st_mode)) {
        throw FileError(fmt::format("{}: is a directory; name the .safetensors file in it", name));
    }
    if (!S_ISREG(status.st_mode)) {
        throw FileError(fmt::format("{}: is not a regular file; name a .safetensors file", name));
    }
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size < kLengthBytes) {
        throw FileError(
            fmt::format("{}: truncated: {} bytes are too few for a safetensors file; {}", name, size, kAgain));
    }
    void* mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, opened.get(), 0);
    if (mapped == MAP_FAILED) {
        throw FileError(fmt::format("{}: cannot be mapped into memory: {}", name, std::strerror(errno)));
    }
    file.mapping_ = MappedBytes(static_cast<std::byte*>(mapped), Unmap{size});
    file.source_ = std::make_shared<const OpenFile>(std::move(opened), status);

    std::uint64_t header_bytes = 0;
    file.source_->read(std::as_writable_bytes(std::span(&header_bytes, 1)), 0, name);
    constexpr std::uint64_t kPointerBytes = 64;  // enough to know a pointer of Git LFS
    const std::uint64_t wanted = header_bytes <= kMaxHeader ? kLengthBytes + header_bytes : kPointerBytes;
    std::string head(std::min<std::uint64_t>(wanted, size), '\0');
    file.source_->read(std::as_writable_bytes(std::span(head)), 0, name);
    file.parse({file.mapping_.get(), size}, head);
    return file;
}

SafeTensors SafeTensors::from_memory(std::span<const std::byte> bytes, std::string name) {
    SafeTensors file;
    file.file_ = std::make_shared<const std::string>(std::move(name));
    file.parse(bytes, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    return file;
}

void SafeTensors::check_unchanged() const {
    if (source_) {
        source_->check_unchanged(*file_);
    }
}

// `head` has the length and the header, as far as they are there. Of `bytes` only the size is used.
void SafeTensors::parse(std::span<const std::byte> bytes, std::string_view head) {
    const auto refuse = [this](std::string_view what, std::string_view mend) {
        throw FileError(fmt::format("{}: {}; {}", *file_, what, mend));
    };
    if (bytes.size() < kLengthBytes) {
        refuse(fmt::format("truncated: {} bytes are too few for a safetensors file", bytes.size()), kAgain);
    }
    if (is_lfs_pointer(head)) {
        throw FileError(fmt::format("{}: {}", *file_, kLfsPointer));
    }
    std::uint64_t header_bytes = 0;
    std::memcpy(&header_bytes, head.data(), kLengthBytes);
    if (header_bytes > kMaxHeader) {
        refuse(fmt::format("not a safetensors file: its header would be {} bytes, and {} is the most the format allows",
                           header_bytes, kMaxHeader),
               "check that this is the file you mean");
    }
    if (header_bytes > bytes.size() - kLengthBytes) {
        refuse(fmt::format("truncated: the header is {} bytes, but only {} follow", header_bytes,
                           bytes.size() - kLengthBytes),
               kAgain);
    }
    const std::string_view header = head.substr(kLengthBytes, header_bytes);
    const std::span<const std::byte> data = bytes.subspan(kLengthBytes + header_bytes);

    HeaderReader reader;
    if (!read_json(header, reader)) {
        refuse("the header " + reader.error, kWriteAgain);
    }
    metadata_ = std::move(reader.metadata);

    struct Range {
        std::uint64_t begin;
        std::uint64_t end;
        std::size_t entry;
    };
    std::vector<Range> ranges;
    for (const Entry& entry : reader.entries) {
        const std::string name = in_quotes(entry.name);
        if (!entry.dtype || !entry.shape || !entry.offsets) {
            refuse(fmt::format("tensor {} lacks its {}", name,
                               !entry.dtype   ? "dtype"
                               : !entry.shape ? "shape"
                                              : "data_offsets"),
                   kWriteAgain);
        }
        if (entry.offsets->size() != 2) {
            refuse(fmt::format("tensor {} has {} data_offsets, not 2", name, entry.offsets->size()), kWriteAgain);
        }
        const std::uint64_t begin = (*entry.offsets)[0], end = (*entry.offsets)[1];
        if (begin > end) {
            refuse(fmt::format("tensor {} ends at byte {}, before its beginning at {}", name, end, begin), kWriteAgain);
        }
        if (end > data.size()) {
            refuse(fmt::format("truncated: tensor {} ends at byte {} of the data, but the file holds only {}", name,
                               end, data.size()),
                   kAgain);
        }
        const std::optional<std::uint64_t> expected = byte_count(*entry.shape, bytes_per_element(*entry.dtype));
        if (!expected) {
            refuse(
                fmt::format("tensor {} has the shape {}, more than any file can hold", name, shape_text(*entry.shape)),
                kWriteAgain);
        }
        if (*expected != end - begin) {
            refuse(fmt::format("tensor {} holds {} bytes, but its shape {} in {} makes {}", name, end - begin,
                               shape_text(*entry.shape), to_string(*entry.dtype), *expected),
                   kWriteAgain);
        }
        if (std::ranges::any_of(*entry.shape, [](std::uint64_t dim) { return dim > INT64_MAX; })) {
            refuse(fmt::format("tensor {} has the shape {}", name, shape_text(*entry.shape)), kWriteAgain);
        }
        ranges.push_back({begin, end, tensors_.size()});
        index_.emplace(entry.name, tensors_.size());
        tensors_.push_back({.name = entry.name,
                            .dtype = *entry.dtype,
                            .shape = {entry.shape->begin(), entry.shape->end()},
                            .bytes = data.subspan(begin, end - begin),
                            .file = file_,
                            .source = source_,
                            .offset = kLengthBytes + header_bytes + begin});
    }

    // The byte ranges tile the data: no two overlap and nothing lies between them.
    std::ranges::sort(ranges, {}, [](const Range& r) { return std::pair(r.begin, r.end); });
    std::uint64_t reached = 0;
    for (std::size_t i = 0; i < ranges.size(); i++) {
        const std::string name = in_quotes(tensors_[ranges[i].entry].name);
        if (ranges[i].begin < reached) {
            refuse(fmt::format("tensors {} and {} overlap", in_quotes(tensors_[ranges[i - 1].entry].name), name),
                   kWriteAgain);
        }
        if (ranges[i].begin > reached) {
            refuse(fmt::format("{} bytes before tensor {} belong to no tensor", ranges[i].begin - reached, name),
                   kWriteAgain);
        }
        reached = ranges[i].end;
    }
    if (reached != data.size()) {
        refuse(fmt::format("oversized: {} bytes after the last tensor belong to no tensor", data.size() - reached),
               kAgain);
    }
}

const TensorView* SafeTensors::find(std::string_view name) const {
    const auto found = index_.find(name);
    return found == index_.end() ? nullptr : &tensors_[found->second];
}

const TensorView& SafeTensors::at(std::string_view name) const {
    if (const TensorView* tensor = find(name)) {
        return *tensor;
    }
    if (tensors_.empty()) {
        throw FileError(fmt::format("{}: has no tensor {}; it has none at all", *file_, in_quotes(name)));
    }
    std::vector<std::string> known;
    for (const TensorView& tensor : tensors_) { known.push_back(tensor.name); }
    std::string names;
    for (const std::string& near : nearest_names(name, std::move(known), 3)) {
        names += (names.empty() ? "" : ", ") + in_quotes(near);
    }
    throw FileError(fmt::format("{}: has no tensor {}; the nearest names are {}", *file_, in_quotes(name), names));
}

}  // namespace checker
