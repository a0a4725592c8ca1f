// An application's queue that takes the caller's memory as late as it may, and has as little memory
// as a test says.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <idletune/application_queue.hpp>

namespace idletune::test {

class LateQueue final : public ApplicationQueue {
 public:
  explicit LateQueue(ApplicationQueue& queue) : queue_(queue) {}
  // So many more calls succeed.
  std::size_t allocations_left = SIZE_MAX;
  std::size_t writes_left = SIZE_MAX;
  // Of which the caller's memory was not waited for.
  std::size_t pending() const { return writes_.size(); }

  void* handle() const override { return queue_.handle(); }
  Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override {
    if (allocations_left == 0) return {StatusCode::out_of_memory, "the test's memory is used up"};
    --allocations_left;
    return queue_.allocate(bytes);
  }
  Status write(Buffer& to, std::size_t offset, Bytes data) override {
    if (writes_left == 0) return {StatusCode::device_error, "the test's device takes no more"};
    --writes_left;
    writes_.push_back({data, std::vector<std::uint8_t>(data.begin(), data.end())});
    return queue_.write(to, offset, data);
  }
  Status read(const Buffer& from, std::size_t offset, MutableBytes data) override {
    expect_unchanged();
    return queue_.read(from, offset, data);
  }
  Status copy(const Buffer& from, std::size_t from_offset, Buffer& to, std::size_t to_offset,
              std::size_t bytes) override {
    return queue_.copy(from, from_offset, to, to_offset, bytes);
  }
  Status wait() override {
    expect_unchanged();
    return queue_.wait();
  }

 private:
  void expect_unchanged() {
    for (const Write& write : writes_)
      CHECK(std::memcmp(write.from.data(), write.then.data(), write.then.size()) == 0);
    writes_.clear();
  }
  struct Write {
    Bytes from;
    std::vector<std::uint8_t> then;
  };
  ApplicationQueue& queue_;
  std::vector<Write> writes_;
};

}  // namespace idletune::test
