#include "models/host/learn/selector_code.hpp"

#include <algorithm>
#include <cstdio>
#include <set>
#include <vector>

#include "models/core/number_text.hpp"
#include "models/predict/model_format.hpp"

namespace idletune {

namespace {

using learners::TreeNode;

// Letters, digits and single underscores; never empty, never a keyword (those have neither capitals
// nor an underscore at the end).
std::string identifier(std::string_view name) {
  std::string result;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool digit = c >= '0' && c <= '9';
    if (digit && result.empty()) result = "n";
    if (letter || digit) result += c;
    if (!letter && !digit && !result.empty() && result.back() != '_') result += '_';
  }
  while (!result.empty() && result.back() == '_') result.pop_back();
  const bool capital =
      std::any_of(result.begin(), result.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  return capital ? result : result + "_";
}

// The same for the second one of a name, with a number.
std::string unique(std::string name, std::set<std::string>& taken) {
  while (!name.empty() && name.back() == '_') name.pop_back();
  std::string candidate = name;
  for (int i = 2; !taken.insert(candidate).second; ++i) candidate = name + "_" + std::to_string(i);
  return candidate;
}

// Text for a comment or a literal: no line breaks, quotation marks or backslashes.
std::string plain(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\') c = ' ';
  }
  return result;
}

std::string hexadecimal(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%a", value);
  return text;
}

// Lines of at most 100 columns.
std::string wrapped(const std::vector<std::string>& items, const std::string& indent) {
  std::string text;
  std::string line = indent;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string item = items[i] + (i + 1 < items.size() ? "," : "");
    if (line.size() > indent.size() && line.size() + 1 + item.size() > 100) {
      text += line + "\n";
      line = indent;
    }
    line += (line.size() > indent.size() ? " " : "") + item;
  }
  return text + line + "\n";
}

// "M * N", "M / N": computed in the order of selector_feature().
std::string feature_text(const SelectorView& selector, std::size_t feature,
                         const std::vector<std::string>& inputs) {
  std::string above;
  std::string below;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::int8_t e = selector.exponents[feature * inputs.size() + i];
    for (int n = 0; n < e; ++n) above += (above.empty() ? "" : " * ") + inputs[i];
    for (int n = 0; n > e; --n) below += (below.empty() ? "" : " * ") + inputs[i];
  }
  if (above.empty()) above = "1.0";
  if (below.empty()) return above;
  return above + " / " + (below.find('*') == std::string::npos ? below : "(" + below + ")");
}

// The subtree as nested conditions: on problems never seen before a third faster than a loop over a
// table, whose every step waits for two loads.
void append_tree(const SelectorView& selector, std::size_t at, std::size_t depth,
                 std::string& text) {
  constexpr std::size_t kDeepestIndent = 40;
  const TreeNode& node = selector.tree.nodes()[at];
  const std::string indent(2 + std::min(depth, kDeepestIndent), ' ');
  if (node.is_leaf()) {
    text += indent + "return " + std::to_string(node.class_number()) + ";\n";
    return;
  }
  text += indent + "if (f" + std::to_string(node.feature()) +
          " <= " + hexadecimal(static_cast<double>(node.threshold())) + "f) {\n";
  append_tree(selector, at + 1, depth + 1, text);
  text += indent + "} else {\n";
  append_tree(selector, at + node.link(), depth + 1, text);
  text += indent + "}\n";
}

std::string configurations_text(const SelectorView& selector) {
  std::vector<std::string> rows;
  for (std::size_t c = 0; c < selector.class_count(); ++c) {
    std::string row;
    for (const std::int64_t value : selector.values(c)) {
      // The most negative one cannot be written as a literal.
      const std::string text = value == INT64_MIN ? "INT64_MIN" : std::to_string(value);
      row += (row.empty() ? "" : ", ") + text;
    }
    rows.push_back("{" + row + "}");
  }
  return wrapped(rows, "    ");
}

std::string parameter_list(const std::vector<std::string>& inputs) {
  std::string list;
  for (const std::string& input : inputs) list += (list.empty() ? "double " : ", double ") + input;
  return list;
}

std::string covers_text(const SelectorView& selector, const std::vector<std::string>& inputs) {
  std::string condition;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string margin = hexadecimal(model_schema::kSelectorMargin);
    condition += (condition.empty() ? "" : " &&\n         ") + inputs[i] + " * " + margin +
                 " >= " + hexadecimal(selector.low[i]) + " && " + inputs[i] +
                 " <= " + hexadecimal(selector.high[i] * model_schema::kSelectorMargin);
  }
  return condition;
}

std::string selector_text(const KernelKnowledge& kernel, std::size_t number,
                          const std::string& name) {
  const SelectorView selector = kernel.selector(number);
  std::vector<std::string> inputs;
  std::set<std::string> taken;
  for (std::size_t i = 0; i < selector.input_count(); ++i) {
    const std::string input = unique(identifier(kernel.selector_input(number, i)), taken);
    inputs.push_back(input == identifier(input) ? input : input + "_");
  }
  std::string text;
  text += "// Learned on " +
          (selector.device.empty() ? std::string("several devices") : plain(selector.device)) +
          ": height " + std::to_string(selector.tree.height()) + ", " +
          std::to_string(selector.tree.leaf_count()) + " leaves.\n";
  const auto all = kernel.quality();
  const auto qualities =
      all.ok() ? all->selectors : std::vector<KernelKnowledge::SelectorQuality>();
  for (const KernelKnowledge::SelectorQuality& quality : qualities) {
    if (quality.device != selector.device) continue;
    text += "// On " + std::string(quality.device.empty() ? "devices" : "shapes") + " left out (" +
            std::to_string(quality.folds) + " folds of " + std::to_string(quality.shapes) +
            " shapes) its choices reached " + number_text(quality.retained, 3) +
            " of the best on average,\n// at least " + number_text(quality.worst, 3) + "; " +
            number_text(quality.against_single, 3) +
            " times as fast as one configuration for all of them.\n";
  }
  text += "namespace " + name + " {\n\n";
  text += "inline constexpr std::size_t kConfigurationCount = " +
          std::to_string(selector.class_count()) + ";\n";
  text +=
      "inline constexpr std::int64_t kConfigurations[kConfigurationCount][kParameterCount] = {\n" +
      configurations_text(selector) + "};\n\n";
  text += "// Whether the problem is near those that this was learned from.\n";
  text += "inline bool covers(" + parameter_list(inputs) + ") noexcept {\n  return " +
          covers_text(selector, inputs) + ";\n}\n\n";
  text += "// The configuration for a problem: an index into kConfigurations.\n";
  text += "inline std::size_t select(" + parameter_list(inputs) + ") noexcept {\n";
  for (const std::string& input : inputs) text += "  static_cast<void>(" + input + ");\n";
  for (std::size_t f = 0; f < selector.feature_count(); ++f) {
    const auto nodes = selector.tree.nodes();
    const bool used = std::any_of(nodes.begin(), nodes.end(), [f](const TreeNode& node) {
      return !node.is_leaf() && node.feature() == f;
    });
    if (!used) continue;
    text += "  const float f" + std::to_string(f) + " = static_cast<float>(" +
            feature_text(selector, f, inputs) + ");\n";
  }
  append_tree(selector, 0, 0, text);
  text += "}\n\n";
  return text + "}  // namespace " + name + "\n\n";
}

std::string kernel_text(const KernelKnowledge& kernel, const std::string& name) {
  std::string text = "namespace " + name + " {\n\n";
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kernel.parameter_count(); ++i)
    names.push_back("\"" + plain(kernel.parameter(i)) + "\"");
  text += "inline constexpr std::size_t kParameterCount = " + std::to_string(names.size()) + ";\n";
  text += "inline constexpr const char* kParameterNames[kParameterCount] = {\n" +
          wrapped(names, "    ") + "};\n\n";
  std::set<std::string> taken;
  for (std::size_t i = 0; i < kernel.selector_count(); ++i) {
    const std::string_view device = kernel.selector(i).device;
    const std::string on = device.empty() ? "on_any_device" : "on_" + identifier(device);
    text += selector_text(kernel, i, unique(on, taken));
  }
  return text + "}  // namespace " + name + "\n";
}

}  // namespace

std::string selector_code(const Model& model) {
  std::string text =
      "// Generated by `idletune learn --emit-cpp`; do not edit. Which configuration of a kernel "
      "to "
      "use\n// for which problem, as decision trees. Model digest " +
      std::to_string(model.content_digest()) + ".\n";
  text +=
      "#pragma once\n\n#include <cstddef>\n#include <cstdint>\n\nnamespace idletune_generated "
      "{\n\n";
  std::set<std::string> taken;
  for (const KernelKnowledge& kernel : model.kernels()) {
    if (kernel.selector_count() == 0) continue;
    text += kernel_text(kernel, unique("kernel_" + identifier(kernel.name()), taken)) + "\n";
  }
  return text + "}  // namespace idletune_generated\n";
}

}  // namespace idletune
