#include <idletune/opencl.hpp>

#include <utility>

#include "platform/opencl/buffer.hpp"
#include "platform/request_checks.hpp"

namespace idletune::opencl {
namespace {

class OpenclQueue final : public ApplicationQueue {
 public:
  explicit OpenclQueue(std::shared_ptr<Session> session) : session_(std::move(session)) {}

  void* handle() const override { return session_->application; }
  Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override {
    return allocate_buffer(session_, bytes);
  }

  Status write(Buffer& to, std::size_t offset, Bytes data) override {
    Status ready = before(to, offset, data.size());
    if (!ready.ok() || data.empty()) return ready;
    return to_status(
        api().EnqueueWriteBuffer(session_->application, memory_of(to), CL_FALSE, offset,
                                 data.size(), data.data(), 0, nullptr, nullptr),
        "clEnqueueWriteBuffer");
  }

  Status read(const Buffer& from, std::size_t offset, MutableBytes data) override {
    Status ready = before(from, offset, data.size());
    if (!ready.ok() || data.empty()) return ready;
    return to_status(api().EnqueueReadBuffer(session_->application, memory_of(from), CL_TRUE,
                                             offset, data.size(), data.data(), 0, nullptr, nullptr),
                     "clEnqueueReadBuffer");
  }

  Status copy(const Buffer& from, std::size_t from_offset, Buffer& to, std::size_t to_offset,
              std::size_t bytes) override {
    Status ready = check_range(from, from_offset, bytes);
    if (ready.ok()) ready = before(to, to_offset, bytes);
    if (!ready.ok() || bytes == 0) return ready;
    return to_status(api().EnqueueCopyBuffer(session_->application, memory_of(from), memory_of(to),
                                             from_offset, to_offset, bytes, 0, nullptr, nullptr),
                     "clEnqueueCopyBuffer");
  }

  Status wait() override { return to_status(api().Finish(session_->application), "clFinish"); }

 private:
  const Api& api() const { return *session_->api; }
  Status before(const Buffer& buffer, std::size_t offset, std::size_t bytes) const {
    Status fit = check_range(buffer, offset, bytes);
    return fit.ok() ? keep_order(*session_) : fit;
  }

  std::shared_ptr<Session> session_;
};

}  // namespace

Result<std::unique_ptr<ApplicationQueue>> application_queue(Device& device) {
  std::shared_ptr<Session> session = session_of(device);
  if (session == nullptr) {
    return {StatusCode::invalid_argument, "got a device of %, expected one of OpenCL",
            device.info().backend};
  }
  session->ordered.store(true);  // launches as well, from now on
  return std::unique_ptr<ApplicationQueue>(new OpenclQueue(std::move(session)));
}

}  // namespace idletune::opencl
