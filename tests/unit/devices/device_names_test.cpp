#include <doctest/doctest.h>

#include "models/devices/device_names.hpp"

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

TEST_CASE("how many cores of which revision a Mali has does not make another device") {
  CHECK(same_device_model("Mali-G610 MC6 r0p0", "Mali-G610 r0p0"));
  CHECK(same_device_model("Mali-T860 MP4", "Mali-T860"));
  CHECK_FALSE(same_device_model("Mali-G610 MC6 r0p0", "Mali-G615 MC6 r0p0"));
  CHECK(same_device_model("QUALCOMM Adreno(TM) 640", "Adreno 640"));
  CHECK_FALSE(same_device_model("QUALCOMM Adreno(TM) 640", "QUALCOMM Adreno(TM) 650"));
}

TEST_CASE("a family is a word of the name") {
  CHECK(idletune::device_name_contains("Mali-G610 r0p0", "Mali"));
  CHECK(idletune::device_name_contains("QUALCOMM Adreno(TM) 640", "adreno"));
  CHECK_FALSE(idletune::device_name_contains("Normalia 7", "mali"));
  CHECK_FALSE(idletune::device_name_contains("Mali-G610", ""));
  CHECK_FALSE(idletune::device_name_contains("Mali-G610", "Mali G610"));
}

TEST_CASE("names that say nothing are nobody's") {
  CHECK_FALSE(same_device_model("", ""));
  CHECK_FALSE(same_device_model("NVIDIA", "AMD"));
  CHECK_FALSE(same_device_model("", "A100"));
}
