// What is believed of signed files, whatever signs them.
#include <idletune/agent.hpp>
#include <idletune/signing.hpp>

#include <doctest/doctest.h>

#include "agent/signing/pushed_file.hpp"
#include "platform/os/storage.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/signing/signed_file.hpp"

using namespace idletune;
using idletune::test::DigestCheck;
using idletune::test::key_number;
using idletune::test::signed_by;

namespace {

const DigestCheck kCheck;
const std::string kProduct = "thermostat-3";

std::unique_ptr<FileTrust> trust_in(const std::vector<PublicKey>& keys,
                                    const std::string& product = kProduct) {
  return required(signed_files(keys, product, &kCheck));
}

std::vector<std::uint8_t> some_bytes(std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 + 3);
  return bytes;
}

std::string refusal(const FileTrust& trust, Bytes file) {
  const auto believed = trust.believed(file);
  CHECK(believed.code() == StatusCode::untrusted);
  return believed.status().message();
}

}  // namespace

TEST_CASE("a signed file is believed by whoever has the key and the product's name") {
  const auto file = signed_by(key_number(1), kProduct, some_bytes(500));
  CHECK(file.size() == 500 + signing::kTrailerBytes);
  CHECK(*trust_in({key_number(1)})->believed(file) == 500);
  CHECK(*trust_in({key_number(2), key_number(1)})->believed(file) == 500);
  CHECK(refusal(*trust_in({key_number(2)}), file) ==
        "it was signed with a key that is not believed");
  CHECK(refusal(*trust_in({key_number(1)}, "thermostat-4"), file) ==
        "it was signed for the product 'thermostat-3', expected 'thermostat-4'");
}

TEST_CASE("names of products have at most 71 bytes") {
  const std::string longest(71, 'p');
  const auto file = signed_by(key_number(1), longest, some_bytes(10));
  CHECK(trust_in({key_number(1)}, longest)->believed(file).ok());
  CHECK_FALSE(signed_files({key_number(1)}, longest + "p", &kCheck).ok());
  CHECK_FALSE(signed_files({key_number(1)}, "", &kCheck).ok());
  CHECK_FALSE(signed_files({key_number(1)}, std::string("a\0b", 3), &kCheck).ok());
  CHECK_FALSE(signed_files({}, kProduct, &kCheck).ok());
  CHECK_FALSE(signed_files({key_number(1)}, kProduct, nullptr).ok());
}

TEST_CASE("what is no signature is refused, and named") {
  const auto trust = trust_in({key_number(1)});
  CHECK(refusal(*trust, {}) == "expected a signature at its end");
  CHECK(refusal(*trust, some_bytes(500)) == "expected a signature at its end");
  CHECK(refusal(*trust, signed_by(key_number(1), kProduct, {})) == "it is a signature of nothing");
  const auto once = signed_by(key_number(1), kProduct, some_bytes(500));
  CHECK(refusal(*trust, signed_by(key_number(1), kProduct, once)) == "it has two signatures");
  auto cut = once;
  cut.erase(cut.begin());
  CHECK(refusal(*trust, cut) == "its signature is of 500 bytes, but it has 499");
  cut = once;
  cut.pop_back();
  CHECK(refusal(*trust, cut) == "expected a signature at its end");
  const auto with = [&](std::size_t at, std::uint8_t value) {
    auto file = once;
    file[500 + at] = value;
    return file;
  };
  CHECK(refusal(*trust, with(8, 2)) == "its signature is of a version that this one does not read");
  CHECK(refusal(*trust, with(12, 1)) ==
        "its signature is of a version that this one does not read");
  CHECK(refusal(*trust, with(10, 2)) ==
        "its signature is of another kind than ECDSA with P-256 and SHA-256");
  CHECK(refusal(*trust, with(56, 0)) == "its signature names no product");
  CHECK(refusal(*trust, with(127, 'x')) == "its signature names no product");
  auto unended = once;
  std::fill_n(unended.begin() + 556, 72, std::uint8_t{'p'});
  CHECK(refusal(*trust, unended) == "its signature names no product");
}

TEST_CASE("a product's name is one line of UTF-8, and moves no cursor") {
  for (const char* name : {"a\nall is well", "a\x1b[2J", "a\xc2\x9b 2J", "a\x7f", "a\xff"}) {
    const auto file = signed_by(key_number(1), name, some_bytes(10));
    CHECK(refusal(*trust_in({key_number(1)}), file) == "its signature names no product");
    CHECK(signed_files({key_number(1)}, name, &kCheck).code() == StatusCode::invalid_argument);
  }
  const std::string umlaut = "Ger\xc3\xa4t \xf0\x9f\x94\xa5";
  const auto file = signed_by(key_number(1), umlaut, some_bytes(10));
  CHECK(trust_in({key_number(1)}, umlaut)->believed(file).ok());
}

TEST_CASE("every other bit of a signed file changes the verdict") {
  const auto trust = trust_in({key_number(1)});
  const auto file = signed_by(key_number(1), kProduct, some_bytes(40));
  for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
    auto other = file;
    other[bit / 8] = static_cast<std::uint8_t>(other[bit / 8] ^ (1U << bit % 8));
    CHECK_MESSAGE(trust->believed(other).code() == StatusCode::untrusted, bit);
  }
}

TEST_CASE("keys are read as OpenSSL writes them") {
  const std::string text =
      "Bag Attributes\n-----BEGIN PUBLIC KEY-----\r\n"
      "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEbHEU9gXrWO2H8w1omOLuAil4ai36\r\n"
      "ZtUVVSMxfUZsk+RiuodO0b1ZKDoyAb7ITPl2iVN0VoXuFk7OIafz+cuSTg==\n"
      "-----END PUBLIC KEY-----\n";
  const auto key = required(PublicKey::read(text));
  CHECK(key.point[0] == 4);
  CHECK(key.point[1] == 0x6c);
  CHECK(key.point[64] == 0x4e);
  CHECK(PublicKey::read("").code() == StatusCode::invalid_argument);
  CHECK(PublicKey::read(text.substr(0, 120)).code() == StatusCode::invalid_argument);
  std::string other = text;
  other[other.find("MFk") + 8] = 'X';  // another curve
  CHECK(PublicKey::read(other).status().message() == "expected a key of P-256");
}

TEST_CASE(
    "where nobody is asked a signature is passed over, and where somebody is the file is named") {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() + "/some.itmodel";
  const auto content = some_bytes(300);
  REQUIRE(write_file_atomically(path, signed_by(key_number(1), kProduct, content)).ok());
  CHECK(*read_pushed_file(path, 1000, nullptr) == content);
  const auto trust = trust_in({key_number(1)});
  CHECK(*read_pushed_file(path, 1000, trust.get()) == content);
  REQUIRE(write_file_atomically(path, content).ok());
  CHECK(*read_pushed_file(path, 1000, nullptr) == content);
  CHECK(read_pushed_file(path, 1000, trust.get()).status().to_string() ==
        "untrusted: '" + path + "': expected a signature at its end");
}
