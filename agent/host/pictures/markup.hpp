// Writing markup that is both HTML5 and well-formed XML, whatever text goes into it.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace idletune::report {

// `text` as character data or as the value of a quoted attribute. Bytes that are not UTF-8,
// characters that XML forbids and characters that turn the direction of the text around them become
// U+FFFD; line breaks and tabs become spaces.
std::string escaped(std::string_view text);

// The first `limit` characters (code points) of `text`; where it is longer, the last one of them is
// an ellipsis. Bytes that are no UTF-8 count as one character each. `limit` >= 1.
std::string shortened(std::string_view text, std::size_t limit);

// Code points in `text`, one for every stray byte.
std::size_t character_count(std::string_view text);

using Attributes = std::initializer_list<std::pair<std::string_view, std::string_view>>;

// <name key="value" ...>content</name>. Values are escaped; names are our own, the content is
// markup.
std::string element(std::string_view name, Attributes attributes, std::string_view content);
// <name key="value" .../>: for SVG, and for elements of HTML that never have content.
std::string element(std::string_view name, Attributes attributes);

}  // namespace idletune::report
