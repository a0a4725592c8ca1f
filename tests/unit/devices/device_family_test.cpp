#include <doctest/doctest.h>

#include <cmath>

#include "models/devices/device_family.hpp"
#include "models/devices/source_affinity.hpp"

using namespace idletune;

TEST_CASE("names tell vendor, market and year") {
  const struct {
    const char* name;
    Vendor vendor;
    Market market;
    int year;
  } expected[] = {
      {"NVIDIA A100-PCIE-40GB", Vendor::nvidia, Market::data_centre, 2020},
      {"NVIDIA RTX A4000", Vendor::nvidia, Market::desktop, 2020},
      {"NVIDIA RTX A1000", Vendor::nvidia, Market::desktop, 2020},
      {"RTX_2080_Ti", Vendor::nvidia, Market::desktop, 2018},
      {"2080Ti", Vendor::nvidia, Market::desktop, 2018},
      {"NVIDIA TITAN RTX", Vendor::nvidia, Market::desktop, 2018},
      {"GeForce GTX TITAN X", Vendor::nvidia, Market::desktop, 2014},
      {"Tesla K20m", Vendor::nvidia, Market::data_centre, 2012},
      {"Tesla V100-PCIE-32GB", Vendor::nvidia, Market::data_centre, 2017},
      {"MI250X", Vendor::amd, Market::data_centre, 2021},
      {"AMD Radeon PRO W6600", Vendor::amd, Market::desktop, 2021},
      {"Orin", Vendor::nvidia, Market::embedded, 2022},
      {"Mali-G71", Vendor::arm, Market::embedded, 2016},
      {"Mali-G710", Vendor::arm, Market::embedded, 2021},
      {"Mali-G71 MP5", Vendor::arm, Market::embedded, 2016},
      {"Mali-G720-Immortalis r0p0", Vendor::arm, Market::embedded, 2023},
      {"Mali-G725", Vendor::arm, Market::embedded, 2024},
      {"Mali-G510", Vendor::arm, Market::embedded, 2021},
      {"Mali-G51", Vendor::arm, Market::embedded, 2018},
      {"Mali-G715-Immortalis MC11", Vendor::arm, Market::embedded, 2022},
      {"Mali-T860", Vendor::arm, Market::embedded, 2015},
      {"QUALCOMM Adreno(TM) 430", Vendor::qualcomm, Market::embedded, 2014},
      {"QUALCOMM Adreno(TM) 640", Vendor::qualcomm, Market::embedded, 2018},
      {"QUALCOMM Adreno(TM) 750", Vendor::qualcomm, Market::embedded, 2021},
      {"QUALCOMM Adreno(TM)", Vendor::qualcomm, Market::embedded, 0},
      {"Quadro RTX 4000", Vendor::nvidia, Market::desktop, 2018},
      {"NVIDIA Quadro RTX 5000 with Max-Q Design", Vendor::nvidia, Market::desktop, 2018},
      {"NVIDIA RTX 2000 Ada Generation", Vendor::nvidia, Market::desktop, 2023},
      {"NVIDIA RTX 5000 Ada Generation", Vendor::nvidia, Market::desktop, 2023},
      {"NVIDIA TITAN Xp", Vendor::nvidia, Market::desktop, 2016},
      {"NVIDIA TITAN X (Pascal)", Vendor::nvidia, Market::desktop, 2016},
      {"Quadro K2000", Vendor::nvidia, Market::desktop, 2012},
      {"Quadro P1000", Vendor::nvidia, Market::desktop, 2016},
      {"Quadro 4000", Vendor::nvidia, Market::desktop, 0},
      {"gfx906+sram-ecc", Vendor::amd, Market::data_centre, 2018},
      {"gfx90a:sramecc+:xnack-", Vendor::amd, Market::data_centre, 2021},
      {"gfx1030", Vendor::amd, Market::desktop, 2020},
      {"gfx1100", Vendor::amd, Market::desktop, 2022},
      {"some board", Vendor::unknown, Market::unknown, 0},
      {"", Vendor::unknown, Market::unknown, 0}};
  for (const auto& one : expected) {
    CAPTURE(one.name);
    const DeviceFamily family = device_family(one.name);
    CHECK(family.vendor == one.vendor);
    CHECK(family.market == one.market);
    CHECK(family.year == one.year);
  }
}

TEST_CASE("kin are near, strangers far, and the unknown between") {
  const DeviceFamily a100 = device_family("A100");
  const DeviceFamily mali = device_family("Mali-G71");
  CHECK(origin_distance(a100, a100) == 0);
  CHECK(origin_distance(a100, device_family("V100")) == doctest::Approx(0.75));
  CHECK(origin_distance(a100, device_family("MI250X")) == doctest::Approx(2.25));
  CHECK(origin_distance(a100, mali) == doctest::Approx(3));
  CHECK(origin_distance(a100, device_family("?")) == doctest::Approx(1));
  CHECK(origin_distance(mali, a100) == origin_distance(a100, mali));
}

TEST_CASE("the nearer a history's device, the more it says") {
  CHECK(source_affinity("A100", "A100") == 1);
  CHECK(source_affinity("A100", "V100") == doctest::Approx(std::exp(-0.75)));
  CHECK(source_affinity("A100", "?") == doctest::Approx(std::exp(-1)));
  CHECK(source_affinity("?", "?") == doctest::Approx(std::exp(-1)));
}
