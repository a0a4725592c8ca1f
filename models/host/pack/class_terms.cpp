#include "models/host/pack/class_terms.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace idletune::package {
namespace {

constexpr std::int64_t kGroupsEverywhere = 65535;  // CUDA allows no more along y and z

std::uint32_t op_of(std::uint32_t instruction) { return instruction & 0xffu; }
std::uint32_t word(ExpressionOp op, std::size_t operand) {
  return static_cast<std::uint32_t>(op) | static_cast<std::uint32_t>(operand) << 8;
}
bool one_bit(std::uint32_t mask) { return mask != 0 && (mask & (mask - 1)) == 0; }

// A choice (?:, && and ||) has the operation jump_if_zero, and condition, then and else below.
struct Node {
  ExpressionOp op = ExpressionOp::small;
  std::uint32_t operand = 0;
  std::vector<Node> below;
  std::uint32_t dimensions = 0;
  void take(Node node) {
    dimensions |= node.dimensions;
    below.push_back(std::move(node));
  }
};

Node leaf(ExpressionOp op, std::uint32_t operand) {
  Node node;
  node.op = op;
  node.operand = operand;
  if (op == ExpressionOp::dimension) node.dimensions = std::uint32_t{1} << operand;
  return node;
}

// The parser's code: a choice is always "condition, jump_if_zero E, then, jump END, E: else, END:".
// Its constants are numbered from `first_constant`.
Node tree_of(const Expression& expression, std::size_t first_constant = 0) {
  struct Open {
    Node condition, then;
    std::size_t end = 0;
  };
  std::vector<Node> stack;
  std::vector<Open> open;
  const Span<const std::uint32_t> code = expression.code();
  const auto pop = [&stack] {
    Node node = std::move(stack.back());
    stack.pop_back();
    return node;
  };
  for (std::size_t i = 0; i <= code.size(); ++i) {
    while (!open.empty() && open.back().end == i) {
      Node choice = leaf(ExpressionOp::jump_if_zero, 0);
      choice.take(std::move(open.back().condition));
      choice.take(std::move(open.back().then));
      choice.take(pop());
      open.pop_back();
      stack.push_back(std::move(choice));
    }
    if (i == code.size()) break;
    const auto op = static_cast<ExpressionOp>(op_of(code[i]));
    const std::uint32_t operand = code[i] >> 8;
    if (op == ExpressionOp::jump_if_zero) {
      open.push_back({pop(), Node(), 0});
    } else if (op == ExpressionOp::jump) {
      open.back().then = pop();
      open.back().end = operand;
    } else {
      const bool constant = op == ExpressionOp::constant;
      const std::size_t first = constant ? first_constant : 0;
      Node node = leaf(op, operand + static_cast<std::uint32_t>(first));
      const bool unary = op >= ExpressionOp::negate && op <= ExpressionOp::to_bool;
      if (op >= ExpressionOp::add || unary) {
        Node right = pop();
        if (!unary) node.take(pop());
        node.take(std::move(right));
      }
      stack.push_back(std::move(node));
    }
  }
  return stack.empty() ? leaf(ExpressionOp::small, 0) : std::move(stack.back());
}

void emit(const Node& node, std::vector<std::uint32_t>& code) {
  if (node.op != ExpressionOp::jump_if_zero) {
    for (const Node& part : node.below) emit(part, code);
    code.push_back(word(node.op, node.operand));
    return;
  }
  emit(node.below[0], code);
  const std::size_t to_else = code.size();
  code.push_back(0);
  emit(node.below[1], code);
  const std::size_t to_end = code.size();
  code.push_back(0);
  code[to_else] = word(ExpressionOp::jump_if_zero, code.size());
  emit(node.below[2], code);
  code[to_end] = word(ExpressionOp::jump, code.size());
}

bool same(const Node& a, const Node& b) {
  std::vector<std::uint32_t> code, other;
  emit(a, code);
  emit(b, other);
  return code == other;
}

// False if something of `divisor` is not in the product.
bool take_out(const std::vector<Node>& divisor, std::vector<Node>& product) {
  for (const Node& factor : divisor) {
    const auto is_it = [&](const Node& other) { return same(factor, other); };
    const auto found = std::find_if(product.begin(), product.end(), is_it);
    if (found == product.end()) return false;
    product.erase(found);
  }
  return true;
}

// What is multiplied; round_up(a, b) is b times ceil_div(a, b).
std::vector<Node> factors_of(const Node& node) {
  if (node.op == ExpressionOp::small && node.operand == 1) return {};
  if (node.op == ExpressionOp::multiply) {
    std::vector<Node> factors = factors_of(node.below[0]);
    for (Node& factor : factors_of(node.below[1])) factors.push_back(std::move(factor));
    return factors;
  }
  if (node.op == ExpressionOp::round_up) {
    std::vector<Node> factors = factors_of(node.below[1]);
    factors.push_back(node);
    factors.back().op = ExpressionOp::ceil_div;
    return factors;
  }
  return {node};
}

// Whether the items are whole groups, as many as numbers of tiles say.
bool is_of_groups(const Node& items, const Node& group) {
  std::vector<Node> groups = factors_of(items);
  return take_out(factors_of(group), groups) &&
         std::all_of(groups.begin(), groups.end(), [](const Node& factor) {
           return factor.dimensions == 0 || factor.op == ExpressionOp::divide ||
                  factor.op == ExpressionOp::ceil_div;
         });
}

// Walks launch sizes, conditions, constraints, sizes of memory and derived arguments.
class ClassTerms {
 public:
  // Only parameters whose bit is set in `variable` differ between configurations.
  ClassTerms(const PackageContents& contents, std::uint32_t variable)
      : c_(contents), variable_(variable) {}

  struct Number {
    Expression number;
    std::uint8_t kinds = 0;
    std::vector<Expression> tiles;
    bool same(const Number& other) const {
      return number.digest() == other.number.digest() && kinds == other.kinds && tiles.empty() &&
             other.tiles.empty();
    }
  };

  // Of the description: the dimension makes no difference; a further term (tile without code: the
  // value counts).
  void ignore(std::size_t dimension) { ignored_ |= std::uint32_t{1} << dimension; }
  void add(const Expression& of, const Expression& tile);
  // Call once, at last.
  std::vector<Number> derive();
  // `number` where the condition holds, else 0.
  Expression guarded(const Expression& number, const Expression& condition) const;

 private:
  Expression expression_of(const Node& node, const Expression& source) const {
    return expression_of(node, source, source.constants());
  }
  Expression expression_of(const Node& node, const Expression& source,
                           Span<const std::int64_t> constants) const;
  void walk(const Expression& expression);
  void walk(const Node& node, const Expression& source);
  void walk_launch(const LaunchGeometry& launch);
  void walk_axis(const Expression& global, const Expression& local);
  void vectors();
  Number& entry(const Expression& number);
  void put(ClassTermKind kind, const Expression& number);
  void put_tile(const Expression& of, const Expression& tile);

  const PackageContents& c_;
  const std::uint32_t variable_;
  std::uint32_t ignored_ = 0;
  std::uint32_t tiled_ = 0;  // dimensions that something counts in tiles
  std::vector<Number> numbers_;
};

Expression ClassTerms::expression_of(const Node& node, const Expression& source,
                                     Span<const std::int64_t> constants) const {
  std::vector<std::uint32_t> code;
  emit(node, code);
  Result<Expression> expression =
      Expression::load({code.data(), code.size()}, constants, std::string_view(),
                       c_.dimensions.size(), c_.space.parameter_count());
  return expression.ok() ? *expression : source;  // part of what was loaded: ok
}

ClassTerms::Number& ClassTerms::entry(const Expression& number) {
  for (Number& known : numbers_) {
    if (known.number.digest() == number.digest()) return known;
  }
  numbers_.push_back({number, 0, {}});
  return numbers_.back();
}

void ClassTerms::put(ClassTermKind kind, const Expression& number) {
  const bool bound = kind == kClassSize;  // counts whatever the description says
  if ((bound ? number.dimension_mask() : number.dimension_mask() & ~ignored_) == 0) return;
  entry(number).kinds |= kind;
}

void ClassTerms::put_tile(const Expression& of, const Expression& tile) {
  if (((of.dimension_mask() | tile.dimension_mask()) & ~ignored_) == 0) return;
  Number& number = entry(of);
  for (const Expression& known : number.tiles) {
    if (known.digest() == tile.digest()) return;
  }
  number.tiles.push_back(tile);
}

void ClassTerms::add(const Expression& of, const Expression& tile) {
  if (tile.code().empty()) return put(kClassValue, of);
  if (one_bit(of.dimension_mask())) tiled_ |= of.dimension_mask();
  put_tile(of, tile);
  // The parts of a product are tiles inside the tile.
  for (std::uint32_t p = 0; p < c_.space.parameter_count() && tile.code().size() > 1; ++p) {
    if ((tile.parameter_mask() >> p & 1) == 0) continue;
    put_tile(of, expression_of(leaf(ExpressionOp::parameter, p), tile));
  }
}

void ClassTerms::walk(const Node& node, const Expression& source) {
  for (const Node& part : node.below) walk(part, source);
  if (node.dimensions == 0) return;
  const auto flag = [&](const Node& condition) {
    put(kClassFlag, expression_of(condition, source));
  };
  switch (node.op) {
    case ExpressionOp::divide:
    case ExpressionOp::remainder:
    case ExpressionOp::ceil_div:
    case ExpressionOp::round_up:
      if (node.below[0].dimensions != 0) {
        return add(expression_of(node.below[0], source), expression_of(node.below[1], source));
      }
      return put(kClassValue, expression_of(node.below[1], source));
    case ExpressionOp::minimum:
    case ExpressionOp::maximum: {
      Node less = node;
      less.op = ExpressionOp::less;
      return flag(std::move(less));
    }
    case ExpressionOp::jump_if_zero: return flag(node.below[0]);
    case ExpressionOp::logical_not:
    case ExpressionOp::to_bool:
    case ExpressionOp::less:
    case ExpressionOp::less_equal:
    case ExpressionOp::greater:
    case ExpressionOp::greater_equal:
    case ExpressionOp::equal:
    case ExpressionOp::not_equal: return flag(node);
    default: return;
  }
}

void ClassTerms::walk(const Expression& expression) {
  if (expression.dimension_mask() != 0) walk(tree_of(expression), expression);
}

// A dimension alone along an axis is one of its own groups or items, one group or more.
void ClassTerms::walk_axis(const Expression& global, const Expression& local) {
  walk(global);
  walk(local);
  if (global.dimension_mask() == 0 && local.dimension_mask() == 0) return;
  put(kClassSize, global);
  const Node items = tree_of(global), group = tree_of(local, global.constants().size());
  if (!is_of_groups(items, group)) add(global, local);
  // Groups beyond what every device has.
  Node groups = leaf(ExpressionOp::divide, 0);
  groups.take(items);
  groups.take(group);
  Node many = leaf(ExpressionOp::greater, 0);
  many.take(std::move(groups));
  many.take(leaf(ExpressionOp::small, kGroupsEverywhere));
  std::vector<std::int64_t> constants(global.constants().begin(), global.constants().end());
  constants.insert(constants.end(), local.constants().begin(), local.constants().end());
  put(kClassFlag, expression_of(many, global, {constants.data(), constants.size()}));
}

void ClassTerms::walk_launch(const LaunchGeometry& launch) {
  for (std::size_t axis = 0; axis < launch.global.size(); ++axis) {
    walk_axis(launch.global[axis], launch.local[axis]);
  }
  walk(launch.local_memory_bytes);
}

// Accesses of several elements, wherever they are.
void ClassTerms::vectors() {
  const Expression none;
  for (std::uint32_t d = 0; d < c_.dimensions.size(); ++d) {
    const Expression of = expression_of(leaf(ExpressionOp::dimension, d), none);
    if ((tiled_ >> d & 1) == 0) {
      put(kClassValue, of);
      continue;
    }
    put_tile(of, expression_of(leaf(ExpressionOp::small, 1), none));
    for (std::uint32_t p = 0; p < c_.space.parameter_count(); ++p) {
      if ((variable_ >> p & 1) == 0) continue;
      if (c_.space.parameter_kind(p) != ParameterKind::vectorization) continue;
      put_tile(of, expression_of(leaf(ExpressionOp::parameter, p), none));
    }
  }
}

std::vector<ClassTerms::Number> ClassTerms::derive() {
  for (const StepContents& step : c_.steps) {
    walk_launch(step.launch);
    walk(step.condition);
    put(kClassFlag, step.condition);
  }
  for (const Expression& constraint : c_.shape_constraints) {
    walk(constraint);
    put(kClassFlag, constraint);
  }
  for (const Expression& size : c_.argument_sizes) {
    walk(size);
    put(kClassSize, size);
  }
  vectors();
  return std::move(numbers_);
}

Expression ClassTerms::guarded(const Expression& number, const Expression& condition) const {
  Node choice = leaf(ExpressionOp::jump_if_zero, 0);
  choice.take(tree_of(condition));
  choice.take(tree_of(number));
  choice.take(leaf(ExpressionOp::small, 0));
  return expression_of(choice, number);
}

Status add_described(const DescribedClasses& classes, const ExpressionNames& names,
                     const std::string& where, ClassTerms& terms) {
  for (const std::string& name : classes.any) {
    const auto found = std::find(names.dimensions.begin(), names.dimensions.end(), name);
    if (found == names.dimensions.end()) {
      return invalid(where, "classes: '" + name + "' is no dimension");
    }
    terms.ignore(static_cast<std::size_t>(found - names.dimensions.begin()));
  }
  for (const DescribedClassTerm& described : classes.terms) {
    Expression of, tile;
    Status status = optional_expression(described.of, names, of);
    if (status.ok()) status = optional_expression(described.tile, names, tile);
    if (!status.ok()) return status;
    terms.add(of, tile);
  }
  return Status();
}

// The family's contents where member number `member` runs: what others do is gone.
PackageContents with_member(const PackageContents& family, std::size_t member,
                            std::uint32_t variable) {
  PackageContents out = family;
  Configuration values = family.default_configuration;
  values[0] = static_cast<std::int64_t>(member);
  const auto fix = [&](Expression& expression) { expression.put_in(values.values(), ~variable); };
  for (Expression& constraint : out.shape_constraints) fix(constraint);
  for (Expression& size : out.argument_sizes) fix(size);
  out.steps.clear();
  for (StepContents step : family.steps) {
    fix(step.condition);
    const Evaluation runs = step.condition.evaluate({}, {});
    if (!step.condition.code().empty() && runs.ok() && runs.value == 0) continue;
    for (auto* sizes : {&step.launch.global, &step.launch.local}) {
      for (Expression& size : *sizes) fix(size);
    }
    fix(step.launch.local_memory_bytes);
    out.steps.push_back(std::move(step));
  }
  return out;
}

using Numbers = std::vector<ClassTerms::Number>;

bool in_all(const std::vector<Numbers>& members, const ClassTerms::Number& number) {
  return std::all_of(members.begin(), members.end(), [&](const Numbers& numbers) {
    return std::any_of(numbers.begin(), numbers.end(),
                       [&](const ClassTerms::Number& other) { return other.same(number); });
  });
}

void put(const ClassTerms::Number& number, Expression of, PackageContents& out) {
  out.class_terms.push_back(std::move(of));
  out.class_kinds.push_back(number.kinds);
  out.class_terms.insert(out.class_terms.end(), number.tiles.begin(), number.tiles.end());
  out.class_kinds.resize(out.class_terms.size(), kClassTile);
}

Status derive_family(const KernelDescription& description, const ExpressionNames& names,
                     PackageContents& out) {
  std::vector<Numbers> members;
  for (std::size_t m = 0; m < description.members.size(); ++m) {
    const DescribedMember& member = description.members[m];
    std::uint32_t variable = 0;
    for (std::size_t p = 0; p < names.parameters.size(); ++p) {
      const auto& own = member.parameters;
      if (std::find(own.begin(), own.end(), names.parameters[p]) != own.end()) {
        variable |= std::uint32_t{1} << p;
      }
    }
    if (member.classes.none) return Status();
    const PackageContents contents = with_member(out, m, variable);
    ClassTerms terms(contents, variable);
    Status status = add_described(member.classes, names, description.where, terms);
    if (!status.ok()) return status;
    members.push_back(terms.derive());
  }
  const ClassTerms terms(out, 0);
  for (std::size_t m = 0; m < members.size(); ++m) {
    Expression runs;
    Status status =
        optional_expression({names.parameters[0] + " == " + std::to_string(m), ""}, names, runs);
    if (!status.ok()) return status;
    for (const ClassTerms::Number& number : members[m]) {
      const bool shared = in_all(members, number);
      if (shared && m > 0) continue;
      put(number, shared ? number.number : terms.guarded(number.number, runs), out);
    }
  }
  return Status();
}

}  // namespace

Status invalid(const std::string& where, const std::string& what) {
  return Status(StatusCode::invalid_argument, (where.empty() ? "" : where + ": ") + what);
}

Result<Expression> described_expression(const DescribedExpression& described,
                                        const ExpressionNames& names) {
  Result<Expression> expression = parse_expression(described.text, names);
  if (expression.ok()) return expression;
  return invalid(described.where, expression.status().message() + " in '" + described.text + "'");
}

Status optional_expression(const DescribedExpression& described, const ExpressionNames& names,
                           Expression& out) {
  if (described.empty()) return Status();
  Result<Expression> expression = described_expression(described, names);
  if (expression.ok()) out = std::move(*expression);
  return expression.ok() ? Status() : expression.status();
}

Status derive_classes(const KernelDescription& description, const ExpressionNames& names,
                      PackageContents& out) {
  if (description.classes.none) return Status();
  if (!description.members.empty()) {
    if (Status status = derive_family(description, names, out); !status.ok()) return status;
  } else {
    ClassTerms terms(out, ~0u);
    Status status = add_described(description.classes, names, description.where, terms);
    if (!status.ok()) return status;
    for (const ClassTerms::Number& number : terms.derive()) put(number, number.number, out);
  }
  // Beyond what a package can hold, each shape is a class of its own.
  if (out.class_terms.size() > kMaxClassTerms) out.class_terms.clear(), out.class_kinds.clear();
  return Status();
}

}  // namespace idletune::package
