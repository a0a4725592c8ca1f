#include "platform/cuda/programs.hpp"

#include <utility>

#include "models/core/digest.hpp"

namespace idletune::cuda {
namespace {

// A cached image begins with the version of the NVRTC that made it (little-endian).
constexpr std::size_t kVersionBytes = 4;

}  // namespace

Programs::Programs(std::shared_ptr<Session> session, const OpenOptions& options)
    : session_(std::move(session)), cache_(options.cache_folder, options.cache_limit_bytes) {}

Result<std::unique_ptr<CudaProgram>> Programs::get(const CompileRequest& request) {
  const BinaryKey key = key_of(request);
  Status refused;
  if (auto prebuilt = from_prebuilt(request, refused)) return prebuilt;
  if (auto cached = from_cache(key, request)) return cached;
  auto image = compile_image(request);
  if (!image.ok()) {
    if (refused.ok()) return image.status();
    return {image.status().code(), "%; of what was made ahead: %", image.status().message(),
            refused.message()};
  }
  auto program = load(*image, request);
  if (program.ok() && request.keep) keep(key, *image);
  return program;
}

// Machine code runs on its own architecture; PTX is compiled by the driver for any later one.
bool Programs::fits(const PrebuiltBinary& binary) const {
  const auto architecture = static_cast<std::uint64_t>(session_->architecture);
  if (binary.format == BinaryFormat::cubin) return binary.made_for == architecture;
  return binary.format == BinaryFormat::ptx && binary.made_for <= architecture;
}

// Machine code first: it needs no compiling. Null where none fits, or the driver does not want it:
// then `refused` says why.
std::unique_ptr<CudaProgram> Programs::from_prebuilt(const CompileRequest& request,
                                                     Status& refused) {
  for (const BinaryFormat format : {BinaryFormat::cubin, BinaryFormat::ptx}) {
    for (const PrebuiltBinary& binary : request.prebuilt) {
      if (binary.format != format || !fits(binary)) continue;
      const Image image(binary.bytes.begin(), binary.bytes.end());
      auto program = load(image, request);
      if (program.ok()) return std::move(*program);
      refused = program.status();
    }
  }
  return nullptr;
}

// Machine code depends on no driver: a new one need not compile anew.
BinaryKey Programs::key_of(const CompileRequest& request) const {
  const auto architecture = static_cast<std::uint64_t>(session_->architecture);
  return {Digest().add(session_->info.backend).add(architecture).value(), digest_of(request.source),
          Digest().add(request.entry).add(request.options).value()};
}

Result<std::unique_ptr<CudaProgram>> Programs::load(const Image& image,
                                                    const CompileRequest& request) {
  return CudaProgram::load(session_, image, std::string(request.entry), request.lanes);
}

// Whether the cache has an image that this device's NVRTC made; any version's will do where there
// is no NVRTC to make another.
bool Programs::find_image(const BinaryKey& key, Image& image) {
  switch (cache_.find(key, image)) {
    case BinaryCache::Lookup::hit: break;
    case BinaryCache::Lookup::absent:
      if (cache_.enabled()) ++counters_.misses;
      return false;
    case BinaryCache::Lookup::damaged: ++counters_.rejected; return false;
  }
  std::uint32_t version = 0;
  for (std::size_t i = 0; i < kVersionBytes && i < image.size(); ++i) {
    version |= std::uint32_t{image[i]} << (8 * i);
  }
  const bool usable = image.size() > kVersionBytes &&
                      (!session_->no_compiler.ok() ||
                       version == static_cast<std::uint32_t>(session_->nvrtc->version()));
  if (!usable) {
    ++counters_.misses;
    return false;
  }
  image.erase(image.begin(), image.begin() + kVersionBytes);
  return true;
}

std::unique_ptr<CudaProgram> Programs::from_cache(const BinaryKey& key,
                                                  const CompileRequest& request) {
  Image image;
  if (!find_image(key, image)) return nullptr;
  auto program = load(image, request);
  if (program.ok()) {
    ++counters_.hits;
    return std::move(*program);
  }
  if (program.code() == StatusCode::compile_error || program.code() == StatusCode::unsupported) {
    ++counters_.rejected;  // intact, but the driver does not want it: compile afresh
    cache_.drop(key);
  }
  return nullptr;
}

Result<Programs::Image> Programs::compile_image(const CompileRequest& request) const {
  if (!session_->no_compiler.ok()) {
    return {StatusCode::unsupported,
            "kernel '%' is not in the program cache and cannot be compiled: %", request.entry,
            session_->no_compiler.message()};
  }
  const Result<CodeTarget> target = session_->nvrtc->target_for(session_->architecture);
  if (!target.ok()) return target.status();
  return session_->nvrtc->compile(request.source, request.entry, request.options, *target);
}

void Programs::keep(const BinaryKey& key, const Image& image) {
  if (!cache_.enabled()) return;
  Image file;
  file.reserve(kVersionBytes + image.size());
  const auto version = static_cast<std::uint32_t>(session_->nvrtc->version());
  for (std::size_t i = 0; i < kVersionBytes; ++i) {
    file.push_back(static_cast<std::uint8_t>(version >> (8 * i)));
  }
  file.insert(file.end(), image.begin(), image.end());
  if (cache_.store(key, file).ok()) {
    ++counters_.stored;
  } else {
    ++counters_.store_errors;
  }
}

Result<std::vector<std::uint8_t>> compile_ahead(const CompileRequest& request, int architecture,
                                                BinaryFormat format, const OpenOptions& options) {
  const auto nvrtc = Nvrtc::load(options.nvrtc_library, 0, architecture);
  if (!nvrtc.ok()) return nvrtc.status();
  const bool machine_code = format == BinaryFormat::cubin;
  const Result<CodeTarget> known = (*nvrtc)->target_for(architecture);
  if (!known.ok()) return known.status();
  if (known->architecture != architecture || (machine_code && !known->machine_code)) {
    return {StatusCode::unsupported, "NVRTC % does not know architecture %",
            (*nvrtc)->version_text(), architecture};
  }
  return (*nvrtc)->compile(request.source, request.entry, request.options,
                           {architecture, machine_code});
}

}  // namespace idletune::cuda
