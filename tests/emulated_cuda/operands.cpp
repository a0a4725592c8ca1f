#include "tests/emulated_cuda/operands.hpp"

#include <cstring>

#include "tests/emulated_cuda/ptx_text.hpp"

namespace emulated_cuda {
namespace {

constexpr std::size_t kMostRegisterBytes = std::size_t{64} << 20;  // of a warp
constexpr std::size_t kMostRegisters = 50000;
constexpr const char* kSpecialRegisters[] = {"%tid.x",       "%tid.y",       "%tid.z",
                                             "%ntid.x",      "%ntid.y",      "%ntid.z",
                                             "%ctaid.x",     "%ctaid.y",     "%ctaid.z",
                                             "%nctaid.x",    "%nctaid.y",    "%nctaid.z",
                                             "%laneid",      "%warpid",      "%nwarpid",
                                             "%lanemask_lt", "%lanemask_le", "%lanemask_eq",
                                             "%lanemask_ge", "%lanemask_gt", "%dynamic_smem_size"};

template <class To, class From>
To bits_of(From from) {
  To to = 0;
  std::memcpy(&to, &from, sizeof from);
  return to;
}

// "0f3F800000", "0d3FF0000000000000", integers. False: not a number.
bool parse_number(const std::string& text, Type type, std::uint64_t& value) {
  const char kind = text.size() > 2 && text[0] == '0' ? text[1] : ' ';
  if ((kind == 'f' || kind == 'F') && text.size() == 10) {
    if (!parse_integer("0x" + text.substr(2), value)) return false;
    if (type != Type::f64) return true;
    float number;
    const auto bits = static_cast<std::uint32_t>(value);
    std::memcpy(&number, &bits, sizeof number);
    value = bits_of<std::uint64_t>(static_cast<double>(number));
    return true;
  }
  if ((kind == 'd' || kind == 'D') && text.size() == 18) {
    return type == Type::f64 && parse_integer("0x" + text.substr(2), value);
  }
  return parse_integer(text, value);
}

}  // namespace

void Operands::fail(const std::string& what) const { PtxText::fail_at(line_, what); }

void Operands::close_scope() {
  if (scopes_.size() > 1) scopes_.pop_back();
}

Operand Operands::new_register(Type type) {
  Operand made;
  made.is_predicate = type == Type::pred;
  made.is_wide = is_wide(type);
  made.offset = static_cast<std::uint32_t>(kernel_.register_bytes);
  made.mark = static_cast<std::uint32_t>(kernel_.marks++);
  const std::size_t each = made.is_wide ? 8 : 4;
  kernel_.register_bytes += made.is_predicate ? 8 : each * kWarpThreads;
  if (kernel_.register_bytes > kMostRegisterBytes || kernel_.marks > kMostRegisters)
    fail("too many registers");
  return made;
}

void Operands::declare_registers(const std::string& declaration) {
  const auto words = words_of(declaration);
  if (words.size() < 3 || words[1][0] != '.') fail("a declaration of registers: " + declaration);
  const Type type = type_named(std::string_view(words[1]).substr(1));
  if (type == Type::none) fail("registers of type " + words[1]);
  const std::size_t names = declaration.find(words[1]) + words[1].size();
  for (const std::string& name : split(declaration.substr(names), ',')) {
    const std::size_t open = name.find('<');
    const std::uint64_t each = type == Type::pred ? 0 : is_wide(type) ? 2 : 1;
    if (open == std::string::npos) {
      kernel_.named_registers += each;
      scopes_.back()[name] = new_register(type);
      continue;
    }
    std::uint64_t count = 0;
    const std::size_t close = name.find('>', open);
    if (close == std::string::npos ||
        !parse_integer(name.substr(open + 1, close - open - 1), count) ||
        count > kMostRegisterBytes) {
      fail("a number of registers: " + name);
    }
    kernel_.named_registers += each * count;
    for (std::uint64_t i = 0; i < count; ++i) {
      scopes_.back()[name.substr(0, open) + std::to_string(i)] = new_register(type);
    }
  }
}

void Operands::declare_variable(const std::string& name, const Variable& variable) {
  variables_[name] = variable;
}

void Operands::declare_parameter(const std::string& name, std::size_t offset) {
  parameters_[name] = offset;
}

Operand Operands::constant(std::uint64_t value, Type type, int variable) {
  const bool wide = is_wide(type);
  const bool is_predicate = type == Type::pred;
  if (is_predicate) value = value != 0 ? kAllThreads : 0;
  if (!wide) value &= 0xffffffff;
  if (size_of(type) == 2) value &= 0xffff;
  const int kind = is_predicate ? 1 : wide ? 2 : 0;
  const auto key = std::make_pair(value, std::make_pair(kind, variable));
  const auto known = constants_.find(key);
  if (known != constants_.end()) return known->second;
  Operand made;
  made.is_constant = true;
  made.is_wide = wide;
  made.is_predicate = is_predicate;
  made.offset = static_cast<std::uint32_t>(kernel_.constant_bytes);
  kernel_.constant_bytes += is_predicate ? 8 : (wide ? 8 : 4) * kWarpThreads;
  kernel_.constants.push_back({made, value, variable});
  return constants_[key] = made;
}

const Operand* Operands::register_named(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->find(name);
    if (found != scope->end()) return &found->second;
  }
  return nullptr;
}

bool Operands::special_register(const std::string& name, Operand& found) {
  for (const char* known : kSpecialRegisters) {
    if (name != known) continue;
    auto place = kernel_.special_registers.find(name);
    if (place == kernel_.special_registers.end()) {
      Operand made = new_register(Type::u32);
      made.mark = 0;
      place = kernel_.special_registers.emplace(name, made).first;
    }
    found = place->second;
    return true;
  }
  return false;
}

// "name", "name+8"
bool Operands::variable_address(const std::string& text, Type type, Operand& found) {
  const std::size_t sign = text.find('+');
  const auto variable = variables_.find(trimmed(text.substr(0, sign)));
  if (variable == variables_.end()) return false;
  std::uint64_t more = 0;
  if (sign != std::string::npos && !parse_integer(trimmed(text.substr(sign + 1)), more)) {
    return false;
  }
  found = constant(variable->second.offset + more, type, variable->second.global);
  return true;
}

void Operands::check_size(const std::string& text, const Operand& operand, Type type) const {
  if (operand.is_predicate != (type == Type::pred)) {
    fail("'" + text + "' where " + (type == Type::pred ? "a predicate" : "a value") +
         " is expected");
  }
  if (operand.is_wide != is_wide(type)) fail("'" + text + "' is of another size");
}

Operand Operands::source(const std::string& text, Type type) {
  const Operand found = loose_source(text, type);
  check_size(text, found, type);
  return found;
}

Operand Operands::loose_source(const std::string& text, Type type) {
  if (const Operand* known = register_named(text)) {
    if (known->is_predicate != (type == Type::pred)) check_size(text, *known, type);
    if (is_wide(type) && !known->is_wide) fail("'" + text + "' is of another size");
    return *known;
  }
  Operand found;
  std::uint64_t value = 0;
  if (parse_number(text, type, value)) return constant(value, type);
  if (text == "WARP_SZ") return constant(kWarpThreads, type);
  if (special_register(text, found)) return found;
  if (type != Type::pred && size_of(type) >= 4 && variable_address(text, type, found)) return found;
  fail("operand '" + text + "' is not known");
}

Operand Operands::predicate(const std::string& text) {
  if (text.empty() || text[0] != '!') return source(text, Type::pred);
  Operand found = source(text.substr(1), Type::pred);
  found.negated = true;
  return found;
}

Operand Operands::loose_result(const std::string& text, Type type) {
  if (text == "_") return new_register(type);
  const Operand* known = register_named(text);
  if (known == nullptr) fail("'" + text + "' is no register to be written");
  if (known->is_predicate != (type == Type::pred) || (is_wide(type) && !known->is_wide)) {
    check_size(text, *known, type);
  }
  return *known;
}

Operand Operands::result(const std::string& text, Type type) {
  const Operand found = loose_result(text, type);
  check_size(text, found, type);
  return found;
}

void Operands::results(const std::string& text, Type type, Instruction& instruction) {
  const auto both = split(text, '|');
  if (both.empty() || both.size() > 2) fail("results '" + text + "'");
  instruction.result = result(both[0], type);
  instruction.has_second_result = both.size() == 2;
  if (instruction.has_second_result) instruction.second_result = result(both[1], Type::pred);
}

void Operands::address(const std::string& text, Instruction& instruction) {
  if (text.size() < 3 || text.front() != '[' || text.back() != ']') fail("address '" + text + "'");
  std::string base = trimmed(std::string_view(text).substr(1, text.size() - 2));
  const std::size_t sign = base.find_first_of("+-", 1);
  instruction.immediate = 0;
  if (sign != std::string::npos) {
    std::uint64_t more = 0;
    if (!parse_integer(trimmed(base.substr(sign + 1)), more)) fail("address '" + text + "'");
    if (base[sign] == '-') more = 0 - more;
    instruction.immediate = static_cast<std::int64_t>(more);
    base = trimmed(base.substr(0, sign));
  }
  if (instruction.space == Space::parameter) {
    const auto parameter = parameters_.find(base);
    if (parameter != parameters_.end()) {
      instruction.a = constant(parameter->second, Type::u64);
      return;
    }
  }
  const Operand* known = register_named(base);
  instruction.a = known != nullptr ? *known : source(base, Type::u64);
  if (instruction.a.is_predicate) fail("address '" + text + "'");
}

void Operands::vector(const std::string& text, Type type, bool is_result,
                      Instruction& instruction) {
  std::vector<std::string> parts{text};
  if (!text.empty() && text[0] == '{') {
    if (text.back() != '}') fail("vector '" + text + "'");
    parts = split(std::string_view(text).substr(1, text.size() - 2), ',');
  }
  if (parts.empty() || parts.size() > kMostElements) fail("vector '" + text + "'");
  instruction.elements = static_cast<std::uint8_t>(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    instruction.vector[i] = is_result ? loose_result(parts[i], type) : loose_source(parts[i], type);
    if (instruction.vector[i].is_predicate) fail("vector '" + text + "'");
  }
}

std::uint64_t Operands::number(const std::string& text) const {
  std::uint64_t value = 0;
  if (!parse_integer(text, value)) fail("'" + text + "' where a number is expected");
  return value;
}

}  // namespace emulated_cuda
