#include "models/host/pack/xml.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include <tinyxml2.h>

#include "models/host/pack/family_xml.hpp"
#include "models/host/pack/text_file.hpp"
#include "models/host/pack/value_list.hpp"
#include "models/host/pack/xml_arguments.hpp"
#include "models/space/identifier.hpp"

namespace idletune {
namespace {

using tinyxml2::XMLElement;

constexpr std::pair<std::string_view, Dialect> kDialects[] = {
    {"portable", Dialect::portable}, {"opencl", Dialect::opencl}, {"cuda", Dialect::cuda}};
constexpr std::pair<std::string_view, bool> kCompact[] = {{"true", true}, {"false", false}};

// Reads the document into a description.
class Reader : private XmlArguments {
 public:
  explicit Reader(const std::string& path) : XmlArguments(path) { description_.where = path; }

  Result<KernelDescription> read(std::string_view text, bool may_be_family) {
    tinyxml2::XMLDocument document;
    if (document.Parse(text.data(), text.size()) != tinyxml2::XML_SUCCESS) {
      return Status(StatusCode::invalid_argument,
                    path() + ":" + std::to_string(document.ErrorLineNum()) +
                        ": not well-formed XML (" + document.ErrorName() + ")");
    }
    const XMLElement* root = document.RootElement();
    if (may_be_family && root != nullptr && std::string_view(root->Name()) == "family") {
      return read_family(*root, path());
    }
    if (root == nullptr || std::string_view(root->Name()) != "kernel") {
      return Status(StatusCode::invalid_argument,
                    path() + ":" + std::to_string(root == nullptr ? 1 : root->GetLineNum()) +
                        ": expected <kernel> as the root element");
    }
    if (!kernel(*root)) return status();
    return std::move(description_);
  }

 private:
  // --- elements ---
  bool kernel(const XMLElement& root) {
    if (!only_attributes(root, {"name"})) return false;
    if (!required(root, "name", description_.name)) return false;
    if (!space::is_kernel_name(description_.name)) {
      return fail(root, "'" + description_.name + "' is not a name (letters, digits, _ - .)");
    }
    const bool several = root.FirstChildElement("steps") != nullptr;
    return only_children(root, {"source", "dimensions", "features", "parameters", "constraints",
                                "launch", "steps", "setup", "arguments", "reference", "tolerance",
                                "work", "classes"}) &&
           sources(root, several) && section(root, "dimensions", true, &Reader::dimensions) &&
           section(root, "features", false, &Reader::features) &&
           section(root, "parameters", true, &Reader::parameters) &&
           section(root, "constraints", false, &Reader::constraints) &&
           section(root, "launch", !several, &Reader::launch) &&
           section(root, "steps", false, &Reader::steps) &&
           section(root, "setup", false, &Reader::setup) &&
           section(root, "arguments", true, &Reader::all_arguments) &&
           section(root, "reference", false, &Reader::reference) &&
           section(root, "tolerance", false, &Reader::tolerance) &&
           section(root, "work", false, &Reader::work) &&
           section(root, "classes", false, &Reader::classes);
  }
  bool section(const XMLElement& root, const char* name, bool needed,
               bool (Reader::*part)(const XMLElement&)) {
    const XMLElement* element = nullptr;
    if (!single(root, name, element)) return false;
    if (element != nullptr) return (this->*part)(*element);
    return !needed || fail(root, "expected a child <" + std::string(name) + ">");
  }

  bool sources(const XMLElement& root, bool several_steps) {
    const XMLElement* first = root.FirstChildElement("source");
    if (first == nullptr) return fail(root, "expected a child <source>");
    const bool several = first->NextSiblingElement("source") != nullptr;
    for (const XMLElement* e = first; e != nullptr; e = e->NextSiblingElement("source")) {
      if (!source(*e, several)) return false;
    }
    if (several_steps && !description_.entry.empty()) {
      return fail(*first, "each <step> has its own 'entry', expected none here");
    }
    if (!several_steps && description_.entry.empty()) {
      return fail(*first, "expected an attribute 'entry'");
    }
    return true;
  }
  bool source(const XMLElement& element, bool several) {
    std::string file;
    if (!only_attributes(element, {"file", "entry", "dialect", "options", "compact"}) ||
        !only_children(element, {}) || !required(element, "file", file)) {
      return false;
    }
    Result<std::string> text = read_text(folder_of(path()) + file);
    if (!text.ok()) return fail(element, text.status().message(), text.code());
    if (!several) description_.source_file = file_name_of(file);
    if (several) description_.source += "#line 1 \"" + file_name_of(file) + "\"\n";
    description_.source += *text;
    if (several && !text->empty() && text->back() != '\n') description_.source += '\n';
    const bool has_entry = element.Attribute("entry") != nullptr;
    const bool says_more = element.Attribute("dialect") != nullptr ||
                           element.Attribute("options") != nullptr ||
                           element.Attribute("compact") != nullptr;
    if (!has_entry && !says_more) return true;
    if (!has_entry && !is_first_source(element)) {
      return fail(element,
                  "'dialect', 'options' and 'compact' belong to the <source> with 'entry'");
    }
    if (!description_.entry.empty()) return fail(element, "a second 'entry'");
    if (const char* options = element.Attribute("options")) description_.options = options;
    return (!has_entry || identifier(element, "entry", description_.entry)) &&
           choice(element, "dialect", kDialects, description_.dialect) &&
           choice(element, "compact", kCompact, description_.compact);
  }

  // Of a kernel of several steps: the first one speaks for all.
  static bool is_first_source(const XMLElement& element) {
    const tinyxml2::XMLElement* root = element.Parent()->ToElement();
    return root->FirstChildElement("steps") != nullptr &&
           root->FirstChildElement("source") == &element;
  }

  bool dimensions(const XMLElement& element) {
    if (!only_attributes(element, {}) || !only_children(element, {"dimension"})) return false;
    for (const XMLElement* e = element.FirstChildElement(); e; e = e->NextSiblingElement()) {
      std::string name;
      if (!only_attributes(*e, {"name", "minimum"}) || !only_children(*e, {}) ||
          !identifier(*e, "name", name) || !unique(*e, name)) {
        return false;
      }
      const std::string_view minimum = e->Attribute("minimum") ? e->Attribute("minimum") : "1";
      if (minimum != "0" && minimum != "1") return fail(*e, "expected 0 or 1 as 'minimum'");
      if (minimum == "0") description_.zero_dimensions.push_back(name);
      description_.dimensions.push_back(name);
    }
    const std::size_t count = description_.dimensions.size();
    return (count >= 1 && count <= kMaxDimensions) ||
           fail(element, "expected 1 to " + std::to_string(kMaxDimensions) + " dimensions");
  }
  bool features(const XMLElement& element) {
    if (!only_attributes(element, {}) || !only_children(element, {"feature"})) return false;
    for (const XMLElement* e = element.FirstChildElement(); e; e = e->NextSiblingElement()) {
      DescribedFeature feature;
      if (!only_attributes(*e, {"name", "value", "over", "values"}) || !only_children(*e, {}) ||
          !identifier(*e, "name", feature.name) || !unique(*e, feature.name)) {
        return false;
      }
      feature.where = where(*e);
      feature.value = expression(*e, "value");
      feature.over = expression(*e, "over");
      std::istringstream names(e->Attribute("values") ? e->Attribute("values") : "");
      for (std::string name; names >> name;) feature.categories.push_back(name);
      description_.features.push_back(std::move(feature));
    }
    return description_.features.size() <= kMaxFeatures ||
           fail(element, "expected at most " + std::to_string(kMaxFeatures) + " features");
  }
  bool unique(const XMLElement& element, const std::string& name) {
    return names_.insert(name).second || fail(element, "the name '" + name + "' is used twice");
  }

  bool parameters(const XMLElement& element) {
    if (!only_attributes(element, {}) || !only_children(element, {"parameter"})) return false;
    for (const XMLElement* e = element.FirstChildElement(); e; e = e->NextSiblingElement()) {
      if (!parameter(*e)) return false;
    }
    const std::size_t count = description_.parameters.size();
    return (count >= 1 && count <= kMaxParameters) ||
           fail(element, "expected 1 to " + std::to_string(kMaxParameters) + " parameters");
  }
  bool parameter(const XMLElement& element) {
    DescribedParameter parameter;
    std::string values;
    if (!only_attributes(element, {"name", "kind", "values", "default"}) ||
        !only_children(element, {}) || !identifier(element, "name", parameter.name) ||
        !unique(element, parameter.name) || !required(element, "values", values)) {
      return false;
    }
    if (const char* kind = element.Attribute("kind")) {
      const auto known = parameter_kind_from_name(kind);
      if (!known) {
        return fail(element, "unknown kind '" + std::string(kind) + "', " + known_kinds());
      }
      parameter.kind = *known;
    }
    Result<std::vector<std::int64_t>> parsed = package::parse_values(values);
    if (!parsed.ok()) return fail(element, parsed.status().message());
    parameter.values = std::move(*parsed);
    std::vector<std::int64_t> sorted = parameter.values;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) {
      return fail(element, "the value " + std::to_string(*twice) + " occurs twice");
    }
    return default_value(element, parameter);
  }
  static std::string known_kinds() {
    std::string text = "expected one of ";
    for (std::uint8_t i = 0; i < kParameterKindCount; ++i) {
      if (i > 0) text += ", ";
      text += parameter_kind_name(static_cast<ParameterKind>(i));
    }
    return text;
  }
  bool default_value(const XMLElement& element, DescribedParameter& parameter) {
    parameter.default_value = parameter.values.front();
    if (const char* text = element.Attribute("default")) {
      if (!integer(element, text, parameter.default_value)) return false;
      if (std::find(parameter.values.begin(), parameter.values.end(), parameter.default_value) ==
          parameter.values.end()) {
        return fail(element, "the default " + std::string(text) + " is not among the values");
      }
    }
    description_.parameters.push_back(std::move(parameter));
    return true;
  }
  bool constraints(const XMLElement& element) {
    if (!only_attributes(element, {}) || !only_children(element, {"constraint"})) return false;
    for (const XMLElement* e = element.FirstChildElement(); e; e = e->NextSiblingElement()) {
      if (!only_attributes(*e, {})) return false;
      std::string text;
      for (const auto* node = e->FirstChild(); node != nullptr; node = node->NextSibling()) {
        if (node->ToElement() != nullptr) return fail(*e, "expected an expression, got an element");
        if (node->ToText() != nullptr) text += node->Value();
      }
      if (text.empty()) return fail(*e, "expected an expression");
      description_.constraints.emplace_back(text, where(*e));
    }
    return true;
  }

  bool geometry(const XMLElement& element, DescribedLaunch& out, bool needed) {
    const XMLElement* global = nullptr;
    const XMLElement* local = nullptr;
    const XMLElement* memory = nullptr;
    if (!single(element, "global", global) || !single(element, "local", local) ||
        !single(element, "local-memory", memory)) {
      return false;
    }
    if (!needed && global == nullptr && local == nullptr && memory == nullptr) return true;
    if (global == nullptr || local == nullptr) {
      return fail(element, "expected <global> and <local>");
    }
    if (!sizes(*global, out.global) || !sizes(*local, out.local)) return false;
    if (out.global.size() != out.local.size()) {
      return fail(*local, "expected as many sizes as <global> has");
    }
    if (memory == nullptr) return true;
    out.local_memory_bytes = expression(*memory, "bytes");
    std::string text;
    return only_attributes(*memory, {"bytes"}) && required(*memory, "bytes", text);
  }
  bool sizes(const XMLElement& element, std::vector<DescribedExpression>& out) {
    std::string x;
    if (!only_attributes(element, {"x", "y", "z"}) || !only_children(element, {}) ||
        !required(element, "x", x)) {
      return false;
    }
    for (const char* axis : {"x", "y", "z"}) {
      DescribedExpression size = expression(element, axis);
      if (!size.empty()) out.push_back(std::move(size));
    }
    const bool gap = element.Attribute("z") != nullptr && element.Attribute("y") == nullptr;
    return !gap || fail(element, "'z' without 'y'");
  }
  bool launch(const XMLElement& element) {
    return only_attributes(element, {}) &&
           only_children(element, {"global", "local", "local-memory"}) &&
           geometry(element, description_.launch, true);
  }

  bool steps(const XMLElement& element) {
    if (element.NextSiblingElement("launch") != nullptr ||
        element.PreviousSiblingElement("launch") != nullptr) {
      return fail(element, "expected either <launch> or <steps>");
    }
    return sequence(element, description_.steps);
  }
  bool setup(const XMLElement& element) {
    if (element.Parent()->FirstChildElement("steps") == nullptr) {
      return fail(element, "expected <steps> beside it");
    }
    return sequence(element, description_.setup);
  }
  bool sequence(const XMLElement& element, std::vector<DescribedStep>& out) {
    if (!only_attributes(element, {}) || !only_children(element, {"step"})) return false;
    for (const XMLElement* e = element.FirstChildElement(); e; e = e->NextSiblingElement()) {
      if (!step(*e, out)) return false;
    }
    return !out.empty() || fail(element, "expected at least one <step>");
  }
  bool step(const XMLElement& element, std::vector<DescribedStep>& out) {
    DescribedStep step;
    std::string names;
    step.where = where(element);
    step.condition = expression(element, "when");
    if (!only_attributes(element, {"entry", "arguments", "when"}) ||
        !only_children(element, {"global", "local", "local-memory"}) ||
        !identifier(element, "entry", step.entry) || !required(element, "arguments", names) ||
        !geometry(element, step.launch, true)) {
      return false;
    }
    std::size_t at = 0;
    while ((at = names.find_first_not_of(" \t\n", at)) != std::string::npos) {
      const std::size_t end = std::min(names.find_first_of(" \t\n", at), names.size());
      step.arguments.push_back(names.substr(at, end - at));
      at = end;
    }
    out.push_back(std::move(step));
    return true;
  }

  bool all_arguments(const XMLElement& element) {
    return arguments(element, description_.arguments);
  }

  bool reference(const XMLElement& element) {
    if (!only_attributes(element, {"entry"}) ||
        !only_children(element, {"global", "local", "local-memory", "set"})) {
      return false;
    }
    const bool own_kernel = element.Attribute("entry") != nullptr;
    if (own_kernel && !identifier(element, "entry", description_.reference.entry)) return false;
    if (!geometry(element, description_.reference.launch, own_kernel)) return false;
    if (!own_kernel && !description_.reference.launch.global.empty()) {
      return fail(element, "<global> and <local> need an 'entry' of their own");
    }
    for (const XMLElement* e = element.FirstChildElement("set"); e;
         e = e->NextSiblingElement("set")) {
      if (!setting(*e)) return false;
    }
    return true;
  }
  bool setting(const XMLElement& element) {
    std::string name, text;
    std::int64_t value = 0;
    if (!only_attributes(element, {"parameter", "value"}) || !only_children(element, {}) ||
        !required(element, "parameter", name) || !required(element, "value", text) ||
        !integer(element, text, value)) {
      return false;
    }
    const auto is_it = [&](const DescribedParameter& p) { return p.name == name; };
    const auto& parameters = description_.parameters;
    const auto found = std::find_if(parameters.begin(), parameters.end(), is_it);
    if (found == parameters.end()) return fail(element, "'" + name + "' is not a parameter");
    if (std::find(found->values.begin(), found->values.end(), value) == found->values.end()) {
      return fail(element, text + " is not among the values of '" + name + "'");
    }
    description_.reference.configuration.emplace_back(name, value);
    return true;
  }

  bool tolerance(const XMLElement& element) {
    DescribedTolerance& rule = description_.tolerance;
    rule.scale = expression(element, "scale");
    if (!only_attributes(element, {"absolute", "relative", "scale"}) ||
        !only_children(element, {}) || !number(element, "absolute", rule.absolute) ||
        !number(element, "relative", rule.relative)) {
      return false;
    }
    return (rule.absolute >= 0 && rule.relative >= 0) ||
           fail(element, "expected tolerances of at least 0");
  }

  bool work(const XMLElement& element) {
    description_.operations = expression(element, "operations");
    std::string text;
    return only_attributes(element, {"operations"}) && only_children(element, {}) &&
           required(element, "operations", text);
  }
  bool classes(const XMLElement& e) { return read_classes(*this, e, description_.classes); }

  KernelDescription description_;
  std::set<std::string> names_;
};

}  // namespace

Result<KernelDescription> parse_kernel_xml(std::string_view text, const std::string& path) {
  return Reader(path).read(text, /*may_be_family=*/true);
}

Result<KernelDescription> read_kernel_xml(const std::string& path) {
  Result<std::string> text = read_text(path);
  if (!text.ok()) return text.status();
  return parse_kernel_xml(*text, path);
}

Result<KernelDescription> read_single_kernel_xml(const std::string& path) {
  Result<std::string> text = read_text(path);
  if (!text.ok()) return text.status();
  return Reader(path).read(*text, /*may_be_family=*/false);
}

}  // namespace idletune
