#include "tests/emulated_cuda/kernel_parser.hpp"

#include <algorithm>

#include "tests/emulated_cuda/declarations.hpp"
#include "tests/emulated_cuda/instruction_table.hpp"

namespace emulated_cuda {
namespace {

constexpr std::size_t kMostParameterBytes = 32764;
constexpr std::size_t kMostInstructions = std::size_t{1} << 22;

}  // namespace

void KernelParser::parse_head(const std::string& head, int line) {
  const std::size_t entry = head.find(".entry");
  const std::size_t open = std::min(head.find('(', entry), head.size());
  const std::size_t close = std::min(head.find(')', open), head.size());
  kernel_.name = trimmed(head.substr(entry + 6, open - entry - 6));
  if (words_of(kernel_.name).size() != 1) PtxText::fail_at(line, "a kernel without a name");
  if (open < head.size()) parameters(head.substr(open + 1, close - open - 1), line);
  if (close < head.size()) thread_limits(head.substr(close + 1), line);
}

void KernelParser::parameters(const std::string& list, int line) {
  for (const std::string& text : split(list, ',')) {
    const Declaration declared = parse_declaration(text, line);
    if (declared.space != Space::parameter) {
      PtxText::fail_at(line, "unknown parameter '" + text + "'");
    }
    const Variable place = place_in(kernel_.parameter_bytes, declared, line);
    kernel_.parameters.push_back({place.offset, declared.bytes});
    operands_.declare_parameter(declared.name, place.offset);
    if (kernel_.parameter_bytes > kMostParameterBytes) {
      PtxText::fail_at(line, "parameters of more than 32,764 bytes");
    }
  }
}

// ".maxntid 128, 1, 1 .minnctapersm 2", ".maxnreg 32"
void KernelParser::thread_limits(const std::string& text, int line) {
  std::string spaced = text;
  std::replace(spaced.begin(), spaced.end(), ',', ' ');
  const auto words = words_of(spaced);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == ".maxnreg") {
      const bool is_said =
          i + 1 < words.size() && parse_integer(words[i + 1], kernel_.most_registers);
      if (!is_said || kernel_.most_registers == 0) PtxText::fail_at(line, words[i]);
    }
    const bool is_exact = words[i] == ".reqntid";
    if (!is_exact && words[i] != ".maxntid") continue;
    std::uint64_t threads = 1;
    std::uint64_t factor = 0;
    for (std::size_t k = i + 1; k < words.size() && parse_integer(words[k], factor); ++k) {
      if (factor == 0 || factor > 65536 || threads > 65536) PtxText::fail_at(line, words[i]);
      threads *= factor;
    }
    (is_exact ? kernel_.exact_threads : kernel_.most_threads) = threads;
  }
}

void KernelParser::parse_body() {
  int depth = 1;
  for (;;) {
    text_.skip_blanks();
    if (text_.at_end()) text_.fail("the text ends in kernel '" + kernel_.name + "'");
    const int line = text_.line();
    operands_.set_line(line);
    if (text_.next() == '{') {
      text_.skip_character();
      operands_.open_scope();
      ++depth;
    } else if (text_.next() == '}') {
      text_.skip_character();
      operands_.close_scope();
      if (--depth == 0) break;
    } else if (text_.at_word(".loc")) {
      location(text_.rest_of_line());
    } else if (const std::string name = text_.label(); !name.empty()) {
      label(name, line);
    } else {
      char end = '\0';
      statement(text_.until(";", end), line);
    }
  }
  Instruction last;  // what runs over the end has returned
  last.flow = Flow::leave;
  last.has_result = false;
  last.cost = Cost::none;
  last.line = text_.line();
  kernel_.code.push_back(last);
  resolve_labels();
}

void KernelParser::label(const std::string& name, int line) {
  text_.skip_blanks();
  const bool is_list = text_.at_word(".branchtargets");
  if (labels_.count(name) != 0 || target_lists_.count(name) != 0) {
    PtxText::fail_at(line, "label '" + name + "' stands twice");
  }
  if (!is_list) {
    labels_[name] = static_cast<int>(kernel_.code.size());
    return;
  }
  char end = '\0';
  target_lists_[name] = split(text_.until(";", end).substr(14), ',');
}

// .loc 1 24 3, function_name f, inlined_at 1 11 5
void KernelParser::location(const std::string& line) {
  std::string spaced = line;
  std::replace(spaced.begin(), spaced.end(), ',', ' ');
  const auto words = words_of(spaced);
  if (words.size() < 3) text_.fail("a location: " + line);
  std::string place = words[1] + ":" + words[2];
  for (std::size_t i = 3; i + 2 < words.size(); ++i) {
    if (words[i] == "inlined_at") place += " " + words[i + 1] + ":" + words[i + 2];
  }
  auto& known = known_sources_[place];
  if (known == 0) {
    known = static_cast<std::uint32_t>(module_.source_places.size());
    module_.source_places.push_back(place);
  }
  source_ = known;
}

void KernelParser::statement(const std::string& text, int line) {
  const std::string whole = trimmed(text);
  if (whole.empty()) return;
  if (whole[0] == '.') {
    directive(whole, line);
  } else {
    instruction(whole, line);
  }
}

void KernelParser::directive(const std::string& text, int line) {
  const std::string name = text.substr(0, text.find_first_of(" \t\n"));
  if (name == ".pragma") return;
  if (name == ".reg") {
    operands_.declare_registers(text);
    return;
  }
  if (name != ".shared" && name != ".local") {
    PtxText::fail_at(line, "unsupported directive " + text.substr(0, 60));
  }
  const Declaration declared = parse_declaration(text, line);
  std::size_t& used = name == ".shared" ? kernel_.shared_bytes : kernel_.local_bytes;
  operands_.declare_variable(declared.name, place_in(used, declared, line));
}

void KernelParser::instruction(const std::string& text, int line) {
  const Statement statement(text, line);
  Instruction made;
  made.line = line;
  made.source = source_;
  decode(statement, operands_, made);
  if (made.flow == Flow::branch) jumps_.emplace_back(kernel_.code.size(), statement.operands[0]);
  if (made.flow == Flow::branch_index) {
    jumps_.emplace_back(kernel_.code.size(), statement.operands[1]);
  }
  const bool in_memory = made.cost == Cost::memory;
  if (in_memory && made.space != Space::local && made.space != Space::parameter) {
    kernel_.least_access_bytes = std::min(kernel_.least_access_bytes, size_of(made.type));
  }
  kernel_.code.push_back(std::move(made));
  if (kernel_.code.size() > kMostInstructions) PtxText::fail_at(line, "too many instructions");
}

int KernelParser::label_at(const std::string& name, int line) const {
  const auto found = labels_.find(name);
  if (found == labels_.end()) PtxText::fail_at(line, "label '" + name + "' is nowhere");
  return found->second;
}

void KernelParser::resolve_labels() {
  for (const auto& [at, name] : jumps_) {
    Instruction& jump = kernel_.code[at];
    if (jump.flow == Flow::branch) {
      jump.targets = {label_at(name, jump.line)};
      continue;
    }
    const auto list = target_lists_.find(name);
    if (list == target_lists_.end() || list->second.empty()) {
      PtxText::fail_at(jump.line, "list of labels '" + name + "' is nowhere");
    }
    for (const std::string& label : list->second) {
      jump.targets.push_back(label_at(label, jump.line));
    }
  }
}

}  // namespace emulated_cuda
