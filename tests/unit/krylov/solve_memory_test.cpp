#include "kernels/krylov/solve_memory.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "kernels/krylov/product_choice.hpp"
#include "tests/unit/krylov/made_up_notes.hpp"
#include "tests/unit/os/temporary_folder.hpp"

namespace {

using namespace idletune;
using namespace idletune::krylov;

SolveMemory usual() {
  SolveMemory memory;
  memory.iterations = 120;
  memory.format = SparseFormat::ell;
  memory.variant = {0, 256};
  memory.product_us = 12.5;
  memory.csr_us = 20;
  return memory;
}

DeviceInfo device() {
  DeviceInfo info;
  info.name = "a device";
  return info;
}

// As version 0.2.0 wrote it, of what usual() says.
std::vector<std::uint8_t> old_file(std::uint64_t key) {
  std::vector<std::uint8_t> bytes;
  const auto put = [&](std::uint64_t value, int count) {
    for (int i = 0; i < count; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  };
  const auto put_double = [&](double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    put(bits, 8);
  };
  put(0x4d4b5449, 4);
  put(1, 4);
  put(key, 8);
  put(120, 4);
  put(static_cast<std::uint64_t>(SparseFormat::ell), 2);
  put(0, 2);
  put(0, 4);
  put(256, 4);
  put_double(12.5);
  put_double(20);
  std::uint64_t sum = 0xcbf29ce484222325ULL;
  for (const std::uint8_t byte : bytes) sum = (sum ^ byte) * 0x100000001b3ULL;
  put(sum, 8);
  return bytes;
}

const SparsityPattern kPattern = {2, 2, {0, 1, 2}, {0, 1}};

}  // namespace

TEST_CASE("what solves left is read as it was written") {
  const std::string text = text_of(usual());
  CHECK(
      text ==
      "solve iterations=120 format=ELL kind=0 group=256 reverted=0 product_ns=12500 csr_ns=20000");
  const auto read = memory_in(text);
  REQUIRE(read.has_value());
  CHECK(text_of(*read) == text);
  CHECK(same(read->variant, KernelVariant{0, 256}));
  CHECK(read->product_us == 12.5);
}

TEST_CASE("what is no memory of solves is none") {
  const std::string text = text_of(usual());
  for (std::size_t i = 0; i + 4 < text.size(); ++i) CHECK(!memory_in(text.substr(0, i)));
  CHECK(!memory_in(text + " "));
  CHECK(
      !memory_in("solve iterations=1 format=XYZ kind=0 group=1 reverted=0 product_ns=1 csr_ns=1"));
  CHECK(
      !memory_in("solve iterations=1 format=ELL kind=0 group=1 reverted=0 product_ns=-1 csr_ns=1"));
}

TEST_CASE("every damaged bit and every missing byte of an earlier version's file is found") {
  const auto bytes = old_file(7);
  const auto read = memory_in_file(bytes, 7);
  REQUIRE(read.ok());
  CHECK(text_of(*read) == text_of(usual()));
  CHECK(memory_in_file(bytes, 8).status().message() == "not of this structure");
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    CAPTURE(i);
    CHECK(!memory_in_file({bytes.data(), i}, 7).ok());
    for (int bit = 0; bit < 8; ++bit) {
      auto damaged = bytes;
      damaged[i] = static_cast<std::uint8_t>(damaged[i] ^ (1 << bit));
      CHECK(memory_in_file(damaged, 7).code() == StatusCode::corrupt);
    }
  }
}

TEST_CASE("a later process finds what an earlier one noted, and notes only what differs") {
  MadeUpNotes notes;
  SolverOptions options;
  options.notes = &notes;
  StructureMemory first;
  first.open(options, device(), 8, kPattern);
  CHECK(!first.known());
  CHECK(first.note() == "nothing was known of this structure");
  first.keep(usual());
  StructureMemory second;
  second.open(options, device(), 8, kPattern);
  REQUIRE(second.known());
  CHECK(second.memory().iterations == 120);
  CHECK(second.note() == "the last solve took 120 iterations, in ELL");
  StructureMemory other;  // of another precision
  other.open(options, device(), 4, kPattern);
  CHECK(!other.known());
  // A little more of the same is not noted.
  SolveMemory later = usual();
  later.iterations = 130;
  second.keep(later);
  CHECK(notes.written == 1);
  later.iterations = 200;
  second.keep(later);
  CHECK(notes.written == 2);
  first.open(options, device(), 8, kPattern);
  CHECK(first.memory().iterations == 200);
}

TEST_CASE("an earlier version's file is read until something is noted, and left as it is") {
  const test::TemporaryFolder folder;
  MadeUpNotes notes;
  SolverOptions options;
  options.notes = &notes;
  options.memory_folder = folder.path();
  StructureMemory memory;
  memory.open(options, device(), 8, kPattern);
  memory.keep(usual());
  REQUIRE(notes.texts.size() == 1);
  const std::uint64_t key = notes.texts.begin()->first;
  char name[32];
  std::snprintf(name, sizeof name, "/%016llx.itsolves", static_cast<unsigned long long>(key));
  const std::string path = folder.path() + name;
  const auto bytes = old_file(key);
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), 56);
  notes.texts.clear();
  StructureMemory second;
  second.open(options, device(), 8, kPattern);
  REQUIRE(second.known());
  second.keep(second.memory());
  CHECK(notes.texts[key] == text_of(usual()));
  CHECK(std::filesystem::file_size(path) == 56);
  // What is no plain file there is waited for by nobody.
  REQUIRE(::unlink(path.c_str()) == 0);
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  notes.texts.clear();
  StructureMemory third;
  third.open(options, device(), 8, kPattern);
  CHECK(!third.known());
  CHECK(third.note().find("done without it") != std::string::npos);
  third.keep(usual());
  CHECK(notes.texts.size() == 1);
}

TEST_CASE("a choice begins with the kernel that was the fastest, and knows the other format") {
  const ModelChoice none;
  SolverOptions options;
  ProductChoice choice(options, none);
  SolveMemory memory = usual();
  memory.format = SparseFormat::csr;
  choice.remember(memory);
  choice.begins_in(SparseFormat::csr, 1e-4, "");
  CHECK(same(choice.race().current(), KernelVariant{0, 256}));

  ProductChoice other(options, none);
  other.remember(usual());
  other.begins_in(SparseFormat::csr, 1e-4, "");
  CHECK(same(other.race().current(), KernelVariant{0, 64}));
  for (int i = 0; i < 4; ++i) other.took(40);
  other.sized({100, 100, 100, 100, 100, 100}, 0, 0);
  CHECK(other.predicted_us(SparseFormat::ell) == 25);  // 12.5 where CSR took 20
}

TEST_CASE("of a format that nothing was measured in nothing is left") {
  const ModelChoice none;
  SolverOptions options;
  options.choosing = Choosing::always;
  ProductChoice choice(options, none);
  choice.begins_in(SparseFormat::csr, 1e-4, "");
  while (choice.look_ahead({1e6, 1e6, 1e6}) != ProductChoice::Wish::sizes) choice.took(40);
  choice.sized({100, 100, 50, 100, 100, 100}, 0, 0);
  REQUIRE(choice.look_ahead({1e6, 1e6, 1e6}) == ProductChoice::Wish::conversion);
  choice.converted(1e-3);
  CHECK(choice.active() == SparseFormat::dia);
  for (int runs = 0; runs < 2; ++runs) {
    CHECK(choice.memory(50).format == SparseFormat::csr);
    CHECK(choice.memory(50).product_us == 40);
    if (runs == 0) choice.took(20);  // the first does not count
  }
  // Nor does an earlier process's memory of that kind count.
  SolveMemory memory = usual();
  memory.product_us = 0;
  ProductChoice later(options, none);
  later.remember(memory);
  later.begins_in(SparseFormat::csr, 1e-4, "");
  for (int i = 0; i < 4; ++i) later.took(40);
  later.sized({100, 100, 100, 100, 100, 100}, 0, 0);
  CHECK(later.predicted_us(SparseFormat::ell) == 32);  // as usual, of 40
}

TEST_CASE("what was not compared with CSR is no reason to stay there") {
  const ModelChoice none;
  SolverOptions options;
  options.fixed_format = true;
  ProductChoice choice(options, none);
  choice.begins_in(SparseFormat::dia, 1e-4, "");
  while (choice.failed(true) != ProductChoice::Left::rows) {
  }
  choice.begins_in(SparseFormat::csr, 1e-4, "DIA is wrong");
  choice.took(40);
  CHECK(choice.conversion().verdict == Conversion::Verdict::reverted);
  CHECK(!choice.memory(9).reverted);
}

TEST_CASE("what is known of another format is left until one is tried again") {
  const ModelChoice none;
  ProductChoice choice(SolverOptions(), none);
  choice.remember(usual());
  choice.begins_in(SparseFormat::csr, 1e-4, "");
  choice.took(40);
  SolveMemory expected = usual();
  expected.iterations = 9;
  CHECK(text_of(choice.memory(9)) == text_of(expected));
}

TEST_CASE("a run with a given format leaves what is known of others") {
  const ModelChoice none;
  SolverOptions options;
  options.fixed_format = true;
  options.format = SparseFormat::hyb;
  for (const bool same_format : {false, true}) {
    SolveMemory known = usual();
    known.reverted = !same_format;
    known.format = same_format ? SparseFormat::hyb : SparseFormat::csr;
    ProductChoice choice(options, none);
    choice.remember(known);
    choice.begins_in(SparseFormat::hyb, 1e-4, "");
    for (int i = 0; i < 3; ++i) choice.took(40);
    known.iterations = 9;
    const SolveMemory left = choice.memory(9);
    if (!same_format) CHECK(text_of(left) == text_of(known));
    if (same_format) CHECK(left.product_us == 40);
  }
}

TEST_CASE("who measures nothing leaves what is known") {
  const ModelChoice none;
  SolveMemory known = usual();
  known.format = SparseFormat::csr;
  known.reverted = true;
  ProductChoice choice(SolverOptions(), none);
  choice.remember(known);
  choice.begins_in(SparseFormat::csr, 1e-4, "");
  choice.took(40);  // the first, which is not counted
  known.iterations = 9;
  CHECK(text_of(choice.memory(9)) == text_of(known));
}
