// Writing markup that is both HTML5 and well-formed XML, whatever text goes into it.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

// A document under construction. Names of elements and attributes are our own and are not escaped;
// everything else is.
class Markup {
 public:
  using Attribute = std::pair<std::string_view, std::string_view>;
  using Attributes = std::initializer_list<Attribute>;

  void open(std::string_view name, Attributes attributes = {});
  // Closes the innermost open element.
  void close(int elements = 1);
  void text(std::string_view text);
  // An element with nothing but text in it.
  void element(std::string_view name, Attributes attributes, std::string_view text);
  // <name .../>: for SVG, and for elements of HTML that never have content.
  void empty(std::string_view name, Attributes attributes = {});
  // Markup that is finished and well-formed, as take() returns it.
  void finished(std::string_view markup) { text_ += markup; }
  void line_break() { text_ += '\n'; }

  // Closes what is open and gives the document away.
  std::string take();

 private:
  void start(std::string_view name, Attributes attributes);
  std::string text_;
  std::vector<std::string> open_;
};

}  // namespace idletune::report
