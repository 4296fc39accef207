#include "server/formats/gguf_metadata.h"

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"

namespace embd::formats {
namespace {

constexpr std::uint64_t kMaxKeyBytes = 65'535;
constexpr std::uint64_t kMaxArrayItems = 4'096;
constexpr std::uint64_t kMaxTextBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kMaxKeptBytes = std::uint64_t{64} << 20;

enum Kind : std::uint32_t {
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kUint32,
  kInt32,
  kFloat32,
  kBool,
  kString,
  kArray,
  kUint64,
  kInt64,
  kFloat64,
  kKindCount,
};

// Bytes of a scalar; 0 for texts and arrays, which say their length themselves.
constexpr std::array<std::uint64_t, kKindCount> kSizes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

class MetadataReader {
 public:
  explicit MetadataReader(ByteCursor& cursor) : cursor_(cursor) {}

  GgufMetadata Read(std::uint64_t count) {
    GgufMetadata metadata;
    for (std::uint64_t i = 0; i < count && cursor_.status().ok(); ++i) {
      const std::uint64_t start = cursor_.position();
      std::string key = Key();
      GgufValue value = Value(cursor_.Read<std::uint32_t>(), start, key);
      const auto [entry, fresh] = metadata.emplace(std::move(key), std::move(value));
      if (!fresh) cursor_.Fail(start, absl::StrCat("key ", core::Quote(entry->first), " stands twice"));
    }
    return metadata;
  }

 private:
  std::string Key() {
    const std::uint64_t start = cursor_.position();
    const auto size = cursor_.Read<std::uint64_t>();
    if (cursor_.status().ok() && (size == 0 || size > kMaxKeyBytes)) {
      cursor_.Fail(start, absl::StrCat("a key must have 1 to ", kMaxKeyBytes, " bytes, got ", size));
    }
    return Kept(start, cursor_.ReadText(cursor_.status().ok() ? size : 0));
  }

  GgufValue Value(std::uint32_t kind, std::uint64_t start, const std::string& key) {
    if (cursor_.status().ok() && kind != kUint32 && key == kGgufAlignmentKey) {
      cursor_.Fail(start, absl::StrCat(key, " must be a uint32, got the type ", kind));
    }
    if (!cursor_.status().ok()) return false;
    switch (kind) {
      case kFloat32: return static_cast<double>(cursor_.Read<float>());
      case kFloat64: return cursor_.Read<double>();
      case kBool: return Bool();
      case kString: return TextValue();
      case kArray: return Array(start, key);
      case kUint64: {
        const auto value = cursor_.Read<std::uint64_t>();
        if (value > kLargestInteger) return value;
        return static_cast<std::int64_t>(value);
      }
      default: break;
    }
    if (kind < kKindCount) return Integer(kind);
    cursor_.Fail(start, absl::StrCat("key ", core::Quote(key), " has the unknown type ", kind));
    return false;
  }

  std::int64_t Integer(std::uint32_t kind) {
    switch (kind) {
      case kUint8: return cursor_.Read<std::uint8_t>();
      case kInt8: return cursor_.Read<std::int8_t>();
      case kUint16: return cursor_.Read<std::uint16_t>();
      case kInt16: return cursor_.Read<std::int16_t>();
      case kUint32: return cursor_.Read<std::uint32_t>();
      case kInt32: return cursor_.Read<std::int32_t>();
      default: return cursor_.Read<std::int64_t>();
    }
  }

  bool Bool() {
    const std::uint64_t start = cursor_.position();
    const auto value = cursor_.Read<std::uint8_t>();
    if (value > 1) cursor_.Fail(start, absl::StrCat("a boolean must be 0 or 1, got ", value));
    return value == 1;
  }

  // Nothing where the text is passed over; its size then is in `size`.
  std::optional<std::string> Text(std::uint64_t& size) {
    const std::uint64_t start = cursor_.position();
    size = cursor_.Read<std::uint64_t>();
    if (size <= kMaxTextBytes) return Kept(start, cursor_.ReadText(size));
    cursor_.Skip(size);
    return std::nullopt;
  }

  GgufValue TextValue() {
    std::uint64_t size = 0;
    if (auto text = Text(size); text.has_value()) return *std::move(text);
    return GgufSkipped{size};
  }

  GgufValue Array(std::uint64_t start, const std::string& key) {
    const auto kind = cursor_.Read<std::uint32_t>();
    const auto count = cursor_.Read<std::uint64_t>();
    if (!cursor_.status().ok()) return false;
    if (kind == kArray || kind >= kKindCount) {
      cursor_.Fail(start, kind == kArray
                              ? absl::StrCat("key ", core::Quote(key), " is an array of arrays")
                              : absl::StrCat("key ", core::Quote(key), " has items of the unknown type ", kind));
      return false;
    }
    const std::uint64_t least = kind == kString ? sizeof(std::uint64_t) : kSizes.at(kind);
    if (count > cursor_.left() / least) {
      cursor_.Fail(start,
                   absl::StrCat("key ", core::Quote(key), " has ", count, " items, which go beyond the file's end"));
      return false;
    }
    if (count > kMaxArrayItems) return SkipItems(kind, count);
    CountKept(start, count * sizeof(std::int64_t));
    switch (kind) {
      case kFloat32: return Items<double>(count, [this] { return static_cast<double>(cursor_.Read<float>()); });
      case kFloat64: return Items<double>(count, [this] { return cursor_.Read<double>(); });
      case kBool: return Items<bool>(count, [this] { return Bool(); });
      case kString: return Texts(count);
      case kUint64: return Unsigned(count);
      default: return Items<std::int64_t>(count, [this, kind] { return Integer(kind); });
    }
  }

  template <typename Item, typename ReadItem>
  std::vector<Item> Items(std::uint64_t count, ReadItem read) {
    std::vector<Item> items;
    for (std::uint64_t i = 0; i < count && cursor_.status().ok(); ++i) items.push_back(read());
    return items;
  }

  GgufValue Texts(std::uint64_t count) {
    std::vector<std::string> texts;
    bool all = true;
    for (std::uint64_t i = 0; i < count && cursor_.status().ok(); ++i) {
      std::uint64_t size = 0;
      auto text = Text(size);
      all = all && text.has_value();
      if (all) texts.push_back(*std::move(text));
    }
    if (!all) return GgufSkipped{count};
    return texts;
  }

  GgufValue Unsigned(std::uint64_t count) {
    std::vector<std::int64_t> items;
    bool all = true;
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto value = cursor_.Read<std::uint64_t>();
      all = all && value <= kLargestInteger;
      items.push_back(static_cast<std::int64_t>(value));
    }
    if (!all) return GgufSkipped{count};
    return items;
  }

  GgufSkipped SkipItems(std::uint32_t kind, std::uint64_t count) {
    if (kind != kString) {
      cursor_.Skip(count * kSizes.at(kind));
    } else {
      for (std::uint64_t i = 0; i < count && cursor_.status().ok(); ++i) cursor_.Skip(cursor_.Read<std::uint64_t>());
    }
    return GgufSkipped{count};
  }

  // Counts what stays in memory, so that a file of metadata alone cannot take all of it.
  void CountKept(std::uint64_t start, std::uint64_t bytes) {
    kept_bytes_ += bytes;
    if (kept_bytes_ > kMaxKeptBytes) {
      cursor_.Fail(start, absl::StrCat("the metadata takes more than ", kMaxKeptBytes, " bytes"));
    }
  }

  std::string Kept(std::uint64_t start, std::string text) {
    constexpr std::uint64_t kOverhead = 128;  // of a map's node and a string's own fields
    CountKept(start, text.size() + kOverhead);
    return text;
  }

  static constexpr std::uint64_t kLargestInteger = std::numeric_limits<std::int64_t>::max();

  ByteCursor& cursor_;
  std::uint64_t kept_bytes_ = 0;
};

}  // namespace

GgufMetadata ReadGgufMetadata(ByteCursor& cursor, std::uint64_t count) { return MetadataReader(cursor).Read(count); }

}  // namespace embd::formats
