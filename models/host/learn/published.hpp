// Configurations that others published as best, without times: CLBlast's database. They hold no
// distribution, so they become no history; a model keeps them apart as what they are. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/result.hpp>
#include <idletune/span.hpp>

namespace idletune {

struct PublishedConfigurations {
  struct Entry {
    std::string device;  // a device's name, or one word that a family's names contain
    Configuration values;
    std::uint32_t devices = 1;  // of a family: how many of its devices it is published for
  };
  std::string kernel;
  std::string origin;
  std::vector<std::string> parameters;
  std::vector<Entry> entries;
  std::vector<std::string> warnings;
};

struct PublishedOptions {
  std::string published_kernel = "Xgemm";  // its name there
  std::string kernel = "gemm";             // and here
  std::string precision = "Single";
  std::vector<std::string> vendors{"ARM", "QUALCOMM"};  // empty: all
  // Parameters that this kernel does not have, with the value that means what it does. Entries with
  // another value are left out.
  std::vector<std::pair<std::string, std::int64_t>> fixed{{"GEMMK", 0}, {"KREG", 1}};
  std::string origin;  // empty: the file's name
  std::size_t limit_bytes = std::size_t{64} << 20;
};

// From a table of best parameters as in CLBlast's database: comma-separated lines (plain or gzip)
// of kernel, precision, device_type, vendor, architecture, device and "NAME=VALUE ..." with those
// names in the first line. Beside each device's entry the result holds, for every vendor whose
// devices' names share a word ("Mali", "Adreno"), what is best for most of them. The rows that the
// database itself derived (device `default`) only break ties. Errors: corrupt (names the line),
// unsupported (no such table), not_found (no entry for this kernel).
Result<PublishedConfigurations> import_published(Bytes bytes, const std::string& path,
                                                 const PublishedOptions& options);

}  // namespace idletune
