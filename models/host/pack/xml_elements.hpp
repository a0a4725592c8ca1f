// Reading attributes and children of XML elements, with the place of the first problem. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <tinyxml2.h>

#include <idletune/result.hpp>

#include "models/host/pack/kernel_description.hpp"

namespace idletune {

// Every function that returns bool returns false after it has recorded the first problem in
// status(), with the file, the line and the element.
class XmlElements {
 public:
  using XMLElement = tinyxml2::XMLElement;
  using Names = std::initializer_list<std::string_view>;

  explicit XmlElements(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  const Status& status() const { return status_; }

  std::string where(const XMLElement& element) const;
  bool fail(const XMLElement& element, const std::string& what,
            StatusCode code = StatusCode::invalid_argument);

  bool only_attributes(const XMLElement& element, Names known);
  bool only_children(const XMLElement& element, Names known);
  // The only child of that name, or null.
  bool single(const XMLElement& parent, const char* name, const XMLElement*& out);
  bool required(const XMLElement& element, const char* attribute, std::string& out);
  bool identifier(const XMLElement& element, const char* attribute, std::string& out);
  bool number(const XMLElement& element, const char* attribute, double& out);
  // One of a list of words; an absent attribute leaves `out` alone.
  template <class T, std::size_t N>
  bool choice(const XMLElement& element, const char* attribute,
              const std::pair<std::string_view, T> (&choices)[N], T& out) {
    const char* text = element.Attribute(attribute);
    if (text == nullptr) return true;
    std::string known;
    for (const auto& c : choices) {
      if (c.first == text) {
        out = c.second;
        return true;
      }
      known += (known.empty() ? "" : ", ") + std::string(c.first);
    }
    return fail(element,
                "expected one of " + known + " as '" + attribute + "', got '" + text + "'");
  }
  DescribedExpression expression(const XMLElement& element, const char* attribute) const;
  bool integer(const XMLElement& element, std::string_view text, std::int64_t& out);

 private:
  std::string path_;
  Status status_;
};

// <classes>
bool read_classes(XmlElements& xml, const tinyxml2::XMLElement& element, DescribedClasses& out);

}  // namespace idletune
