#include "models/host/offload/pass/static_profile.hpp"

#include <cstdio>
#include <cstdlib>

#include "models/host/offload/pass/static_walk.hpp"

namespace idletune::offload {
namespace {

using Clock = std::chrono::steady_clock;
using Places = Assumptions::Places;

// What is written first, and what could be as well.
constexpr Assumptions kLikely{0.5, 16, Places::random};
constexpr Assumptions kOthers[] = {
    {1, 4, Places::in_a_row}, {0, 64, Places::random}, {0.5, 16, Places::one}};

struct GivenValue {
  std::string function;  // empty: all regions
  std::string name;
  std::int64_t value = 0;
  bool used = false;
};

// Empty, or what is wrong.
std::string read_values(const std::vector<std::string>& texts, std::vector<GivenValue>& values) {
  for (const std::string& text : texts) {
    const std::size_t at = text.find('=');
    char* end = nullptr;
    const long long value =
        at == std::string::npos ? 0 : std::strtoll(text.c_str() + at + 1, &end, 10);
    if (at == 0 || end == nullptr || end == text.c_str() + at + 1 || *end != '\0') {
      return "'" + text + "' is no value; expected NAME=WHOLE_NUMBER";
    }
    const std::size_t colon = text.substr(0, at).rfind(':');
    const std::size_t name = colon == std::string::npos ? 0 : colon + 1;
    values.push_back({text.substr(0, name > 0 ? colon : 0), text.substr(name, at - name), value});
  }
  return "";
}

GivenValues values_for(const llvm::Function& region, const std::vector<GivenValue>& all) {
  GivenValues values;
  for (const bool own : {false, true}) {
    for (const GivenValue& one : all) {
      if (own ? is_called(region, one.function) : one.function.empty())
        values[one.name] = one.value;
    }
  }
  return values;
}

void mark_used(const llvm::Function& region, const std::set<std::string>& used,
               std::vector<GivenValue>& all) {
  for (GivenValue& one : all) {
    if (one.function.empty() || is_called(region, one.function)) {
      one.used = one.used || used.count(one.name) != 0;
    }
  }
}

struct PreparedRegion {
  llvm::Function* original = nullptr;
  GivenValues values;
  std::vector<llvm::Function*> copies;
  std::vector<std::vector<llvm::BasicBlock*>> continuations;
};

PreparedRegion prepare_region(const FoundRegion& region, const std::vector<GivenValue>& values) {
  PreparedRegion prepared{
      region.function, values_for(*region.function, values), copy_functions(region), {}};
  for (llvm::Function* copy : prepared.copies) {
    prepared.continuations.push_back(prepare(*copy, prepared.copies));
  }
  return prepared;
}

struct Walked {
  bool in_time = true;
  Unknowns unknowns;
  std::set<std::string> used;  // of the values
};

Walked walk(const PreparedRegion& region, const Assumptions& assumptions,
            Clock::time_point deadline, std::FILE* file) {
  RegionCode code(region.original->getName().str());
  for (std::size_t i = 0; i < region.copies.size(); ++i) {
    code.add(*region.copies[i]).continuations = region.continuations[i];
  }
  code.describe();
  Walked walked;
  StaticWalk walk(code, region.values, assumptions, walked.used);
  walked.in_time = walk.run(deadline);
  walked.unknowns = walk.unknowns();
  walk.record().write(file, "");
  return walked;
}

std::string missing_values(const PreparedRegion& region) {
  std::string names;
  for (const llvm::Argument& argument : region.copies.front()->args()) {
    const std::string name = argument.getName().str();
    if (!argument.getType()->isIntegerTy() || region.values.count(name) != 0) continue;
    names +=
        (names.empty() ? "\"" : ", \"") + (name.empty() ? "a parameter without name" : name) + "\"";
  }
  return names;
}

// What is unknown of a region, and what it could be as well; false if that takes too long.
bool write_unknowns(const PreparedRegion& region, const Unknowns& unknowns,
                    Clock::time_point deadline, std::FILE* file) {
  std::fprintf(file, "{\"decisions\": %llu, \"accesses\": %llu, \"missing\": [%s], \"others\": [",
               static_cast<unsigned long long>(unknowns.decisions),
               static_cast<unsigned long long>(unknowns.accesses), missing_values(region).c_str());
  const char* separator = "";
  bool in_time = true;
  for (const Assumptions& other : kOthers) {
    if (!unknowns.any()) break;
    std::fprintf(file, "%s", separator);
    in_time = walk(region, other, deadline, file).in_time && in_time;
    separator = ",\n";
  }
  std::fprintf(file, "]}");
  return in_time;
}

}  // namespace

std::string profile_code(const std::vector<FoundRegion>& regions, const StaticJob& job) {
  for (const FoundRegion& region : regions) {
    const unsigned bits = region.function->getParent()->getDataLayout().getPointerSizeInBits();
    if (bits != 64) {
      return "code that is not run is looked at with addresses of 64 bits, not " +
             std::to_string(bits) + ": compile it for such a machine";
    }
  }
  std::vector<GivenValue> values;
  if (const std::string error = read_values(job.values, values); !error.empty()) return error;
  std::FILE* file = std::fopen(job.result.c_str(), "w");
  if (file == nullptr) return "'" + job.result + "' cannot be written";
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(job.limit_s));
  std::vector<PreparedRegion> prepared;
  std::vector<Walked> walked;
  for (const FoundRegion& region : regions) prepared.push_back(prepare_region(region, values));
  bool in_time = true;
  for (const PreparedRegion& region : prepared) {
    std::fprintf(file, walked.empty() ? "{\"regions\": [" : ",\n");
    walked.push_back(walk(region, kLikely, deadline, file));
    in_time = in_time && walked.back().in_time;
    mark_used(*region.original, walked.back().used, values);
  }
  for (std::size_t i = 0; i < prepared.size(); ++i) {
    std::fprintf(file, i == 0 ? "],\n\"static\": [" : ",\n");
    in_time = write_unknowns(prepared[i], walked[i].unknowns, deadline, file) && in_time;
  }
  std::fprintf(file, "],\n\"end\": \"%s\"}\n", in_time ? "finished" : "interrupted");
  std::fclose(file);
  for (const GivenValue& one : values) {
    if (!one.used) return "no region has a parameter or a variable '" + one.name + "'";
  }
  return "";
}

}  // namespace idletune::offload
