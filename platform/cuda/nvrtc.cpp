#include "platform/cuda/nvrtc.hpp"

#include <idletune/text.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <iterator>

#include "platform/build_log.hpp"
#include "platform/shared_library.hpp"

namespace idletune::cuda {
namespace {

// Newest first. From 11.2 on, a library serves all minor versions of its major version.
struct KnownLibrary {
  const char* name;
  int major;
};
constexpr KnownLibrary kKnownLibraries[] = {
    {"libnvrtc.so.13", 13},   {"libnvrtc.so.12", 12},   {"libnvrtc.so.11.2", 11},
    {"libnvrtc.so.11.1", 11}, {"libnvrtc.so.11.0", 11}, {"libnvrtc.so.10.2", 10},
};
constexpr const char* kOtherPlaces[] = {"libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"};

// Of the driver's major version first, then older ones, then newer ones; without one the newest.
std::vector<const char*> names_to_try(int driver_version) {
  const int major = driver_version > 0 ? driver_version / 1000 : kKnownLibraries[0].major;
  std::vector<const char*> names;
  for (const KnownLibrary& known : kKnownLibraries) {
    if (known.major <= major) names.push_back(known.name);
  }
  for (auto known = std::rbegin(kKnownLibraries); known != std::rend(kKnownLibraries); ++known) {
    if (known->major > major) names.push_back(known->name);
  }
  names.insert(names.end(), std::begin(kOtherPlaces), std::end(kOtherPlaces));
  return names;
}

template <class Function>
bool resolve(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

struct Translation {
  std::string_view opencl;
  const char* nvrtc;  // null: no counterpart
};
constexpr Translation kTranslations[] = {
    {"-cl-fast-relaxed-math", "--use_fast_math"},
    {"-cl-mad-enable", "--fmad=true"},
    {"-cl-denorms-are-zero", "--ftz=true"},
    {"-Werror", nullptr},
    {"-g", nullptr},
    {"-kernel-arg-info", nullptr},
    {"-create-library", nullptr},
    {"-enable-link-options", nullptr},
};

}  // namespace

std::vector<std::string> nvrtc_options(std::string_view options) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < options.size();) {
    std::size_t end = options.find_first_of(" \t\n", at);
    if (end == std::string_view::npos) end = options.size();
    const std::string_view word = options.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    const auto* const known =
        std::find_if(std::begin(kTranslations), std::end(kTranslations),
                     [&](const Translation& each) { return each.opencl == word; });
    if (known == std::end(kTranslations)) {
      if (word.substr(0, 4) != "-cl-") words.emplace_back(word);
    } else if (known->nvrtc != nullptr) {
      words.emplace_back(known->nvrtc);
    }
  }
  return words;
}

Result<std::shared_ptr<const Nvrtc>> Nvrtc::resolve_all(void* library, const std::string& path) {
  std::shared_ptr<Nvrtc> nvrtc(new Nvrtc);
  const char* missing = nullptr;
#define IDLETUNE_NVRTC_RESOLVE(name, result, parameters) \
  if (!resolve(library, "nvrtc" #name, nvrtc->name##_)) missing = "nvrtc" #name;
  IDLETUNE_NVRTC_REQUIRED(IDLETUNE_NVRTC_RESOLVE)
#undef IDLETUNE_NVRTC_RESOLVE
#define IDLETUNE_NVRTC_RESOLVE(name, result, parameters) \
  resolve(library, "nvrtc" #name, nvrtc->name##_);
  IDLETUNE_NVRTC_OPTIONAL(IDLETUNE_NVRTC_RESOLVE)
#undef IDLETUNE_NVRTC_RESOLVE
  if (missing != nullptr) {
    return {StatusCode::unsupported, "NVRTC '%' lacks %; expected NVRTC of CUDA 10.2 or newer",
            path, missing};
  }
  int major = 0;
  int minor = 0;
  if (nvrtc->Version_(&major, &minor) != kNvrtcSuccess) {
    return {StatusCode::unsupported, "NVRTC '%' does not tell its version", path};
  }
  nvrtc->version_ = 1000 * major + 10 * minor;
  nvrtc->path_ = library_of(reinterpret_cast<const void*>(nvrtc->Version_));
  return std::shared_ptr<const Nvrtc>(std::move(nvrtc));
}

Result<std::shared_ptr<const Nvrtc>> Nvrtc::load(const std::string& library, int driver_version,
                                                 int architecture) {
  if (!library.empty()) {
    const Result<void*> handle = open_library("NVRTC", library);
    if (!handle.ok()) return handle.status();
    return resolve_all(*handle, library);
  }
  Result<std::shared_ptr<const Nvrtc>> first{
      StatusCode::not_found, "no NVRTC: tried libnvrtc.so, libnvrtc.so.13, .12 and the older ones"};
  for (const char* name : names_to_try(driver_version)) {
    void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) continue;
    auto loaded = resolve_all(handle, name);
    if (loaded.ok()) {
      const Result<CodeTarget> target = (*loaded)->target_for(architecture);
      if (architecture == 0 || (target.ok() && target->architecture == architecture)) return loaded;
    }
    if (!first.ok() && (loaded.ok() || first.code() == StatusCode::not_found))
      first = std::move(loaded);
  }
  return first;
}

std::string Nvrtc::version_text() const {
  return joined("%.%", version_ / 1000, version_ % 1000 / 10);
}

std::vector<int> Nvrtc::architectures() const {
  int count = 0;
  if (GetNumSupportedArchs_ == nullptr || GetSupportedArchs_ == nullptr ||
      GetNumSupportedArchs_(&count) != kNvrtcSuccess || count <= 0) {
    return {};
  }
  std::vector<int> known(static_cast<std::size_t>(count));
  if (GetSupportedArchs_(known.data()) != kNvrtcSuccess) return {};
  return known;
}

Result<CodeTarget> Nvrtc::target_for(int architecture) const {
  const std::vector<int> known = architectures();
  CodeTarget target{architecture, GetCUBIN_ != nullptr && GetCUBINSize_ != nullptr};
  if (known.empty()) return target;  // older than 11.2: it will say whether it can
  if (std::find(known.begin(), known.end(), architecture) != known.end()) return target;
  int below = 0;
  for (int candidate : known) {
    if (candidate < architecture) below = std::max(below, candidate);
  }
  if (below == 0) {
    return {StatusCode::unsupported,
            "NVRTC % generates code for sm_% and up; expected one that knows sm_%", version_text(),
            *std::min_element(known.begin(), known.end()), architecture};
  }
  return CodeTarget{below, false};
}

Result<std::vector<std::uint8_t>> Nvrtc::compile(std::string_view source, std::string_view entry,
                                                 std::string_view options,
                                                 const CodeTarget& target) const {
  const std::string text(source);
  NvrtcProgram program = nullptr;
  const NvrtcError created =
      CreateProgram_(&program, text.c_str(), "kernel.cu", 0, nullptr, nullptr);
  if (created != kNvrtcSuccess) return failure(created, nullptr, entry);
  std::vector<std::string> words = nvrtc_options(options);
  words.push_back((target.machine_code ? "--gpu-architecture=sm_" : "--gpu-architecture=compute_") +
                  std::to_string(target.architecture));
  std::vector<const char*> pointers;
  pointers.reserve(words.size());
  for (const std::string& word : words) pointers.push_back(word.c_str());
  const NvrtcError compiled =
      CompileProgram_(program, static_cast<int>(pointers.size()), pointers.data());
  Result<std::vector<std::uint8_t>> code =
      compiled == kNvrtcSuccess
          ? code_of(program, entry, target.machine_code)
          : Result<std::vector<std::uint8_t>>(failure(compiled, program, entry));
  (void)DestroyProgram_(&program);
  return code;
}

Result<std::vector<std::uint8_t>> Nvrtc::code_of(NvrtcProgram program, std::string_view entry,
                                                 bool machine_code) const {
  std::size_t size = 0;
  NvrtcError error = machine_code ? GetCUBINSize_(program, &size) : GetPTXSize_(program, &size);
  std::vector<std::uint8_t> code(error == kNvrtcSuccess ? size : 0);
  if (error == kNvrtcSuccess && size > 0) {
    char* place = reinterpret_cast<char*>(code.data());
    error = machine_code ? GetCUBIN_(program, place) : GetPTX_(program, place);
  }
  if (error != kNvrtcSuccess) return failure(error, program, entry);
  if (code.empty()) {
    return {StatusCode::compile_error, "kernel '%': NVRTC generated no code", entry};
  }
  return code;
}

std::string Nvrtc::build_log(NvrtcProgram program) const {
  std::size_t size = 0;
  if (program == nullptr || GetProgramLogSize_(program, &size) != kNvrtcSuccess || size == 0 ||
      size > kMaxBuildLogBytes) {
    return {};
  }
  std::string log(size, '\0');
  if (GetProgramLog_(program, &log[0]) != kNvrtcSuccess) return {};
  return excerpt_of_build_log(log);
}

Status Nvrtc::failure(NvrtcError error, NvrtcProgram program, std::string_view entry) const {
  StatusCode code = StatusCode::unsupported;
  if (error == kNvrtcCompilation || error == kNvrtcInvalidOption) code = StatusCode::compile_error;
  if (error == kNvrtcOutOfMemory) code = StatusCode::out_of_memory;
  const char* name = GetErrorString_(error);
  std::string message =
      joined("kernel '%': NVRTC: % (%)", entry, name != nullptr ? name : "unknown error", error);
  if (const std::string log = build_log(program); !log.empty()) message += "\n" + log;
  return {code, std::move(message)};
}

}  // namespace idletune::cuda
