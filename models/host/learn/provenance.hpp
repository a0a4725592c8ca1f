// Where a kernel's knowledge comes from. Host side.
#pragma once

#include <string>
#include <vector>

#include "models/host/history/history.hpp"
#include "models/host/learn/learn.hpp"
#include "models/host/learn/model_contents.hpp"

namespace idletune {

// The devices of the histories with what each contributed.
KernelProvenance provenance_from(const std::vector<const History*>& histories,
                                 const LearnOptions& options);
// Whether `history` is, or may be, one of those: by the digest of its contents. Of a device with
// more histories than a model lists (256; none in models of earlier versions) every history may be
// one.
bool learned_from(const KernelProvenance& provenance, const History& history);
// The same in words, one line per device.
std::vector<std::string> provenance_lines(const ModelKernel& kernel);

}  // namespace idletune
