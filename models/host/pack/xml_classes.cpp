#include "models/host/pack/xml_elements.hpp"

namespace idletune {
namespace {

bool read_term(XmlElements& xml, const tinyxml2::XMLElement& element, DescribedClasses& out) {
  std::string text;
  if (!xml.only_attributes(element, {"of", "tile"}) || !xml.only_children(element, {}) ||
      !xml.required(element, "of", text)) {
    return false;
  }
  out.terms.push_back({xml.expression(element, "of"), xml.expression(element, "tile")});
  return true;
}

bool read_any(XmlElements& xml, const tinyxml2::XMLElement& element, DescribedClasses& out) {
  out.any.emplace_back();
  return xml.only_attributes(element, {"dimension"}) && xml.only_children(element, {}) &&
         xml.identifier(element, "dimension", out.any.back());
}

}  // namespace

bool read_classes(XmlElements& xml, const tinyxml2::XMLElement& element, DescribedClasses& out) {
  constexpr std::pair<std::string_view, bool> kDerived[] = {{"yes", false}, {"no", true}};
  if (!xml.only_attributes(element, {"derived"}) || !xml.only_children(element, {"term", "any"}) ||
      !xml.choice(element, "derived", kDerived, out.none)) {
    return false;
  }
  for (const auto* e = element.FirstChildElement(); e != nullptr; e = e->NextSiblingElement()) {
    if (out.none) return xml.fail(*e, "classes that are not derived have no children");
    const bool is_term = std::string_view(e->Name()) == "term";
    if (!(is_term ? read_term(xml, *e, out) : read_any(xml, *e, out))) return false;
  }
  return true;
}

}  // namespace idletune
