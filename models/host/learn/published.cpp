#include "models/host/learn/published.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "models/devices/device_names.hpp"
#include "models/host/history/comma_table.hpp"

namespace idletune {

namespace {

constexpr std::size_t kMostPerFamily = 8;

struct Row {
  std::string vendor;
  std::string architecture;
  std::string device;
  std::map<std::string, std::int64_t> parameters;
};

bool parse_parameters(const std::string& text, std::map<std::string, std::int64_t>& parameters) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string pair = text.substr(at, end - at);
    at = end + 1;
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    const std::string digits = equals == std::string::npos ? "" : pair.substr(equals + 1);
    if (equals == 0 || digits.empty() || digits.size() > 18 ||
        digits.find_first_not_of("0123456789") != std::string::npos) {
      return false;
    }
    parameters[pair.substr(0, equals)] = std::stoll(digits);
  }
  return !parameters.empty();
}

bool has_digit(std::string_view name) {
  return name.find_first_of("0123456789") != std::string_view::npos;
}

// Qualcomm's drivers long called every device "QUALCOMM Adreno(TM)"; the model is in the compiler's
// version, which the database has as the architecture ("OpenCL C 2.0 Adreno(TM) 640").
std::string full_name(const Row& row) {
  if (has_digit(row.device)) return row.device;
  const std::size_t adreno = row.architecture.find("Adreno");
  return adreno == std::string::npos ? row.device : "QUALCOMM " + row.architecture.substr(adreno);
}

// A row of the kernel with the fixed parameters taken out, or nothing.
bool take_fixed(Row& row, const PublishedOptions& options) {
  for (const auto& [name, value] : options.fixed) {
    const auto found = row.parameters.find(name);
    if (found == row.parameters.end()) continue;
    if (found->second != value) return false;
    row.parameters.erase(found);
  }
  return true;
}

// A word without digits that the names of all these devices contain.
std::string family_of(const std::vector<std::string>& devices) {
  std::string word;
  std::string shared;
  for (const char c : devices.front() + " ") {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (letter) word += c;
    if (letter || word.empty()) continue;
    const bool everywhere =
        std::all_of(devices.begin(), devices.end(),
                    [&](const std::string& device) { return device_name_contains(device, word); });
    if (everywhere && word.size() > shared.size()) shared = word;
    word.clear();
  }
  return shared;
}

class Collector {
 public:
  Collector(const PublishedOptions& options, PublishedConfigurations& result)
      : options_(options), result_(result) {}

  void add(Row row) {
    if (!take_fixed(row, options_)) {
      ++left_out_;
      return;
    }
    if (result_.parameters.empty()) {
      for (const auto& [name, value] : row.parameters) result_.parameters.push_back(name);
    }
    Configuration values;
    for (const auto& [name, value] : row.parameters) values.push_back(value);
    const bool same =
        row.parameters.size() == result_.parameters.size() &&
        std::equal(result_.parameters.begin(), result_.parameters.end(), row.parameters.begin(),
                   [](const auto& a, const auto& b) { return a == b.first; });
    if (!same) {
      ++left_out_;
      return;
    }
    const std::string device = full_name(row);
    if (row.device == "default") {
      if (row.architecture == "default") defaults_[row.vendor] = values;
    } else if (has_digit(device)) {
      result_.entries.push_back({device, values, 1});
      by_vendor_[row.vendor].push_back(result_.entries.size() - 1);
    }
  }

  void finish() {
    for (const auto& [vendor, numbers] : by_vendor_) add_family(vendor, numbers);
    if (left_out_ > 0) {
      result_.warnings.push_back(std::to_string(left_out_) +
                                 " published entries have other parameters: left out");
    }
  }

 private:
  void add_family(const std::string& vendor, const std::vector<std::size_t>& numbers) {
    std::vector<std::string> devices;
    std::vector<PublishedConfigurations::Entry> counted;
    for (const std::size_t i : numbers) {
      const PublishedConfigurations::Entry& entry = result_.entries[i];
      devices.push_back(entry.device);
      const auto same = std::find_if(counted.begin(), counted.end(), [&](const auto& other) {
        return other.values == entry.values;
      });
      if (same != counted.end()) {
        ++same->devices;
      } else {
        counted.push_back({"", entry.values, 1});
      }
    }
    const std::string family = devices.size() < 2 ? "" : family_of(devices);
    if (family.empty()) return;
    const auto preferred = defaults_.find(vendor);
    const auto is_default = [&](const PublishedConfigurations::Entry& entry) {
      return preferred != defaults_.end() && preferred->second == entry.values;
    };
    std::stable_sort(counted.begin(), counted.end(), [&](const auto& a, const auto& b) {
      return a.devices != b.devices ? a.devices > b.devices : is_default(a) && !is_default(b);
    });
    if (counted.size() > kMostPerFamily) counted.resize(kMostPerFamily);
    for (PublishedConfigurations::Entry& entry : counted) {
      entry.device = family;
      result_.entries.push_back(entry);
    }
  }

  const PublishedOptions& options_;
  PublishedConfigurations& result_;
  std::map<std::string, std::vector<std::size_t>> by_vendor_;
  std::map<std::string, Configuration> defaults_;
  std::size_t left_out_ = 0;
};

}  // namespace

Result<PublishedConfigurations> import_published(Bytes bytes, const std::string& path,
                                                 const PublishedOptions& options) {
  const Result<CommaTable> table = CommaTable::parse(bytes, path, options.limit_bytes);
  if (!table.ok()) return table.status();
  if (!table->require({"kernel", "precision", "vendor", "architecture", "device", "parameters"})
           .ok()) {
    return Status(StatusCode::unsupported,
                  path +
                      ": no table of best parameters (expected columns kernel, precision, "
                      "vendor, architecture, device, parameters)");
  }
  PublishedConfigurations result;
  result.kernel = options.kernel;
  result.origin = options.origin.empty() ? path : options.origin;
  Collector collector(options, result);
  for (std::size_t r = 0; r < table->rows(); ++r) {
    const auto cell = [&](const char* name) { return std::string(table->text(r, name)); };
    if (cell("kernel") != options.published_kernel || cell("precision") != options.precision)
      continue;
    if (!options.vendors.empty() && std::find(options.vendors.begin(), options.vendors.end(),
                                              cell("vendor")) == options.vendors.end()) {
      continue;
    }
    Row row{cell("vendor"), cell("architecture"), cell("device"), {}};
    if (!parse_parameters(cell("parameters"), row.parameters) ||
        row.parameters.size() > kMaxParameters) {
      return Status(StatusCode::corrupt,
                    table->place(r) + ": parameters are no list of NAME=NUMBER");
    }
    collector.add(std::move(row));
  }
  collector.finish();
  if (result.entries.empty()) {
    return Status(StatusCode::not_found, path + ": no device's entry for kernel " +
                                             options.published_kernel + ", precision " +
                                             options.precision);
  }
  return result;
}

}  // namespace idletune
