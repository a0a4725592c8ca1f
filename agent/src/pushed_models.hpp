// Which model an agent is to use: the one that it starts with, the ones that are pushed while it
// runs, and the way back.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <idletune/result.hpp>

#include "agent/src/model_file.hpp"

namespace idletune::detail {

// Owns the newest of them and the one before, and keeps their files. One thread at a time.
class PushedModels {
 public:
  // Reads what the option says, and puts the file's path there; empty: there is none. A file that
  // cannot be used costs nothing but itself: then the one before it serves. `trust` as in
  // AgentOptions. Errors: those of read_pushed_model, of the option's own file.
  Status open(std::string& option, const FileTrust* trust);
  // Null: there is none.
  const std::shared_ptr<const Model>& newest() const { return newest_.pushed.model; }
  // Agent::reload_model, Agent::rollback_model.
  Status reload(const std::string& path);
  Status rollback();
  // Whether the option's file is another one than was read last.
  bool was_replaced() const;

 private:
  // A model and the file it was read from.
  struct Read {
    PushedModel pushed;
    std::string path;
  };
  static Status write(const std::string& path, const PushedModel& pushed);

  Read newest_, previous_;
  std::string option_;
  const FileTrust* trust_ = nullptr;
  std::uint64_t stamp_ = 0;  // of its file when it was read last
};

}  // namespace idletune::detail
