// Where a kernel's knowledge comes from. Host side.
#pragma once

#include <string>
#include <vector>

#include "models/history/history.hpp"
#include "models/learn/learn.hpp"
#include "models/learn/model_contents.hpp"

namespace idletune {

// The devices of the histories with what each contributed.
KernelProvenance provenance_from(const std::vector<const History*>& histories,
                                 const LearnOptions& options);
// Whether `history` is one of those, by the digest of its contents. In models of earlier versions
// only a device's single history can be told.
bool learned_from(const KernelProvenance& provenance, const History& history);
// The same in words, one line per device.
std::vector<std::string> provenance_lines(const ModelKernel& kernel);

}  // namespace idletune
