#include <idletune/device.hpp>

#include "models/core/digest.hpp"

namespace idletune {
namespace {

Digest identity(const DeviceInfo& info) {
  Digest digest;
  digest.add(info.backend).add(info.platform).add(info.name).add(info.vendor);
  digest.add(std::uint64_t{info.compute_units});
  return digest;
}

}  // namespace

std::uint64_t DeviceInfo::device_key() const { return identity(*this).value(); }

std::uint64_t DeviceInfo::driver_key() const { return identity(*this).add(driver).value(); }

}  // namespace idletune
