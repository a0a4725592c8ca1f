#include "models/schema/table_layout.hpp"

namespace idletune::table_layout {
namespace {

class Walk {
 public:
  Walk(const std::uint8_t* data, std::size_t size, const std::uint8_t* layout, const Limits& limits)
      : verifier_(data, size, limits.depth, limits.tables),
        data_(data),
        layout_(layout),
        left_(size) {}

  bool root(unsigned place) { return offset(0) && table_at(target(0), place); }

 private:
  using Position = std::size_t;  // from the start of the bytes

  bool offset(Position at) const { return verifier_.VerifyOffset(at) != 0; }
  Position target(Position at) const {
    return at + flatbuffers::ReadScalar<flatbuffers::uoffset_t>(data_ + at);
  }

  const std::uint8_t* fields_of(unsigned place) const {
    const std::uint8_t* field = layout_;
    for (; place > 0; --place) {
      while (*field++ != end) {
      }
    }
    return field;
  }

  bool table_at(Position at, unsigned place) {
    if (!verifier_.VerifyTableStart(data_ + at)) return false;
    const auto* entry = reinterpret_cast<const flatbuffers::Table*>(data_ + at);
    unsigned slot = 4;  // behind the sizes of the virtual table and of the table
    for (const std::uint8_t* field = fields_of(place); *field != end; ++field, slot += 2) {
      const auto kind = static_cast<Field>(*field & 0x7f);
      const bool is_required = (*field & required) != 0;
      const unsigned inner = kind == table || kind == tables ? *++field : 0;
      const Position value =
          entry->GetOptionalFieldOffset(static_cast<flatbuffers::voffset_t>(slot));
      if (value == 0 ? is_required : !field_at(at + value, kind, inner)) return false;
    }
    return verifier_.EndTable();
  }

  bool field_at(Position at, Field kind, unsigned inner) {
    if (kind <= bytes8) return number_at(at, std::size_t{1} << kind);
    if (!offset(at)) return false;
    const Position to = target(at);
    if (kind == table) return table_at(to, inner);
    if (kind == string) return string_at(to);
    const std::size_t size = kind <= vector8 ? std::size_t{1} << (kind - vector1) : 4;
    if (!verifier_.VerifyVectorOrString(data_ + to, size)) return false;
    const auto count = flatbuffers::ReadScalar<flatbuffers::uoffset_t>(data_ + to);
    if (!spend(count * size)) return false;
    const Position first = to + sizeof(count);
    if (kind <= vector8) return count == 0 || first % size == 0;
    for (flatbuffers::uoffset_t i = 0; i < count; ++i) {
      const Position element = first + i * sizeof(count);
      if (!offset(element)) return false;
      if (!(kind == strings ? string_at(target(element)) : table_at(target(element), inner)))
        return false;
    }
    return true;
  }

  bool number_at(Position at, std::size_t size) const {
    return at % size == 0 && verifier_.Verify(at, size);
  }

  bool string_at(Position at) {
    const auto* text = reinterpret_cast<const flatbuffers::String*>(data_ + at);
    return verifier_.VerifyString(text) && spend(text->size());
  }

  // Vectors of one place may be named often; those of their own fill no more than the bytes.
  bool spend(std::size_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }

  flatbuffers::Verifier verifier_;
  const std::uint8_t* data_;
  const std::uint8_t* layout_;
  std::size_t left_;  // bytes that vectors and strings may still take
};

}  // namespace

bool is_flatbuffer(const std::uint8_t* data, std::size_t size, const std::uint8_t* layout,
                   unsigned root, const Limits& limits) {
  return Walk(data, size, layout, limits).root(root);
}

}  // namespace idletune::table_layout
