// Exit codes of idletune-helper besides those of platform/os/process.hpp.
#pragma once

namespace idletune {

// It received what is no message of this version: the two sides disagree. No verdict on any stage.
inline constexpr int kProtocolExitCode = 112;
// It was started by hand.
inline constexpr int kNotStartedByUsExitCode = 113;

}  // namespace idletune
