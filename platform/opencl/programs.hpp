// Where a device's programs come from: the cache of binaries, or the driver's compiler.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <idletune/device.hpp>
#include <idletune/opencl.hpp>
#include <idletune/result.hpp>

#include "platform/binary_cache.hpp"
#include "platform/opencl/program.hpp"
#include "platform/opencl/session.hpp"

namespace idletune::opencl {

// Used by one thread at a time.
class Programs {
 public:
  Programs(std::shared_ptr<Session> session, const OpenOptions& options);

  // Errors: those of Device::compile.
  Result<std::unique_ptr<OpenclProgram>> get(const CompileRequest& request);
  bool fits(const PrebuiltBinary& binary) const;
  // Unless there is a cache already.
  void keep_in(const std::string& folder) { cache_.begin_in(folder); }
  const BinaryCache& cache() const { return cache_; }
  const CacheCounters& counters() const { return counters_; }

 private:
  std::unique_ptr<OpenclProgram> from_prebuilt(const CompileRequest& request);
  std::unique_ptr<OpenclProgram> from_cache(const BinaryKey& key, const CompileRequest& request);
  Result<std::unique_ptr<OpenclProgram>> from_binary(Bytes binary, const CompileRequest& request);
  Result<std::unique_ptr<OpenclProgram>> from_source(const CompileRequest& request);
  void keep(const BinaryKey& key, const OpenclProgram& program);

  std::shared_ptr<Session> session_;
  BinaryCache cache_;
  CacheCounters counters_;
};

}  // namespace idletune::opencl
