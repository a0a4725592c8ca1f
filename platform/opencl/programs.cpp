#include "platform/opencl/programs.hpp"

#include <utility>
#include <vector>

#include "models/core/digest.hpp"

namespace idletune::opencl {

Programs::Programs(std::shared_ptr<Session> session, const OpenOptions& options)
    : session_(std::move(session)), cache_(options.cache_folder, options.cache_limit_bytes) {}

Result<std::unique_ptr<OpenclProgram>> Programs::get(const CompileRequest& request) {
  const BinaryKey key{session_->info.driver_key(), digest_of(request.source),
                      Digest().add(request.entry).add(request.options).value()};
  if (auto prebuilt = from_prebuilt(request)) return prebuilt;
  if (auto cached = from_cache(key, request)) return cached;
  auto built = from_source(request);
  if (built.ok() && request.keep) keep(key, **built);
  return built;
}

// Only the driver that made it is known to read it without dying.
bool Programs::fits(const PrebuiltBinary& binary) const {
  return binary.format == BinaryFormat::opencl_binary &&
         binary.made_for == session_->info.driver_key();
}

// Null where none fits, or the driver does not want it.
std::unique_ptr<OpenclProgram> Programs::from_prebuilt(const CompileRequest& request) {
  for (const PrebuiltBinary& binary : request.prebuilt) {
    if (!fits(binary)) continue;
    if (auto built = from_binary(binary.bytes, request); built.ok()) {
      return std::move(*built);
    }
  }
  return nullptr;
}

Result<std::unique_ptr<OpenclProgram>> Programs::from_binary(Bytes binary,
                                                             const CompileRequest& request) {
  const unsigned char* bytes = binary.data();
  const std::size_t size = binary.size();
  cl_int device_status = CL_SUCCESS;
  cl_int error = CL_SUCCESS;
  cl_program program = session_->api->CreateProgramWithBinary(
      session_->context, 1, &session_->device, &size, &bytes, &device_status, &error);
  if (program == nullptr || error != CL_SUCCESS) {
    return creation_failure(error, "clCreateProgramWithBinary");
  }
  return OpenclProgram::build(session_, program, request);
}

std::unique_ptr<OpenclProgram> Programs::from_cache(const BinaryKey& key,
                                                    const CompileRequest& request) {
  std::vector<std::uint8_t> binary;
  const BinaryCache::Lookup found = cache_.find(key, binary);
  if (found == BinaryCache::Lookup::absent) {
    if (cache_.enabled()) ++counters_.misses;
    return nullptr;
  }
  if (found == BinaryCache::Lookup::damaged) {
    ++counters_.rejected;
    return nullptr;
  }
  auto built = from_binary(binary, request);
  if (built.ok()) {
    ++counters_.hits;
    return std::move(*built);
  }
  ++counters_.rejected;  // intact, but the driver does not want it: compile afresh
  cache_.drop(key);
  return nullptr;
}

Result<std::unique_ptr<OpenclProgram>> Programs::from_source(const CompileRequest& request) {
  if (!session_->info.has_compiler) {
    return {StatusCode::unsupported,
            "kernel '%' has no prebuilt binary for driver '%', and the driver has no compiler",
            request.entry, session_->info.driver};
  }
  const char* text = request.source.data();
  const std::size_t length = request.source.size();
  cl_int error = CL_SUCCESS;
  cl_program program =
      session_->api->CreateProgramWithSource(session_->context, 1, &text, &length, &error);
  if (program == nullptr || error != CL_SUCCESS) {
    return creation_failure(error, "clCreateProgramWithSource");
  }
  return OpenclProgram::build(session_, program, request);
}

void Programs::keep(const BinaryKey& key, const OpenclProgram& program) {
  if (!cache_.enabled()) return;
  const std::vector<std::uint8_t> binary = program.binary();
  if (!binary.empty() && cache_.store(key, binary).ok()) {
    ++counters_.stored;
  } else {
    ++counters_.store_errors;
  }
}

}  // namespace idletune::opencl
