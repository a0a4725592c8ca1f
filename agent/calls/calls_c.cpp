// <idletune/calls.hpp> in C.
#include <idletune/calls.hpp>

#include <algorithm>
#include <utility>

#include <idletune/c_handles.hpp>

struct idletune_calls {
  idletune::TunedCalls calls;
};

namespace {

using idletune::Status;
using idletune::StatusCode;

static_assert(IDLETUNE_MAX_PARAMETERS == idletune::kMaxParameters, "one limit");

idletune_status missing(const char* what) {
  return idletune::reported(Status(StatusCode::invalid_argument, "% is NULL", what));
}

// False if one is missing.
bool read_names(const char* const* given, std::size_t count, std::vector<std::string>& names) {
  for (std::size_t i = 0; i < count; ++i) {
    if (given == nullptr || given[i] == nullptr) return false;
    names.emplace_back(given[i]);
  }
  return true;
}

bool read_description(const idletune_call_description& given, idletune::CallDescription& made) {
  std::vector<std::string> names;
  if (given.name == nullptr || given.value_counts == nullptr || given.values == nullptr) {
    return false;
  }
  if (!read_names(given.parameter_names, given.parameter_count, names) ||
      !read_names(given.dimension_names, given.dimension_count, made.dimensions) ||
      !read_names(given.feature_names, given.feature_count, made.features)) {
    return false;
  }
  made.name = given.name;
  const std::int64_t* values = given.values;
  for (std::size_t i = 0; i < names.size(); ++i) {
    made.parameters.push_back({std::move(names[i]), {values, values + given.value_counts[i]}});
    values += given.value_counts[i];
  }
  if (given.runs_on != nullptr) made.runs_on = given.runs_on;
  if (given.max_slowdown != 0) made.max_slowdown = given.max_slowdown;
  return true;
}

// NULL is the only problem there is.
bool read_problem(const idletune_problem* given, idletune::Problem& problem) {
  return given == nullptr || idletune::make_problem(*given, problem);
}

}  // namespace

extern "C" {

idletune_status idletune_calls_open(idletune_agent* agent,
                                    const idletune_call_description* description,
                                    idletune_calls** calls) {
  if (agent == nullptr) return missing("agent");
  if (calls == nullptr) return missing("calls");
  idletune::CallDescription made;
  if (description == nullptr || !read_description(*description, made)) {
    return missing("a part of the description");
  }
  const auto opened = idletune::open_calls(idletune::agent_of(agent), made);
  if (!opened.ok()) return idletune::reported(opened.status());
  *calls = new idletune_calls{*opened};
  return IDLETUNE_OK;
}

void idletune_calls_close(idletune_calls* calls) { delete calls; }

idletune_status idletune_call_begin(idletune_calls* calls, const idletune_problem* problem,
                                    idletune_call* call) {
  if (calls == nullptr) return missing("calls");
  if (call == nullptr) return missing("call");
  idletune::Problem made;
  if (!read_problem(problem, made)) return missing("a part of the problem");
  const auto begun = calls->calls.begin(made);
  if (!begun.ok()) return idletune::reported(begun.status());
  call->number = begun->number;
  const auto values = begun->configuration.values();
  std::copy(values.begin(), values.end(), call->configuration);
  return IDLETUNE_OK;
}

idletune_status idletune_call_end(idletune_calls* calls, const idletune_problem* problem,
                                  const idletune_call* call, idletune_ended ended,
                                  int64_t run_time_ns) {
  if (calls == nullptr) return missing("calls");
  if (call == nullptr) return missing("call");
  idletune::TunedCalls::Call told;
  if (!read_problem(problem, told.problem)) return missing("a part of the problem");
  const std::size_t parameters = calls->calls.parameter_count();
  told.configuration = idletune::Configuration({call->configuration, parameters});
  told.number = call->number;
  switch (ended) {
    case IDLETUNE_ENDED_CORRECT:
    case IDLETUNE_ENDED_FAILED:
    case IDLETUNE_ENDED_WRONG:
    case IDLETUNE_ENDED_TIMEOUT:
    case IDLETUNE_ENDED_CRASH: break;
    default:
      return idletune::reported(
          Status(StatusCode::invalid_argument, "% is no idletune_ended", static_cast<int>(ended)));
  }
  const auto status = static_cast<idletune::TrialStatus>(ended);
  return idletune::reported(
      calls->calls.end(told, {status, std::chrono::nanoseconds(run_time_ns)}));
}

}  // extern "C"
