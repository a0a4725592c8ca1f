// What an agent of the lives is given in place of threads, storage and files.
#pragma once

#include <memory>
#include <string>

#include "agent/tuning/surroundings.hpp"
#include "tests/lives/process.hpp"

namespace idletune::lives {

class PlayedParts final : public detail::PlayedSurroundings {
 public:
  explicit PlayedParts(const ProcessParts& parts) : parts_(parts) {}
  std::unique_ptr<detail::PlayedJobs> jobs() override {
    return std::make_unique<PlayedWorker>(*parts_.time);
  }
  std::unique_ptr<Storage> storage() override { return test::open_faulty_storage(parts_.disk); }
  detail::LaunchTrace::Page* trace() override {
    parts_.page->resize(sizeof(detail::LaunchTrace::Page) / sizeof(std::uint64_t));
    return reinterpret_cast<detail::LaunchTrace::Page*>(parts_.page->data());
  }

  bool read_beginning(const std::string& path, MutableBytes out) override {
    return parts_.files->read_beginning(path, out);
  }
  Status write(const std::string& path, Bytes data, FileSync sync) override {
    return parts_.files->write(path, data, sync);
  }

 private:
  const ProcessParts& parts_;
};

}  // namespace idletune::lives
