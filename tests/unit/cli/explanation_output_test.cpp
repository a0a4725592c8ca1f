#include "agent/host/cli/explanation_output.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace idletune;
using namespace idletune::cli;

namespace {

Explanation explained() {
  Explanation e;
  e.kernel = "sgemm";
  e.shape = {64, 128};
  e.running_text = "A=1 B=2";
  e.selection = Selection::tuned;
  e.default_ms = 4;
  e.running_ms = 2.5;
  e.speed_up = 1.6;
  e.evaluated = 1;
  e.tuning_ms = 1500;
  return e;
}

}  // namespace

TEST_CASE("an explanation is read in four lines") {
  Explanation e = explained();
  CHECK(explanation_text(e) ==
        "sgemm 64x128\n"
        "  runs      A=1 B=2 (tuned)\n"
        "  time      default 4.00\u00A0ms, now 2.50\u00A0ms: 1.60x\n"
        "  tried     1\u00A0configuration, 0 failed, 0 quarantined, in 1.50\u00A0s\n");
  e.problem = "M=64 N=128";
  e.captured = true;
  e.evaluated = 3, e.rejected = 2, e.quarantined = 1;
  e.model_refused = "learned of other problems";
  e.default_ms = 0;
  CHECK(explanation_text(e) ==
        "sgemm M=64 N=128\n"
        "  model     learned of other problems\n"
        "  runs      A=1 B=2 (tuned, on captured data)\n"
        "  time      default not measured, now 2.50\u00A0ms\n"
        "  tried     3\u00A0configurations, 2 failed, 1 quarantined, in 1.50\u00A0s\n");
}

TEST_CASE("for machines each field has its own name, and what is not finite is null") {
  Explanation e = explained();
  e.expected_launches = std::numeric_limits<double>::infinity();
  e.gain_ms = std::nan("");
  e.cost_ms = 3;
  e.fraction_low = 0.1, e.fraction_high = 0.2;
  e.resembles = {{"another board", 0.75}};
  const json object = explanation_object(e);
  CHECK(object["kernel"] == "sgemm");
  CHECK(object["shape"] == json({64, 128}));
  CHECK(object["running"] == "A=1 B=2");
  CHECK(object["selection"] == "tuned");
  CHECK(object["member"].is_null());
  CHECK(object["expected_launches"].is_null());
  CHECK(object["gain_ms"].is_null());
  CHECK(object["cost_ms"] == 3);
  CHECK(object["fraction_interval"] == json({0.1, 0.2}));
  CHECK(object["resembles"] == json::array({{{"device", "another board"}, {"weight", 0.75}}}));
}

TEST_CASE("times that were not measured say so") {
  CHECK(measured_time(0) == "not measured");
  CHECK(measured_time(0.25) == "250\u00A0\u00B5s");
  CHECK(measured_ms(0) == "-");
  CHECK(measured_ms(1.2345) == "1.23");
  CHECK(format_number(1.005, 1) == "1.0");
  CHECK(format_number(-0.25, 3) == "-0.250");
  CHECK(format_number(std::nan(""), 2) == "-");
  CHECK(milliseconds(std::chrono::microseconds(1500)) == 1.5);
}

TEST_CASE("an agent that may tune gives no reason why it never does") {
  AgentOptions options;
  CHECK(why_never(options).empty());
  options.mode = Mode::cached;
  CHECK(why_never(options).find(": nothing is tuned") != std::string::npos);
}
