// The files that a verb writes: one way out for all verbs.
#pragma once

#include "agent/host/report/common.hpp"

#include <idletune/span.hpp>

namespace idletune::cli {

// What is written. A file of another kind is replaced only where the user insists.
enum class FileKind : std::uint8_t {
  history,
  package,  // also a compressed one
  model,
  capture,
  page,
  curves,
  measurements,  // JSON of other tuners' formats
  profile,
  code,
  pushed  // a model or a package
};

struct Output {
  std::string path;  // "-": standard output
  FileKind kind = FileKind::history;
  Bytes data;
};

inline Bytes bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// A plain file is replaced as a whole by a new one beside it, links are followed, and devices,
// pipes and standard output are written into. What the call reads, folders, disks and files of
// another kind are refused (invalid_argument). Used by one thread.
class Outputs {
 public:
  Outputs() = default;
  ~Outputs();
  Outputs(const Outputs&) = delete;
  Outputs& operator=(const Outputs&) = delete;

  // `words` are those of the call that may name what it reads. `insist`: replace that as well, and
  // files of any kind.
  void begin(std::vector<std::string> words, bool insist);
  // Before the work: whether the file can be written. `beside`: something stays beside it, so that
  // nothing but a plain file will do. Errors: invalid_argument (also for a file that was named for
  // another kind), and those of opening.
  Status check(const std::string& path, FileKind kind, bool beside = false);
  // The same of a folder that is made where it is missing. Errors: invalid_argument, read_only.
  static Status check_folder(const std::string& path);
  // All of them, or none. Errors: as above, and those of writing.
  Status write(const std::vector<Output>& outputs);
  bool insists() const { return insists_; }
  // One of them is standard output, so that nothing else belongs there.
  bool take_standard_output() const { return takes_standard_output_; }

 private:
  struct Place;
  Result<Place> place_of(const std::string& path) const;
  Status open_into(const std::string& path, const std::string& real);
  Status check_replacing(const std::string& path, const std::string& real, FileKind kind) const;
  bool is_read(const std::string& path) const;

  std::vector<std::string> words_;
  bool insists_ = false;
  bool takes_standard_output_ = false;
  std::map<std::string, int> opened_;  // what is written into
  std::map<std::string, FileKind> claimed_;
};

}  // namespace idletune::cli
