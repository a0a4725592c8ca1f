#include <doctest/doctest.h>

#include "models/predict/model.hpp"

using idletune::same_device_model;

TEST_CASE("vendor, marketing and packaging do not make another device") {
  CHECK(same_device_model("NVIDIA A100-PCIE-40GB", "A100-SXM4-40GB"));
  CHECK(same_device_model("NVIDIA GeForce RTX 2080 Ti", "2080 Ti"));
  CHECK(same_device_model("AMD Radeon PRO W6600", "pro w6600"));
  CHECK(same_device_model("Tesla K20m", "NVIDIA Tesla K20m"));
  CHECK(same_device_model("x", "x"));
}

TEST_CASE("other model numbers are other devices") {
  CHECK_FALSE(same_device_model("NVIDIA GeForce RTX 2080", "NVIDIA GeForce RTX 2080 Ti"));
  CHECK_FALSE(same_device_model("NVIDIA RTX A4000", "Quadro 4000"));
  CHECK_FALSE(same_device_model("GeForce GTX TITAN X", "NVIDIA TITAN RTX"));
  CHECK_FALSE(same_device_model("Mali-G71", "Mali-G72"));
  CHECK_FALSE(same_device_model("Tesla P100-PCIE-12GB", "Tesla V100-PCIE-32GB"));
}

TEST_CASE("names that say nothing are nobody's") {
  CHECK_FALSE(same_device_model("", ""));
  CHECK_FALSE(same_device_model("NVIDIA", "AMD"));
  CHECK_FALSE(same_device_model("", "A100"));
}
