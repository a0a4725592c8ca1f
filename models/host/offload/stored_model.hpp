// What was learned about offloading, as a section of a model file. Host side.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "models/host/offload/predictor.hpp"
#include "models/host/offload/sample.hpp"

namespace idletune::offload {

// Samples, and how to learn from them: who reads it learns again, which takes seconds, gives the
// same predictions, and lets the nearest samples be named. Of a sample's variants only the fastest
// time is kept.
struct OffloadModel {
  SampleSet set;
  PredictorOptions options;  // without make_other: methods of the lab cannot be stored
};

// A model file with one entry, called "offload", that agents skip.
std::vector<std::uint8_t> write_offload_model(const OffloadModel& model);

// Errors: those of Model::open; not_found if the file has no such section; corrupt, naming what,
// if the section is damaged; version_mismatch if it was written by a later version.
Result<OffloadModel> read_offload_model(Bytes bytes, const std::string& path);

}  // namespace idletune::offload
