#include <doctest/doctest.h>

#include <string>

#include <sys/stat.h>

#include "platform/board/board.hpp"
#include "platform/board/meters.hpp"
#include "tests/unit/board/sysfs_tree.hpp"

using idletune::Board;
using idletune::BoardMeters;
using idletune::BoardState;
using idletune::MeterState;
using idletune::test::SysfsTree;

namespace {

// Modelled on a Jetson AGX Orin with JetPack 5.
void make_jetson_orin(const SysfsTree& tree) {
  tree.write_all("devices/virtual/thermal/thermal_zone0", {{"type", "CPU-therm"},
                                                           {"temp", "48500"},
                                                           {"trip_point_0_type", "critical"},
                                                           {"trip_point_0_temp", "104500"},
                                                           {"trip_point_1_type", "active"},
                                                           {"trip_point_1_temp", "50000"},
                                                           {"trip_point_2_type", "passive"},
                                                           {"trip_point_2_temp", "99000"}});
  tree.write_all("devices/virtual/thermal/thermal_zone1", {{"type", "GPU-therm"},
                                                           {"temp", "52250"},
                                                           {"trip_point_0_type", "passive"},
                                                           {"trip_point_0_temp", "97000"},
                                                           {"trip_point_1_type", "passive"},
                                                           {"trip_point_1_temp", "99000"}});
  // Powered down: the driver answers EAGAIN, which an empty file comes closest to.
  tree.write_all("devices/virtual/thermal/thermal_zone2", {{"type", "CV0-therm"}, {"temp", ""}});
  tree.write_all("devices/virtual/thermal/thermal_zone10",
                 {{"type", "PMIC-Die"}, {"temp", "100000"}});
  for (const char* zone : {"thermal_zone0", "thermal_zone1", "thermal_zone2", "thermal_zone10"}) {
    tree.link(std::string("class/thermal/") + zone, std::string("devices/virtual/thermal/") + zone);
  }
  tree.write("class/thermal/cooling_device0/type", "pwm-fan");
  tree.write("devices/gpu.0/load", "873");
  tree.write_all("class/devfreq/17000000.ga10b",
                 {{"cur_freq", "624750000"}, {"max_freq", "1300500000"}});
  tree.write_all("devices/system/cpu/cpufreq/policy0",
                 {{"scaling_cur_freq", "729600"}, {"cpuinfo_max_freq", "2201600"}});
  tree.write_all("class/hwmon/hwmon3", {{"name", "ina3221"},
                                        {"in1_label", "VDD_GPU_SOC"},
                                        {"in1_input", "19072"},
                                        {"curr1_input", "200"},
                                        {"in2_label", "VDD_CPU_CV"},
                                        {"in2_input", "19056"},
                                        {"curr2_input", "100"},
                                        {"in3_label", "VIN_SYS_5V0"},
                                        {"in3_input", "5000"},
                                        {"curr3_input", "840"},
                                        {"in4_input", "400"},
                                        {"curr4_input", "1140"},
                                        {"in7_label", "sum of shunt voltages"},
                                        {"in7_input", "3"}});
  tree.write_all("class/hwmon/hwmon4", {{"name", "ina3221"},
                                        {"in1_label", "NC"},
                                        {"in1_input", "0"},
                                        {"curr1_input", "0"},
                                        {"in2_label", "VDDQ_VDD2_1V8AO"},
                                        {"in2_input", "1800"},
                                        {"curr2_input", "500"}});
  tree.write_all("class/hwmon/hwmon0",
                 {{"name", "nvme"}, {"in1_input", "1"}, {"curr1_input", "1"}});
}

// Modelled on an RK3399 board with the vendor's kernel (Mali T860).
void make_rk3399(const SysfsTree& tree) {
  tree.write_all("class/thermal/thermal_zone0", {{"type", "soc-thermal"},
                                                 {"temp", "61111"},
                                                 {"trip_point_0_type", "passive"},
                                                 {"trip_point_0_temp", "70000"},
                                                 {"trip_point_1_type", "passive"},
                                                 {"trip_point_1_temp", "85000"},
                                                 {"trip_point_2_type", "critical"},
                                                 {"trip_point_2_temp", "115000"}});
  tree.write_all("class/thermal/thermal_zone1", {{"type", "gpu-thermal"}, {"temp", "60555"}});
  tree.write_all(
      "class/devfreq/ff9a0000.gpu",
      {{"load", "45@800000000Hz"}, {"cur_freq", "800000000"}, {"max_freq", "800000000"}});
  tree.write_all("class/devfreq/dmc", {{"load", "99@856000000Hz"}, {"cur_freq", "856000000"}});
  tree.write_all("devices/system/cpu/cpufreq/policy0",
                 {{"scaling_cur_freq", "408000"}, {"cpuinfo_max_freq", "1416000"}});
  tree.write_all("devices/system/cpu/cpufreq/policy4",
                 {{"scaling_cur_freq", "1800000"}, {"cpuinfo_max_freq", "1800000"}});
}

// Modelled on a phone with an Adreno GPU: zones in degrees and zones that are no temperatures.
void make_phone(const SysfsTree& tree) {
  tree.write_all("class/thermal/thermal_zone0", {{"type", "gpu0"},
                                                 {"temp", "41"},
                                                 {"trip_point_0_type", "passive"},
                                                 {"trip_point_0_temp", "95"}});
  tree.write_all("class/thermal/thermal_zone1", {{"type", "soc"}, {"temp", "98"}});
  tree.write_all("class/thermal/thermal_zone2", {{"type", "pm8998-vbat"}, {"temp", "4312"}});
  tree.write_all("class/thermal/thermal_zone3", {{"type", "battery"}, {"temp", "33400"}});
  tree.write_all("class/power_supply/battery",
                 {{"type", "Battery"}, {"capacity", "64"}, {"status", "Discharging"}});
  tree.write_all("class/power_supply/usb", {{"type", "USB"}, {"online", "0"}});
  tree.write_all("class/power_supply/headset",
                 {{"type", "Battery"}, {"scope", "Device"}, {"capacity", "3"}});
  tree.write_all(
      "class/kgsl/kgsl-3d0",
      {{"gpubusy", "  250000 1000000"}, {"gpuclk", "257000000"}, {"max_gpuclk", "710000000"}});
  tree.write_all("class/devfreq/soc:qcom,gpubw", {{"cur_freq", "1"}, {"max_freq", "2"}});
}

}  // namespace

TEST_CASE("a root without sensors gives an empty state") {
  SysfsTree tree;
  for (const std::string& root : {tree.root(), tree.root() + "/missing"}) {
    Board board = Board::open(root);
    const BoardState state = board.read();
    BoardMeters meters = BoardMeters::open(root);
    const MeterState metered = meters.read();
    CHECK(!state.temperature_c);
    CHECK(!state.thermal_margin_c);
    CHECK(!state.on_mains);
    CHECK(!state.battery);
    CHECK(!state.gpu_load);
    CHECK(!metered.gpu_clock_hz);
    CHECK(!metered.gpu_max_clock_hz);
    CHECK(!metered.cpu_clock_hz);
    CHECK(!metered.cpu_max_clock_hz);
    CHECK(!metered.power_w);
    CHECK(board.thermal_zones().empty());
    CHECK(meters.power_rails().empty());
  }
}

TEST_CASE("a Jetson Orin tells heat, load, clocks and power") {
  SysfsTree tree;
  make_jetson_orin(tree);
  Board board = Board::open(tree.root());
  const BoardState state = board.read();
  BoardMeters meters = BoardMeters::open(tree.root());
  const MeterState metered = meters.read();
  CHECK(state.temperature_c == doctest::Approx(52.25));
  CHECK(state.thermal_margin_c == doctest::Approx(97.0 - 52.25));
  CHECK(state.gpu_load == doctest::Approx(0.873));
  CHECK(metered.gpu_clock_hz == 624750000u);
  CHECK(metered.gpu_max_clock_hz == 1300500000u);
  CHECK(metered.cpu_clock_hz == 729600000u);
  CHECK(metered.cpu_max_clock_hz == 2201600000u);
  CHECK(!state.on_mains);
  CHECK(!state.battery);
  // 19.072 V * 0.2 A + 19.056 V * 0.1 A + 5 V * 0.84 A + 1.8 V * 0.5 A
  CHECK(metered.power_w == doctest::Approx(3.8144 + 1.9056 + 4.2 + 0.9));
  REQUIRE(meters.power_rails().size() == 4);
  CHECK(meters.power_rails()[0].name == "VDD_GPU_SOC");
  CHECK(meters.power_rails()[3].name == "VDDQ_VDD2_1V8AO");
  REQUIRE(board.thermal_zones().size() == 3);
  CHECK(board.thermal_zones()[0].type == "CPU-therm");
  CHECK(board.thermal_zones()[0].trip_c == doctest::Approx(99.0));
  CHECK(board.thermal_zones()[2].type == "CV0-therm");
  CHECK(!board.thermal_zones()[2].temperature_c);
}

TEST_CASE("a board with an input rail counts that rail alone") {
  SysfsTree tree;
  tree.write_all("class/hwmon/hwmon1", {{"name", "ina3221"},
                                        {"in1_label", "VDD_IN"},
                                        {"in1_input", "5000"},
                                        {"curr1_input", "1000"},
                                        {"in2_label", "VDD_CPU_GPU_CV"},
                                        {"in2_input", "5000"},
                                        {"curr2_input", "400"}});
  BoardMeters meters = BoardMeters::open(tree.root());
  CHECK(meters.read().power_w == doctest::Approx(5.0));
  CHECK(meters.power_rails().size() == 2);
}

TEST_CASE("a rail that reports power itself is taken at its word") {
  SysfsTree tree;
  tree.write_all("class/hwmon/hwmon1", {{"name", "ina226"},
                                        {"power1_input", "2500000"},
                                        {"in1_input", "5000"},
                                        {"curr1_input", "9000"}});
  BoardMeters meters = BoardMeters::open(tree.root());
  CHECK(meters.read().power_w == doctest::Approx(2.5));
  CHECK(meters.power_rails()[0].name == "hwmon1/1");
}

TEST_CASE("an RK3399 tells its Mali's load and the big cluster's clock") {
  SysfsTree tree;
  make_rk3399(tree);
  Board board = Board::open(tree.root());
  const BoardState state = board.read();
  BoardMeters meters = BoardMeters::open(tree.root());
  const MeterState metered = meters.read();
  CHECK(state.temperature_c == doctest::Approx(61.111));
  CHECK(state.thermal_margin_c == doctest::Approx(70.0 - 61.111));
  CHECK(state.gpu_load == doctest::Approx(0.45));
  CHECK(metered.gpu_clock_hz == 800000000u);
  CHECK(metered.cpu_clock_hz == 1800000000u);
  CHECK(!metered.power_w);
}

TEST_CASE("a phone tells its battery, and its fuel gauge is not taken for a thermometer") {
  SysfsTree tree;
  make_phone(tree);
  Board board = Board::open(tree.root());
  const BoardState state = board.read();
  BoardMeters meters = BoardMeters::open(tree.root());
  const MeterState metered = meters.read();
  CHECK(state.temperature_c == doctest::Approx(41.0));
  CHECK(state.thermal_margin_c == doctest::Approx(54.0));
  CHECK(board.thermal_zones().size() == 2);
  CHECK(state.battery == doctest::Approx(0.64));
  REQUIRE(state.on_mains.has_value());
  CHECK(*state.on_mains == false);
  CHECK(state.gpu_load == doctest::Approx(0.25));
  CHECK(metered.gpu_clock_hz == 257000000u);
  CHECK(metered.gpu_max_clock_hz == 710000000u);
}

TEST_CASE("a board without a battery runs on mains, whichever of its sockets is fed") {
  SysfsTree tree;
  tree.write_all("class/power_supply/tcpm-source-psy-4-0022", {{"type", "USB"}, {"online", "0"}});
  CHECK(Board::open(tree.root()).read().on_mains == true);
}

TEST_CASE("being plugged in shows, and a charger that cannot keep up does not count") {
  SysfsTree tree;
  make_phone(tree);
  Board board = Board::open(tree.root());
  tree.write("class/power_supply/usb/online", "1");
  tree.write("class/power_supply/battery/status", "Charging");
  CHECK(board.read().on_mains == true);
  tree.write("class/power_supply/battery/status", "Discharging");
  CHECK(board.read().on_mains == false);
  tree.remove("class/power_supply/usb/online");
  tree.write("class/power_supply/battery/status", "Full");
  CHECK(board.read().on_mains == true);
  tree.remove("class/power_supply/battery/status");
  CHECK(!board.read().on_mains);
}

TEST_CASE("a sleeping Adreno has no load and an impossible one is not believed") {
  SysfsTree tree;
  make_phone(tree);
  Board board = Board::open(tree.root());
  tree.write("class/kgsl/kgsl-3d0/gpubusy", "0 0");
  CHECK(board.read().gpu_load == doctest::Approx(0.0));
  for (const char* garbage :
       {"5 0", "2000 1000", "-1 100", "12", "", "busy", "1 x", "99999999999999999999 1"}) {
    CAPTURE(garbage);
    tree.write("class/kgsl/kgsl-3d0/gpubusy", garbage);
    CHECK(!board.read().gpu_load);
  }
}

TEST_CASE("each kind of load file is understood") {
  struct Case {
    const char* path;
    const char* content;
    double load;
  };
  for (const Case& c : {Case{"devices/platform/gpu.0/load", "500", 0.5},
                        Case{"class/devfreq/17000000.gpu/device/load", "1000", 1.0},
                        Case{"class/devfreq/1c40000.gpu/device/utilisation", "7", 0.07},
                        Case{"class/misc/mali0/device/utilization", "31", 0.31},
                        Case{"kernel/gpu/gpu_busy", "12 %", 0.12},
                        Case{"class/kgsl/kgsl-3d0/gpu_busy_percentage", "3 %", 0.03},
                        Case{"class/drm/card0/device/gpu_busy_percent", "80", 0.8}}) {
    CAPTURE(c.path);
    SysfsTree tree;
    tree.write(c.path, c.content);
    CHECK(Board::open(tree.root()).read().gpu_load == doctest::Approx(c.load));
  }
}

TEST_CASE("files that vanish leave their value empty and are found again when they return") {
  SysfsTree tree;
  make_jetson_orin(tree);
  Board board = Board::open(tree.root());
  BoardMeters meters = BoardMeters::open(tree.root());
  REQUIRE(meters.read().power_w.has_value());
  REQUIRE(board.read().gpu_load.has_value());
  tree.remove("devices/gpu.0");
  tree.remove("devices/virtual/thermal/thermal_zone1");
  BoardState state = board.read();
  CHECK(!state.gpu_load);
  CHECK(state.temperature_c == doctest::Approx(48.5));
  CHECK(state.thermal_margin_c == doctest::Approx(99.0 - 48.5));
  tree.write("devices/gpu.0/load", "10");
  CHECK(board.read().gpu_load == doctest::Approx(0.01));
  tree.remove("");
  state = board.read();
  CHECK(!state.temperature_c);
  const MeterState metered = meters.read();
  CHECK(!metered.power_w);
  CHECK(!metered.cpu_clock_hz);
}

TEST_CASE("garbage in any file is no value and no harm") {
  SysfsTree tree;
  make_jetson_orin(tree);
  Board board = Board::open(tree.root());
  BoardMeters meters = BoardMeters::open(tree.root());
  const std::string long_line(100000, '9');
  for (const std::string& garbage :
       {std::string("nan"), std::string("48.5"), std::string("-"), std::string("0x30"),
        std::string("-256000"), long_line, std::string("\xff\xfe\0\x01", 4), std::string("1e3")}) {
    for (const char* path :
         {"devices/virtual/thermal/thermal_zone0/temp",
          "devices/virtual/thermal/thermal_zone1/temp", "class/devfreq/17000000.ga10b/cur_freq",
          "class/hwmon/hwmon3/in1_input", "class/hwmon/hwmon3/in2_input",
          "class/hwmon/hwmon3/in3_input", "class/hwmon/hwmon4/in2_input",
          "devices/system/cpu/cpufreq/policy0/scaling_cur_freq"}) {
      tree.write(path, garbage);
    }
    const BoardState state = board.read();
    const MeterState metered = meters.read();
    CHECK(!state.temperature_c);
    CHECK(!state.thermal_margin_c);
    CHECK(!metered.gpu_clock_hz);
    CHECK(!metered.cpu_clock_hz);
    const bool negative_only = garbage == "-256000";
    CHECK(!(metered.power_w && *metered.power_w > 0));
    if (!negative_only) CHECK(!metered.power_w);
    // Opening on garbage is as harmless as reading it.
    CHECK(!Board::open(tree.root()).read().temperature_c);
  }
}

TEST_CASE("a fifo or a folder in a sensor's place does not hang the reader") {
  SysfsTree tree;
  make_jetson_orin(tree);
  Board board = Board::open(tree.root());
  tree.remove("devices/gpu.0/load");
  REQUIRE(mkfifo((tree.root() + "/devices/gpu.0/load").c_str(), 0600) == 0);
  CHECK(!board.read().gpu_load);
  tree.remove("devices/gpu.0/load");
  tree.write("devices/gpu.0/load/inner", "1");
  CHECK(!board.read().gpu_load);
}

TEST_CASE("trips at zero and beyond the plausible are not trips") {
  SysfsTree tree;
  tree.write_all("class/thermal/thermal_zone0", {{"type", "x"},
                                                 {"temp", "30000"},
                                                 {"trip_point_0_type", "passive"},
                                                 {"trip_point_0_temp", "0"},
                                                 {"trip_point_1_type", "passive"},
                                                 {"trip_point_1_temp", "-274000"},
                                                 {"trip_point_2_type", "hot"},
                                                 {"trip_point_2_temp", "110000"},
                                                 {"trip_point_3_type", "critical"},
                                                 {"trip_point_3_temp", "105000"}});
  Board board = Board::open(tree.root());
  CHECK(board.read().thermal_margin_c == doctest::Approx(75.0));
}

TEST_CASE("a zone in millidegrees near freezing is not taken for one in degrees") {
  SysfsTree tree;
  tree.write_all("class/thermal/thermal_zone0", {{"type", "outdoor"},
                                                 {"temp", "150"},
                                                 {"trip_point_0_type", "passive"},
                                                 {"trip_point_0_temp", "80000"}});
  CHECK(Board::open(tree.root()).read().temperature_c == doctest::Approx(0.15));
}
