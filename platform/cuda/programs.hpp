// Where a device's programs come from: the cache of compiled images, or NVRTC.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <idletune/cuda.hpp>
#include <idletune/device.hpp>
#include <idletune/result.hpp>

#include "platform/binary_cache.hpp"
#include "platform/cuda/program.hpp"
#include "platform/cuda/session.hpp"

namespace idletune::cuda {

// Used by one thread at a time.
class Programs {
 public:
  Programs(std::shared_ptr<Session> session, const OpenOptions& options);

  // Errors: those of Device::compile.
  Result<std::unique_ptr<CudaProgram>> get(const CompileRequest& request);
  bool fits(const PrebuiltBinary& binary) const;
  // Unless there is a cache already.
  void keep_in(const std::string& folder) { cache_.begin_in(folder); }
  const BinaryCache& cache() const { return cache_; }
  const CacheCounters& counters() const { return counters_; }

 private:
  std::unique_ptr<CudaProgram> from_prebuilt(const CompileRequest& request, Status& refused);
  using Image = std::vector<std::uint8_t>;

  BinaryKey key_of(const CompileRequest& request) const;
  Result<std::unique_ptr<CudaProgram>> load(const Image& image, const CompileRequest& request);
  bool find_image(const BinaryKey& key, Image& image);
  std::unique_ptr<CudaProgram> from_cache(const BinaryKey& key, const CompileRequest& request);
  Result<Image> compile_image(const CompileRequest& request) const;
  void keep(const BinaryKey& key, const Image& image);

  std::shared_ptr<Session> session_;
  BinaryCache cache_;
  CacheCounters counters_;
};

}  // namespace idletune::cuda
