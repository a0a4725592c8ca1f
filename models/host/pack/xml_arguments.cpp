#include "models/host/pack/xml_arguments.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace idletune {
namespace {

constexpr std::pair<std::string_view, Access> kAccesses[] = {
    {"in", Access::in}, {"out", Access::out}, {"inout", Access::inout}};
constexpr std::pair<std::string_view, bool> kTruths[] = {{"true", true}, {"false", false}};
constexpr std::pair<std::string_view, Fill> kFills[] = {{"uniform", Fill::uniform},
                                                        {"constant", Fill::constant},
                                                        {"zero", Fill::zero},
                                                        {"index", Fill::index},
                                                        {"ramp", Fill::ramp}};
constexpr std::pair<std::string_view, ScalarType> kTypes[] = {
    {"i8", ScalarType::i8},   {"u8", ScalarType::u8},   {"i16", ScalarType::i16},
    {"u16", ScalarType::u16}, {"i32", ScalarType::i32}, {"u32", ScalarType::u32},
    {"i64", ScalarType::i64}, {"u64", ScalarType::u64}, {"f16", ScalarType::f16},
    {"f32", ScalarType::f32}, {"f64", ScalarType::f64}};

}  // namespace

bool XmlArguments::arguments(const XMLElement& element, std::vector<DescribedArgument>& out) {
  if (!only_attributes(element, {}) ||
      !only_children(element, {"buffer", "scalar", "dimension", "local", "scratch", "prepared"})) {
    return false;
  }
  std::set<std::string> names;
  for (const XMLElement* e = element.FirstChildElement(); e; e = e->NextSiblingElement()) {
    DescribedArgument argument;
    const std::string_view kind = e->Name();
    const bool good = kind == "buffer"      ? buffer(*e, argument)
                      : kind == "scalar"    ? scalar(*e, argument)
                      : kind == "local"     ? local(*e, argument)
                      : kind == "dimension" ? dimension_argument(*e, argument)
                                            : own_memory(*e, argument);
    if (!good) return false;
    if (!names.insert(argument.name).second) {
      return fail(*e, "the name '" + argument.name + "' is used twice");
    }
    out.push_back(std::move(argument));
  }
  const std::size_t count = out.size();
  return (count >= 1 && count <= kMaxArguments) ||
         fail(element,
              std::to_string(count) + " arguments, expected 1 to " + std::to_string(kMaxArguments));
}

bool XmlArguments::buffer(const XMLElement& element, DescribedArgument& out) {
  out.kind = ArgumentKind::buffer;
  out.size = expression(element, "elements");
  std::string text;
  return only_attributes(element, {"name", "type", "access", "elements", "fill", "low", "high",
                                   "value", "constant", "otherwise", "index-below"}) &&
         only_children(element, {}) && identifier(element, "name", out.name) &&
         choice(element, "constant", kTruths, out.constant) && required(element, "type", text) &&
         choice(element, "type", kTypes, out.type) && required(element, "access", text) &&
         choice(element, "access", kAccesses, out.access) && required(element, "elements", text) &&
         input(element, out) && fill(element, out) && index(element, out);
}

bool XmlArguments::scalar(const XMLElement& element, DescribedArgument& out) {
  out.kind = ArgumentKind::scalar;
  std::string text;
  return only_attributes(element, {"name", "type", "fill", "low", "high", "value"}) &&
         only_children(element, {}) && identifier(element, "name", out.name) &&
         required(element, "type", text) && choice(element, "type", kTypes, out.type) &&
         fill(element, out);
}

bool XmlArguments::dimension_argument(const XMLElement& element, DescribedArgument& out) {
  out.kind = ArgumentKind::dimension;
  out.type = ScalarType::i32;
  out.size = expression(element, "value");
  std::string text;
  if (!only_attributes(element, {"name", "type", "value"}) || !only_children(element, {}) ||
      !identifier(element, "name", out.name) || !required(element, "value", text) ||
      !choice(element, "type", kTypes, out.type)) {
    return false;
  }
  return is_integer(out.type) || fail(element, "expected an integer type");
}

bool XmlArguments::local(const XMLElement& element, DescribedArgument& out) {
  out.kind = ArgumentKind::local;
  out.type = ScalarType::u8;
  out.size = expression(element, "bytes");
  std::string text;
  return only_attributes(element, {"name", "bytes"}) && only_children(element, {}) &&
         identifier(element, "name", out.name) && required(element, "bytes", text);
}

bool XmlArguments::own_memory(const XMLElement& element, DescribedArgument& out) {
  const bool scratch = std::string_view(element.Name()) == "scratch";
  out.kind = scratch ? ArgumentKind::scratch : ArgumentKind::prepared;
  out.size = expression(element, "elements");
  std::string text;
  return only_attributes(element, {"name", "type", "elements"}) && only_children(element, {}) &&
         identifier(element, "name", out.name) && required(element, "type", text) &&
         choice(element, "type", kTypes, out.type) && required(element, "elements", text);
}

// fill="captured": what stands in for it is said by `otherwise` as by `fill` elsewhere.
bool XmlArguments::input(const XMLElement& element, DescribedArgument& out) {
  const char* fill = element.Attribute("fill");
  out.captured = fill != nullptr && std::string_view(fill) == "captured";
  out.index_below = expression(element, "index-below");
  if (!out.captured && element.Attribute("otherwise") != nullptr) {
    return fail(element, "'otherwise' goes with fill=\"captured\"");
  }
  if (out.access != Access::out || (!out.captured && out.index_below.empty())) return true;
  return fail(element, "only a buffer of access 'in' or 'inout' is captured or an index");
}

bool XmlArguments::index(const XMLElement& element, DescribedArgument& out) {
  const bool is_index = !out.index_below.empty();
  if (out.fill == Fill::ramp && !is_index) {
    return fail(element, "a ramp ends at the largest index: expected 'index-below'");
  }
  if (!is_index) return true;
  if (!is_integer(out.type)) return fail(element, "'index-below' needs a type of integers");
  const bool has_bounds =
      element.Attribute("low") != nullptr || element.Attribute("high") != nullptr;
  if (!has_bounds && out.fill != Fill::constant) return true;
  return fail(element, "'index-below' bounds the values: expected no 'low', 'high' or 'value'");
}

// A `value` alone means fill="constant".
bool XmlArguments::fill(const XMLElement& element, DescribedArgument& out) {
  const bool has_value = element.Attribute("value") != nullptr;
  const bool has_bounds =
      element.Attribute("low") != nullptr || element.Attribute("high") != nullptr;
  if (has_value) out.fill = Fill::constant;
  // Indices are anywhere unless something else is said.
  if (!out.index_below.empty()) out.fill = Fill::uniform;
  const char* attribute = out.captured ? "otherwise" : "fill";
  if (!choice(element, attribute, kFills, out.fill)) return false;
  if (has_value != (out.fill == Fill::constant)) {
    return fail(element, "fill=\"constant\" and 'value' go together");
  }
  if (has_bounds && out.fill != Fill::uniform && out.fill != Fill::index) {
    return fail(element, "'low' and 'high' need fill=\"uniform\" or fill=\"index\"");
  }
  if (out.fill == Fill::uniform) out.fill_high = 1;
  if (!number(element, has_value ? "value" : "low", out.fill_low) ||
      !number(element, has_value ? "value" : "high", out.fill_high)) {
    return false;
  }
  return out.fill_low <= out.fill_high || fail(element, "'low' is above 'high'");
}

}  // namespace idletune
