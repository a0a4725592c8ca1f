#include "kernels/krylov/solve_memory.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "kernels/krylov/product_choice.hpp"
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

const SparsityPattern kPattern = {2, 2, {0, 1, 2}, {0, 1}};

}  // namespace

TEST_CASE("what solves left is read as it was written") {
  const auto bytes = bytes_of(usual(), 7);
  const auto read = memory_in(bytes, 7);
  REQUIRE(read.ok());
  CHECK(read->iterations == 120);
  CHECK(read->format == SparseFormat::ell);
  CHECK(same(read->variant, KernelVariant{0, 256}));
  CHECK(!read->reverted);
  CHECK(read->product_us == 12.5);
  CHECK(read->csr_us == 20);
  CHECK(memory_in(bytes, 8).status().message() == "not of this structure");
}

TEST_CASE("every damaged bit and every missing byte of it is found") {
  const auto bytes = bytes_of(usual(), 7);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    CAPTURE(i);
    CHECK(!memory_in({bytes.data(), i}, 7).ok());
    for (int bit = 0; bit < 8; ++bit) {
      auto damaged = bytes;
      damaged[i] = static_cast<std::uint8_t>(damaged[i] ^ (1 << bit));
      CHECK(memory_in(damaged, 7).code() == StatusCode::corrupt);
    }
  }
}

TEST_CASE("a later process finds what an earlier one left, and writes only what differs") {
  const test::TemporaryFolder folder;
  MemoryFile first;
  first.open(folder.path(), device(), 8, kPattern);
  CHECK(!first.known());
  CHECK(first.note() == "nothing was known of this structure");
  first.keep(usual());
  MemoryFile second;
  second.open(folder.path(), device(), 8, kPattern);
  REQUIRE(second.known());
  CHECK(second.memory().iterations == 120);
  CHECK(second.note() == "the last solve took 120 iterations, in ELL");
  MemoryFile other;  // of another precision
  other.open(folder.path(), device(), 4, kPattern);
  CHECK(!other.known());
  // A little more of the same is not written.
  SolveMemory later = usual();
  later.iterations = 130;
  second.keep(later);
  first.open(folder.path(), device(), 8, kPattern);
  CHECK(first.memory().iterations == 120);
  later.iterations = 200;
  second.keep(later);
  first.open(folder.path(), device(), 8, kPattern);
  CHECK(first.memory().iterations == 200);
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
  other.sized({100, 100, 100, 100, 100, 100}, 0);
  CHECK(other.predicted_us(SparseFormat::ell) == 25);  // 12.5 where CSR took 20
}

TEST_CASE("what is no plain file in the place of a memory is done without, and replaced") {
  const test::TemporaryFolder folder;
  MemoryFile first;
  first.open(folder.path(), device(), 8, kPattern);
  first.keep(usual());
  std::string path;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) path = entry.path();
  REQUIRE(path.find(".itsolves") != std::string::npos);
  const std::string other = folder.path() + "/other";
  std::ofstream(other) << "somebody else's";
  REQUIRE(::symlink(other.c_str(), (path + ".part").c_str()) == 0);
  REQUIRE(::unlink(path.c_str()) == 0);
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  MemoryFile second;
  second.open(folder.path(), device(), 8, kPattern);  // waits for nobody
  CHECK(!second.known());
  CHECK(second.note().find("done without it") != std::string::npos);
  second.keep(usual());
  second.open(folder.path(), device(), 8, kPattern);
  CHECK(second.known());
  CHECK(std::filesystem::file_size(other) == 15);
}

TEST_CASE("of a format that nothing was measured in nothing is left") {
  const ModelChoice none;
  SolverOptions options;
  options.choosing = Choosing::always;
  ProductChoice choice(options, none);
  choice.begins_in(SparseFormat::csr, 1e-4, "");
  while (choice.look_ahead({1e6, 1e6, 1e6}) != ProductChoice::Wish::sizes) choice.took(40);
  choice.sized({100, 100, 50, 100, 100, 100}, 0);
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
  later.sized({100, 100, 100, 100, 100, 100}, 0);
  CHECK(later.predicted_us(SparseFormat::ell) == 40);
}
