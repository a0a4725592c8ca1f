#include "tests/emulated_cuda/ptx_parser.hpp"

#include <algorithm>

#include "platform/cuda/driver_api.hpp"
#include "tests/emulated_cuda/declarations.hpp"
#include "tests/emulated_cuda/kernel_parser.hpp"
#include "tests/emulated_cuda/problem.hpp"
#include "tests/emulated_cuda/ptx_text.hpp"

namespace emulated_cuda {
namespace {

constexpr std::size_t kMostGlobalBytes = std::size_t{1} << 26;  // of all variables of a module

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), module_(std::make_unique<Module>()) {
    module_->source_places.emplace_back();
  }

  std::unique_ptr<Module> parse() {
    for (text_.skip_blanks(); !text_.at_end(); text_.skip_blanks()) {
      if (!whole_line()) declaration();
    }
    if (module_->version.empty()) text_.fail("no .version: this is no PTX");
    place_names();
    for (auto& kernel : module_->kernels) kernel->module = module_.get();
    return std::move(module_);
  }

 private:
  bool whole_line() {
    if (text_.at_word(".version")) {
      module_->version = trimmed(text_.rest_of_line().substr(8));
      check_version();
    } else if (text_.at_word(".target")) {
      module_->target = trimmed(text_.rest_of_line().substr(7));
    } else if (text_.at_word(".file")) {
      file(text_.rest_of_line());
    } else if (text_.at_word(".section")) {
      while (!text_.at_end() && text_.next() != '{') text_.skip_character();
      text_.skip_braces();
    } else if (text_.at_word(".address_size")) {
      if (trimmed(text_.rest_of_line().substr(13)) != "64") text_.fail("addresses of another size");
    } else {
      return false;
    }
    return true;
  }

  void check_version() const {
    std::uint64_t major = 0;
    if (!parse_integer(module_->version.substr(0, module_->version.find('.')), major)) {
      text_.fail("version '" + module_->version + "'");
    }
    if (major <= kNewestPtxMajor) return;
    throw Problem{idletune::cuda::kUnsupportedPtxVersion, "PTX of version " + module_->version +
                                                              ", known are those up to " +
                                                              std::to_string(kNewestPtxMajor)};
  }

  // .file 1 "folder/name", time, size
  void file(const std::string& line) {
    const auto words = words_of(line);
    const std::size_t open = line.find('"');
    const std::size_t close = line.find('"', open + 1);
    std::uint64_t number = 0;
    if (words.size() < 3 || !parse_integer(words[1], number) || close == std::string::npos) {
      text_.fail("a file: " + line);
    }
    const std::string path = line.substr(open + 1, close - open - 1);
    module_->files[static_cast<unsigned>(number)] = path.substr(path.rfind('/') + 1);
  }

  void declaration() {
    const int line = text_.line();
    char end = '\0';
    const std::string head = text_.until(";{=", end);
    const auto words = words_of(head.substr(0, head.find('(')));
    const auto is = [&](const char* word) {
      return std::find(words.begin(), words.end(), word) != words.end();
    };
    if (is(".entry") && end == '{') {
      kernel(head, line);
    } else if (is(".func") || is(".entry") || is(".alias")) {
      PtxText::fail_at(line, "unsupported: " + trimmed(head).substr(0, 60));
    } else if (end == '{') {
      PtxText::fail_at(line, "unknown: " + trimmed(head).substr(0, 60));
    } else {
      std::string initial;
      if (end == '=') initial = text_.until(";", end);
      add_variable(head, initial, line);
    }
  }

  void add_variable(const std::string& head, const std::string& initial, int line) {
    const Declaration declared = parse_declaration(head, line);
    if (names_.count(declared.name) != 0) {
      PtxText::fail_at(line, "'" + declared.name + "' stands twice");
    }
    if (declared.space == Space::shared) {
      names_[declared.name] = place_in(shared_bytes_, declared, line);
      return;
    }
    if (declared.space != Space::global && declared.space != Space::constant) {
      PtxText::fail_at(line, "unknown: " + trimmed(head).substr(0, 60));
    }
    global_bytes_ += declared.bytes;
    if (global_bytes_ > kMostGlobalBytes) PtxText::fail_at(line, "variables of too many bytes");
    GlobalVariable variable;
    variable.name = declared.name;
    variable.space = declared.space;
    variable.initial = initial_bytes(declared, initial, line);
    names_[declared.name] = {declared.space, 0, static_cast<int>(module_->variables.size())};
    module_->variables.push_back(std::move(variable));
  }

  void kernel(const std::string& head, int line) {
    auto kernel = std::make_unique<Kernel>();
    kernel->shared_bytes = shared_bytes_;
    KernelParser parser(text_, *kernel, *module_);
    parser.parse_head(head, line);
    if (module_->find(kernel->name) != nullptr) {
      PtxText::fail_at(line, "two kernels are called '" + kernel->name + "'");
    }
    for (const auto& [name, variable] : names_) parser.operands().declare_variable(name, variable);
    parser.parse_body();
    module_->kernels.push_back(std::move(kernel));
  }

  // Files are named behind the kernels: until then places begin with the file's number.
  void place_names() {
    for (std::string& place : module_->source_places) {
      std::string text;
      for (const std::string& part : split(place, ' ')) {
        std::uint64_t number = 0;
        const std::size_t colon = part.find(':');
        if (colon == std::string::npos || !parse_integer(part.substr(0, colon), number)) continue;
        const auto file = module_->files.find(static_cast<unsigned>(number));
        if (!text.empty()) text += ", inlined at ";
        text += (file != module_->files.end() ? file->second : "?") + part.substr(colon);
      }
      place = text;
    }
  }

  PtxText text_;
  std::unique_ptr<Module> module_;
  std::map<std::string, Variable> names_;
  std::size_t shared_bytes_ = 0;
  std::size_t global_bytes_ = 0;
};

}  // namespace

const Kernel* Module::find(const std::string& name) const {
  for (const auto& kernel : kernels) {
    if (kernel->name == name) return kernel.get();
  }
  return nullptr;
}

std::unique_ptr<Module> parse_ptx(std::string_view text) { return Parser(text).parse(); }

}  // namespace emulated_cuda
