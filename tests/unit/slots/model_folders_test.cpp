// Folders of models that are not there, or not as they should be.
#include <doctest/doctest.h>

#include "tests/unit/slots/slots_board.hpp"

using namespace idletune;
using namespace idletune::test;

TEST_CASE("folders that cannot be opened are said to be, and opened once that goes") {
  for (const bool models : {true, false}) {
    SlotBoard board;
    board.start().adopt(kTwo);
    bool there = false;
    SlotProcess process = board.start([&](slots::ModelFolders& folders) {
      if (there) return;
      (models ? folders.models : folders.incoming) = nullptr;
      folders.writable = !models;
      folders.opened = Status(StatusCode::read_only, "permission denied");
    });
    CHECK(process.opened.code() == StatusCode::read_only);
    CHECK(process.digest() == digest_of_model(models ? kOne : kTwo));
    process.push("m.itmodel", kThree);
    CHECK(process.models->look().code() == StatusCode::read_only);
    there = true;
    CHECK(process.models->look().ok());
    CHECK(process.digest() == digest_of_model(kThree));
    REQUIRE(process.models->reject("late frames").ok());
    // What could not be read is still what was confirmed.
    CHECK(board.start().digest() == digest_of_model(kTwo));
  }
}

TEST_CASE("models are taken once the journal can be written") {
  SlotBoard board;
  bool writable = false;
  SlotProcess process =
      board.start([&](slots::ModelFolders& folders) { folders.writable = writable; });
  process.push("m.itmodel", kTwo);
  CHECK(process.models->look().ok());
  CHECK(process.digest() == digest_of_model(kOne));
  writable = true;
  CHECK(process.models->look().ok());
  CHECK(process.digest() == digest_of_model(kTwo));
}

TEST_CASE("what was taken and cannot be removed is read once") {
  SlotBoard board;
  SlotProcess process = board.start(
      [&](slots::ModelFolders& folders) { folders.incoming_name = board.folder.path(); });
  const std::string stamped = board.folder.path() + "/m.itmodel";
  REQUIRE(write_file_atomically(stamped, kTwo).ok());
  board.disk->unremovable = "incoming-m.itmodel";
  process.try_out(kTwo);
  const std::uint64_t reads = board.disk->reads;
  for (int look = 0; look < 3; ++look) CHECK(process.models->look().ok());
  CHECK(board.disk->reads == reads);
  REQUIRE(write_file_atomically(stamped, kThree).ok());
  process.try_out(kThree);
  CHECK(process.digest() == digest_of_model(kThree));
}
