#include "models/host/pack/family.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "models/host/pack/pack.hpp"
#include "models/host/pack/portable_dialect.hpp"
#include "models/host/space/expression_parser.hpp"
#include "models/space/identifier.hpp"

namespace idletune {
namespace {

using NewNames = std::map<std::string, std::string>;

// `text` with every whole name that has a new one replaced by it. A number is no name.
std::string renamed(const std::string& text, const NewNames& names) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && space::in_name(text[end])) ++end;
    if (end == at) ++end;
    const std::string word = text.substr(at, end - at);
    const auto found = names.find(word);
    result += found == names.end() ? word : found->second;
    at = end;
  }
  return result;
}

bool mentions(const std::string& text, const std::string& name) {
  return renamed(text, {{name, ""}}) != text;
}

std::string quoted(const std::string& text) { return "'" + text + "'"; }

bool is_given(const DescribedArgument& argument) {
  return argument.kind == ArgumentKind::buffer || argument.kind == ArgumentKind::scalar;
}

std::vector<const DescribedArgument*> given_arguments(const KernelDescription& description) {
  std::vector<const DescribedArgument*> given;
  for (const DescribedArgument& argument : description.arguments) {
    if (is_given(argument)) given.push_back(&argument);
  }
  return given;
}

std::string features_text(const KernelDescription& description) {
  std::string text;
  for (const DescribedFeature& feature : description.features) {
    text += (text.empty() ? "" : ", ") + feature.name;
    if (!feature.value.empty()) text += " = " + feature.value.text;
    if (!feature.over.empty()) text += " over " + feature.over.text;
    for (const std::string& category : feature.categories) text += " " + category;
  }
  return text;
}

// Compares what an application sees of two members.
class Signatures {
 public:
  Signatures(const DescribedFamily& family, const FamilyMember& first, const FamilyMember& other)
      : family_(family), first_(first), other_(other) {}

  Status compare() const {
    const KernelDescription& a = first_.description;
    const KernelDescription& b = other_.description;
    if (a.dimensions != b.dimensions) {
      return differ("the dimensions", listed(a.dimensions), listed(b.dimensions));
    }
    if (a.zero_dimensions != b.zero_dimensions) {
      return differ("the dimensions that may be 0", listed(a.zero_dimensions),
                    listed(b.zero_dimensions));
    }
    if (features_text(a) != features_text(b)) {
      return differ("the features", features_text(a), features_text(b));
    }
    if (a.dialect != b.dialect) return differ("the dialect", name_of(a), name_of(b));
    if (a.options != b.options) return differ("the compiler options", a.options, b.options);
    if (Status status = arguments(); !status.ok()) return status;
    if (a.tolerance.absolute != b.tolerance.absolute ||
        a.tolerance.relative != b.tolerance.relative ||
        !same(a.tolerance.scale, b.tolerance.scale)) {
      return differ("the tolerance", text_of(a.tolerance), text_of(b.tolerance));
    }
    return Status();
  }

 private:
  Status differ(const std::string& what, const std::string& a, const std::string& b) const {
    const std::string place =
        family_.where.empty() ? "family " + quoted(family_.name) : family_.where;
    return Status(StatusCode::invalid_argument,
                  place + ": member " + quoted(other_.name) + " has " + what + " " + quoted(b) +
                      ", expected " + quoted(a) + " as member " + quoted(first_.name) + " has");
  }

  Status arguments() const {
    const auto a = given_arguments(first_.description);
    const auto b = given_arguments(other_.description);
    if (a.size() != b.size()) {
      return differ("the number of buffers and scalars", std::to_string(a.size()),
                    std::to_string(b.size()));
    }
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::string of = " of argument " + quoted(b[i]->name);
      if (a[i]->kind != b[i]->kind) return differ("the kind" + of, kind_of(*a[i]), kind_of(*b[i]));
      if (a[i]->type != b[i]->type) {
        return differ("the type" + of, scalar_type_name(a[i]->type), scalar_type_name(b[i]->type));
      }
      if (a[i]->kind == ArgumentKind::scalar) continue;
      if (a[i]->access != b[i]->access) {
        return differ("the access" + of, access_of(*a[i]), access_of(*b[i]));
      }
      if (!same(a[i]->size, b[i]->size)) {
        return differ("the size" + of, a[i]->size.text, b[i]->size.text);
      }
    }
    return Status();
  }

  // As compiled; blanks do not matter. What reads parameters is never the same.
  bool same(const DescribedExpression& a, const DescribedExpression& b) const {
    if (a.empty() || b.empty()) return a.empty() == b.empty();
    const ExpressionNames names{first_.description.dimensions, {}};
    const Result<Expression> x = parse_expression(a.text, names);
    const Result<Expression> y = parse_expression(b.text, names);
    return x.ok() && y.ok() && x->digest() == y->digest();
  }

  static std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
    return text;
  }
  static std::string name_of(const KernelDescription& description) {
    return description.dialect == Dialect::portable ? "portable"
           : description.dialect == Dialect::opencl ? "opencl"
                                                    : "cuda";
  }
  static std::string kind_of(const DescribedArgument& argument) {
    return argument.kind == ArgumentKind::buffer ? "buffer" : "scalar";
  }
  static std::string access_of(const DescribedArgument& argument) {
    return argument.access == Access::in ? "in" : argument.access == Access::out ? "out" : "inout";
  }
  static std::string text_of(const DescribedTolerance& rule) {
    return std::to_string(rule.absolute) + " + " + std::to_string(rule.relative) + " * (" +
           rule.scale.text + ")";
  }

  const DescribedFamily& family_;
  const FamilyMember& first_;
  const FamilyMember& other_;
};

class Join {
 public:
  explicit Join(const DescribedFamily& family) : family_(family) {}

  Result<KernelDescription> join() {
    if (Status status = check(); !status.ok()) return status;
    out_.name = family_.name;
    out_.where = family_.where;
    out_.source_file = family_.name + ".cl";
    out_.dialect = first().description.dialect;
    out_.compact = first().description.compact;
    out_.options = first().description.options;
    out_.dimensions = first().description.dimensions;
    out_.zero_dimensions = first().description.zero_dimensions;
    out_.features = first().description.features;
    out_.tolerance = first().description.tolerance;
    out_.operations = first().description.operations;
    make_names();
    parameters();
    for (std::size_t i : order_) {
      arguments(i);
      steps(i);
    }
    reference();
    for (std::size_t i = 0; i < family_.members.size(); ++i) {
      constraints(i);
      classes(i);
    }
    sources();
    return std::move(out_);
  }

 private:
  const FamilyMember& first() const { return family_.members[order_.front()]; }
  Status fail(const std::string& what) const {
    const std::string& where = family_.where;
    return Status(StatusCode::invalid_argument,
                  (where.empty() ? "family " + quoted(family_.name) : where) + ": " + what);
  }

  Status check() {
    const auto& members = family_.members;
    if (members.size() < 2) return fail("expected at least two members");
    std::set<std::string> names;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const std::string& name = members[i].name;
      if (!space::is_identifier(name)) return fail(quoted(name) + " is not a C identifier");
      if (!names.insert(name).second) return fail("two members have the name " + quoted(name));
      const bool is_default =
          family_.default_member.empty() ? i == 0 : name == family_.default_member;
      order_.insert(is_default ? order_.begin() : order_.end(), i);
    }
    if (!family_.default_member.empty() && names.count(family_.default_member) == 0) {
      return fail("the default " + quoted(family_.default_member) + " is no member");
    }
    if (!space::is_identifier(family_.parameter)) {
      return fail(quoted(family_.parameter) + " is not a C identifier");
    }
    std::size_t parameters = 1;
    for (const FamilyMember& member : members) {
      if (Status status = check(member); !status.ok()) return status;
      parameters += member.description.parameters.size();
    }
    if (parameters <= kMaxParameters) return Status();
    return fail(std::to_string(parameters) + " parameters in all, expected at most " +
                std::to_string(kMaxParameters));
  }
  Status check(const FamilyMember& member) const {
    if (mentions(member.description.source, family_.parameter)) {
      return fail("the source of member " + quoted(member.name) + " has the name " +
                  quoted(family_.parameter) + " already, expected another for the parameter");
    }
    const auto alone = pack(member.description);
    if (!alone.ok()) return alone.status();
    return &member == &first() ? Status() : Signatures(family_, first(), member).compare();
  }

  // --- names ---
  void make_names() {
    names_.resize(family_.members.size());
    entries_.resize(family_.members.size());
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const KernelDescription& d = family_.members[i].description;
      for (const DescribedParameter& p : d.parameters) names_[i][p.name] = of_member(i, p.name);
      for (const DescribedStep& step : d.steps) entries_[i].insert(step.entry);
      for (const DescribedStep& step : d.setup) entries_[i].insert(step.entry);
      if (d.steps.empty()) entries_[i].insert(d.entry);
    }
    const std::string& reference = first().description.reference.entry;
    if (!reference.empty()) own_reference_ = reference;
  }
  std::string of_member(std::size_t i, const std::string& name) const {
    return family_parameter(family_.members[i].name, name);
  }
  DescribedExpression renamed_of(std::size_t i, const DescribedExpression& expression) const {
    return {renamed(expression.text, names_[i]), expression.where};
  }
  std::string runs(std::size_t i, const char* comparison = " == ") const {
    return family_.parameter + comparison + std::to_string(i);
  }
  // The expression where the member runs, `otherwise` where it does not.
  DescribedExpression guarded(std::size_t i, const DescribedExpression& expression,
                              const char* otherwise) const {
    return {runs(i) + " ? (" + renamed(expression.text, names_[i]) + ") : " + otherwise,
            expression.where};
  }

  // --- the space ---
  void parameters() {
    DescribedParameter choice;
    choice.name = family_.parameter;
    for (std::size_t i = 0; i < family_.members.size(); ++i) {
      choice.values.push_back(static_cast<std::int64_t>(i));
    }
    choice.default_value = static_cast<std::int64_t>(order_.front());
    out_.parameters.push_back(choice);
    for (std::size_t i = 0; i < family_.members.size(); ++i) {
      for (DescribedParameter parameter : family_.members[i].description.parameters) {
        parameter.name = of_member(i, parameter.name);
        out_.parameters.push_back(std::move(parameter));
      }
    }
  }
  void constraints(std::size_t i) {
    const KernelDescription& d = family_.members[i].description;
    for (const DescribedParameter& p : d.parameters) {
      if (p.values.size() == 1) continue;
      out_.constraints.emplace_back(
          runs(i) + " || " + of_member(i, p.name) + " == " + std::to_string(p.default_value),
          d.where);
    }
    for (const DescribedExpression& constraint : d.constraints) {
      out_.constraints.push_back(guarded(i, constraint, "1"));
    }
  }

  // What one member counts in tiles another may not: they stay apart.
  void classes(std::size_t i) {
    const KernelDescription& d = family_.members[i].description;
    DescribedMember member;
    for (const DescribedParameter& p : d.parameters) {
      member.parameters.push_back(of_member(i, p.name));
    }
    member.classes = d.classes;
    for (DescribedClassTerm& term : member.classes.terms) {
      term.of = renamed_of(i, term.of);
      if (!term.tile.empty()) term.tile = renamed_of(i, term.tile);
    }
    out_.members.push_back(std::move(member));
  }

  // --- arguments and launches ---
  // The default member's as they are; of the others what the application does not pass.
  void arguments(std::size_t i) {
    const KernelDescription& d = family_.members[i].description;
    const bool is_first = i == order_.front();
    std::size_t given = 0;
    argument_names_.clear();
    for (DescribedArgument argument : d.arguments) {
      const std::string name = argument.name;
      if (is_given(argument) && !is_first) {
        argument_names_[name] = given_arguments(first().description)[given++]->name;
        if (argument.constant) make_constant(argument_names_[name]);
        continue;
      }
      if (is_own_memory(argument.kind)) argument.size = guarded(i, argument.size, "0");
      if (argument.kind == ArgumentKind::local) argument.size = guarded(i, argument.size, "1");
      argument_names_[name] = is_first ? add(std::move(argument)) : add_or_find(i, argument);
    }
    if (is_first) first_argument_names_ = argument_names_;
  }
  // What one member relies on, the application promises for all.
  void make_constant(const std::string& name) {
    for (DescribedArgument& argument : out_.arguments) {
      argument.constant = argument.constant || argument.name == name;
    }
  }
  std::string add(DescribedArgument argument) {
    out_.arguments.push_back(std::move(argument));
    return out_.arguments.back().name;
  }
  // A value of the shape that another member takes too is one argument.
  std::string add_or_find(std::size_t i, DescribedArgument argument) {
    for (const DescribedArgument& other : out_.arguments) {
      if (argument.kind == ArgumentKind::dimension && other.kind == argument.kind &&
          other.type == argument.type && other.size.text == argument.size.text) {
        return other.name;
      }
    }
    argument.name = of_member(i, argument.name);
    while (std::any_of(out_.arguments.begin(), out_.arguments.end(),
                       [&](const DescribedArgument& a) { return a.name == argument.name; })) {
      argument.name += '_';
    }
    return add(std::move(argument));
  }

  void steps(std::size_t i) {
    const KernelDescription& d = family_.members[i].description;
    std::vector<DescribedStep> all = d.steps;
    if (all.empty()) {
      DescribedStep step;
      step.entry = d.entry;
      step.launch = d.launch;
      step.where = d.where;
      for (const DescribedArgument& argument : d.arguments) step.arguments.push_back(argument.name);
      all.push_back(std::move(step));
    }
    sequence(i, std::move(all), out_.steps);
    sequence(i, d.setup, out_.setup);
  }
  void sequence(std::size_t i, std::vector<DescribedStep> all, std::vector<DescribedStep>& out) {
    for (DescribedStep& step : all) {
      step.entry = of_member(i, step.entry);
      step.launch = launch(i, step.launch);
      for (std::string& name : step.arguments) name = argument_names_[name];
      step.condition = step.condition.empty() ? DescribedExpression(runs(i), step.where)
                                              : guarded(i, step.condition, "0");
      out.push_back(std::move(step));
    }
  }
  DescribedLaunch launch(std::size_t i, DescribedLaunch launch) const {
    for (auto* sizes : {&launch.global, &launch.local}) {
      for (DescribedExpression& size : *sizes) size = renamed_of(i, size);
    }
    launch.local_memory_bytes = renamed_of(i, launch.local_memory_bytes);
    return launch;
  }

  void reference() {
    const std::size_t i = order_.front();
    const DescribedReference& reference = first().description.reference;
    for (const auto& setting : reference.configuration) {
      out_.reference.configuration.emplace_back(of_member(i, setting.first), setting.second);
    }
    if (reference.entry.empty()) return;
    out_.reference.entry = of_member(i, reference.entry);
    out_.reference.launch = launch(i, reference.launch);
    if (reference.launch.global.empty()) {
      out_.reference.launch = launch(i, first().description.launch);
    }
    for (const DescribedArgument& argument : first().description.arguments) {
      if (is_own_memory(argument.kind)) continue;
      out_.reference.arguments.push_back(first_argument_names_[argument.name]);
    }
  }

  // --- sources ---
  // A section per member. Its own names stand for those of the family, and the kernel functions of
  // the others are there without doing anything: drivers are asked for those of all steps.
  void sources() {
    for (std::size_t i = 0; i < family_.members.size(); ++i) {
      const KernelDescription& d = family_.members[i].description;
      std::string& text = out_.source;
      text += (i == 0 ? "#if " : "#elif ") + runs(i) + "\n";
      for (const DescribedParameter& p : d.parameters) define(p.name, i, text);
      for (const std::string& entry : entries_[i]) define(entry, i, text);
      if (i == order_.front() && entries_[i].count(own_reference_) == 0) {
        define(own_reference_, i, text);
      }
      for (std::size_t other = 0; other < family_.members.size(); ++other) {
        if (other != i) stubs(other, text);
      }
      if (package::uses_numbers(d.source)) out_.numbers = true;
      if (out_.dialect == Dialect::portable) text += package::without_own_numbers(d.source);
      if (d.source.compare(0, 6, "#line ") != 0) {
        const std::string file = d.source_file.empty() ? d.name + ".cl" : d.source_file;
        text += "#line 1 \"" + file + "\"\n";
      }
      text += d.source;
      if (d.source.back() != '\n') text += '\n';
    }
    out_.source += "#endif\n";
  }
  void define(const std::string& name, std::size_t i, std::string& text) const {
    if (!name.empty()) text += "#define " + name + " " + of_member(i, name) + "\n";
  }
  void stubs(std::size_t i, std::string& text) const {
    const char* const kernel = out_.dialect == Dialect::portable ? "KERNEL"
                               : out_.dialect == Dialect::opencl ? "__kernel"
                                                                 : "extern \"C\" __global__";
    for (const std::string& entry : entries_[i]) {
      text += std::string(kernel) + " void " + of_member(i, entry) + "(void) {}\n";
    }
  }

  const DescribedFamily& family_;
  KernelDescription out_;
  std::vector<std::size_t> order_;              // of members: the default one first
  std::vector<NewNames> names_;                 // per member: its parameters
  std::vector<std::set<std::string>> entries_;  // per member: what its steps call
  std::string own_reference_;                   // of the default member; may be empty
  NewNames argument_names_;                     // of the member under way
  NewNames first_argument_names_;
};

}  // namespace

std::string member_name(std::string kernel_name) {
  for (char& c : kernel_name) {
    if (!space::in_name(c)) c = '_';
  }
  return kernel_name;
}

Result<KernelDescription> join_family(const DescribedFamily& family) { return Join(family).join(); }

}  // namespace idletune
