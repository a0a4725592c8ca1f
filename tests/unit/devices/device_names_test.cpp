#include <string>

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

TEST_CASE("devices of two vendors are two devices, whatever their numbers") {
  for (const char* adreno : {"QUALCOMM Adreno(TM) 540", "Adreno 610", "Adreno 530"}) {
    for (const char* other : {"AMD Radeon 540", "Radeon 610", "AMD Radeon 530",
                              "Intel(R) HD Graphics 530", "Intel(R) Graphics 540"}) {
      CHECK_FALSE(same_device_model(adreno, other));
      CHECK_FALSE(same_device_model(other, adreno));
    }
  }
  CHECK_FALSE(same_device_model("Intel(R) HD Graphics 530", "AMD Radeon 530"));
  CHECK_FALSE(same_device_model("AMD Radeon 530", "Intel(R) Graphics 530"));
  for (const char* number : {"4000", "5000", "6000"}) {
    const std::string old = std::string("NVIDIA Quadro ") + number;
    const std::string turing = std::string("NVIDIA Quadro RTX ") + number;
    CHECK_FALSE(same_device_model(old, turing));
    CHECK_FALSE(same_device_model(turing, old));
  }
  CHECK(same_device_model("Quadro P1000", "NVIDIA P1000"));
  CHECK(same_device_model("Quadro RTX 4000", "NVIDIA Quadro RTX 4000"));
  CHECK_FALSE(same_device_model("Radeon HD 5450", "Intel 5450"));
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
