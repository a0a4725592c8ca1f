#include "models/devices/device_family.hpp"

#include <cmath>
#include <cstdlib>

#include "models/devices/plain_name.hpp"

namespace idletune {

namespace {

// The name lies in the rule itself: a pointer to it would have to be relocated when a program
// starts, which is three times as many bytes.
struct FamilyRule {
  char contains[11];  // in the PlainName
  Vendor vendor;
  Market market;
  std::uint16_t year;
};

// The first that fits counts: the more special before the more general.
constexpr FamilyRule kRules[] = {
    {"thor", Vendor::nvidia, Market::embedded, 2025},
    {"orin", Vendor::nvidia, Market::embedded, 2022},
    {"xavier", Vendor::nvidia, Market::embedded, 2018},
    {"tegrax2", Vendor::nvidia, Market::embedded, 2017},
    {"jetsontx2", Vendor::nvidia, Market::embedded, 2017},
    {"jetsontx1", Vendor::nvidia, Market::embedded, 2015},
    {"jetsonnano", Vendor::nvidia, Market::embedded, 2015},
    {"tegra", Vendor::nvidia, Market::embedded, 2015},
    {"adagen", Vendor::nvidia, Market::desktop, 2023},
    {"rtxa", Vendor::nvidia, Market::desktop, 2020},
    {"quadrortx", Vendor::nvidia, Market::desktop, 2018},
    {"quadrok", Vendor::nvidia, Market::desktop, 2012},
    {"quadrom", Vendor::nvidia, Market::desktop, 2014},
    {"quadrop", Vendor::nvidia, Market::desktop, 2016},
    {"quadro", Vendor::nvidia, Market::desktop, 0},
    {"rtx50", Vendor::nvidia, Market::desktop, 2025},
    {"rtx40", Vendor::nvidia, Market::desktop, 2022},
    {"rtx30", Vendor::nvidia, Market::desktop, 2020},
    {"a4000", Vendor::nvidia, Market::desktop, 2020},
    {"rtx20", Vendor::nvidia, Market::desktop, 2018},
    {"2080", Vendor::nvidia, Market::desktop, 2018},
    {"titanrtx", Vendor::nvidia, Market::desktop, 2018},
    {"rtxtitan", Vendor::nvidia, Market::desktop, 2018},
    {"gtx16", Vendor::nvidia, Market::desktop, 2019},
    {"titanv", Vendor::nvidia, Market::desktop, 2017},
    {"titanxp", Vendor::nvidia, Market::desktop, 2016},  // also TITAN X (Pascal)
    {"titanx", Vendor::nvidia, Market::desktop, 2014},
    {"gtx10", Vendor::nvidia, Market::desktop, 2016},
    {"gtx9", Vendor::nvidia, Market::desktop, 2014},
    {"gtx7", Vendor::nvidia, Market::desktop, 2012},
    {"h200", Vendor::nvidia, Market::data_centre, 2022},
    {"h100", Vendor::nvidia, Market::data_centre, 2022},
    {"a100", Vendor::nvidia, Market::data_centre, 2020},
    {"v100", Vendor::nvidia, Market::data_centre, 2017},
    {"p100", Vendor::nvidia, Market::data_centre, 2016},
    {"k80", Vendor::nvidia, Market::data_centre, 2012},
    {"k40", Vendor::nvidia, Market::data_centre, 2012},
    {"k20", Vendor::nvidia, Market::data_centre, 2012},
    {"mi300", Vendor::amd, Market::data_centre, 2023},
    {"mi250", Vendor::amd, Market::data_centre, 2021},
    {"mi210", Vendor::amd, Market::data_centre, 2021},
    {"mi100", Vendor::amd, Market::data_centre, 2020},
    // What AMD's drivers for computing call them.
    {"gfx94", Vendor::amd, Market::data_centre, 2023},
    {"gfx90a", Vendor::amd, Market::data_centre, 2021},
    {"gfx908", Vendor::amd, Market::data_centre, 2020},
    {"gfx906", Vendor::amd, Market::data_centre, 2018},
    {"gfx90", Vendor::amd, Market::desktop, 2017},
    {"gfx101", Vendor::amd, Market::desktop, 2019},
    {"gfx103", Vendor::amd, Market::desktop, 2020},
    {"gfx11", Vendor::amd, Market::desktop, 2022},
    {"gfx12", Vendor::amd, Market::desktop, 2025},
    {"gfx", Vendor::amd, Market::unknown, 0},
    {"prow7", Vendor::amd, Market::desktop, 2022},
    {"rx7", Vendor::amd, Market::desktop, 2022},
    {"w6600", Vendor::amd, Market::desktop, 2021},
    {"rx6", Vendor::amd, Market::desktop, 2020},
    {"vega", Vendor::amd, Market::desktop, 2017},
    {"malig510", Vendor::arm, Market::embedded, 2021},
    {"malig710", Vendor::arm, Market::embedded, 2021},
    {"malig715", Vendor::arm, Market::embedded, 2022},
    {"malig720", Vendor::arm, Market::embedded, 2023},
    {"malig725", Vendor::arm, Market::embedded, 2024},
    {"immortalis", Vendor::arm, Market::embedded, 2022},
    {"malig72", Vendor::arm, Market::embedded, 2017},
    {"malig76", Vendor::arm, Market::embedded, 2018},
    {"malig77", Vendor::arm, Market::embedded, 2019},
    {"malig78", Vendor::arm, Market::embedded, 2020},
    {"malig71", Vendor::arm, Market::embedded, 2016},
    {"malig5", Vendor::arm, Market::embedded, 2018},
    {"malig6", Vendor::arm, Market::embedded, 2021},
    {"malit8", Vendor::arm, Market::embedded, 2015},
    {"malit7", Vendor::arm, Market::embedded, 2014},
    {"malit6", Vendor::arm, Market::embedded, 2012},
    {"mali", Vendor::arm, Market::embedded, 0},
    {"adreno8", Vendor::qualcomm, Market::embedded, 2024},
    {"adreno7", Vendor::qualcomm, Market::embedded, 2021},
    {"adreno6", Vendor::qualcomm, Market::embedded, 2018},
    {"adreno5", Vendor::qualcomm, Market::embedded, 2015},
    {"adreno4", Vendor::qualcomm, Market::embedded, 2014},
    {"adreno", Vendor::qualcomm, Market::embedded, 0},
    {"nvidia", Vendor::nvidia, Market::unknown, 0},
    {"geforce", Vendor::nvidia, Market::desktop, 0},
    {"tesla", Vendor::nvidia, Market::data_centre, 0},
    {"radeon", Vendor::amd, Market::desktop, 0},
};

constexpr double kOtherVendor = 2;
constexpr double kPerYear = 0.25;

}  // namespace

DeviceFamily device_family(std::string_view name) {
  const PlainName plain(name);
  for (const FamilyRule& rule : kRules) {
    if (plain.contains(rule.contains)) return {rule.vendor, rule.market, rule.year};
  }
  return {};
}

double origin_distance(const DeviceFamily& a, const DeviceFamily& b) {
  double distance = 0;
  if (a.vendor == Vendor::unknown || b.vendor == Vendor::unknown) {
    distance += kOtherVendor / 2;
  } else if (a.vendor != b.vendor) {
    distance += kOtherVendor;
  }
  if (a.year > 0 && b.year > 0) distance += kPerYear * std::abs(a.year - b.year);
  return distance;
}

}  // namespace idletune
