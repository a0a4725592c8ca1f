#include "models/host/pack/xml_elements.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <system_error>

#include "models/space/identifier.hpp"

namespace idletune {
namespace {

std::string listed(std::initializer_list<std::string_view> names) {
  std::string text;
  for (std::string_view name : names) {
    text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text.empty() ? "none" : text;
}

// from_chars for doubles is missing in the oldest supported compiler; strtod depends on the locale,
// which the library does not set and the command line leaves at "C".
bool read_number(const std::string& text, double& out) {
  char* end = nullptr;
  out = std::strtod(text.c_str(), &end);
  return !text.empty() && end == text.c_str() + text.size();
}

}  // namespace

std::string XmlElements::where(const XMLElement& element) const {
  return path_ + ":" + std::to_string(element.GetLineNum()) + ": <" + element.Name() + ">";
}

bool XmlElements::fail(const XMLElement& element, const std::string& what, StatusCode code) {
  if (status_.ok()) status_ = Status(code, where(element) + ": " + what);
  return false;
}

bool XmlElements::only_attributes(const XMLElement& element, Names known) {
  for (const auto* a = element.FirstAttribute(); a != nullptr; a = a->Next()) {
    if (std::find(known.begin(), known.end(), std::string_view(a->Name())) == known.end()) {
      return fail(element, "unknown attribute '" + std::string(a->Name()) +
                               "', expected one of: " + listed(known));
    }
  }
  return true;
}

bool XmlElements::only_children(const XMLElement& element, Names known) {
  for (const auto* node = element.FirstChild(); node != nullptr; node = node->NextSibling()) {
    if (node->ToText() != nullptr) return fail(element, "unexpected text");
    const XMLElement* child = node->ToElement();
    if (child == nullptr) continue;  // comments
    if (std::find(known.begin(), known.end(), std::string_view(child->Name())) == known.end()) {
      return fail(*child, "unknown element in <" + std::string(element.Name()) +
                              ">, expected one of: " + listed(known));
    }
  }
  return true;
}

bool XmlElements::single(const XMLElement& parent, const char* name, const XMLElement*& out) {
  out = parent.FirstChildElement(name);
  if (out == nullptr) return true;
  const XMLElement* second = out->NextSiblingElement(name);
  return second == nullptr || fail(*second, "expected at most once");
}

bool XmlElements::required(const XMLElement& element, const char* attribute, std::string& out) {
  const char* value = element.Attribute(attribute);
  if (value == nullptr || *value == 0) {
    return fail(element, "expected an attribute '" + std::string(attribute) + "'");
  }
  out = value;
  return true;
}

bool XmlElements::identifier(const XMLElement& element, const char* attribute, std::string& out) {
  if (!required(element, attribute, out)) return false;
  return space::is_identifier(out) || fail(element, "'" + out + "' is not a C identifier");
}

bool XmlElements::number(const XMLElement& element, const char* attribute, double& out) {
  const char* text = element.Attribute(attribute);
  if (text == nullptr || read_number(text, out)) return true;
  return fail(element, "expected a number as '" + std::string(attribute) + "', got '" + text + "'");
}

DescribedExpression XmlElements::expression(const XMLElement& element,
                                            const char* attribute) const {
  const char* text = element.Attribute(attribute);
  return text == nullptr ? DescribedExpression() : DescribedExpression(text, where(element));
}

bool XmlElements::integer(const XMLElement& element, std::string_view text, std::int64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error == std::errc() && end == text.data() + text.size()) return true;
  return fail(element, "expected an integer, got '" + std::string(text) + "'");
}

}  // namespace idletune
