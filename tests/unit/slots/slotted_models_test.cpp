// What a board does with models that are pushed to it.
#include <doctest/doctest.h>

#include "tests/unit/signing/signed_file.hpp"
#include "tests/unit/slots/slots_board.hpp"

using namespace idletune;
using namespace idletune::test;

namespace {

void read_only(slots::ModelFolders& folders) { folders.writable = false; }

}  // namespace

TEST_CASE("a pushed model is tried, confirmed, and then is what nothing older replaces") {
  SlotBoard board;
  {
    SlotProcess process = board.start();
    CHECK(process.opened.ok());
    CHECK(process.digest() == digest_of_model(kOne));
    CHECK(process.state() == ModelState::confirmed);
    CHECK(process.kept().empty());  // nothing to remember, and nothing written
    process.push("any.itmodel", kTwo);
    CHECK(process.models->look().ok());
    CHECK(process.digest() == digest_of_model(kTwo));
    CHECK(process.state() == ModelState::trial);
    CHECK(process.incoming.list()->empty());
    CHECK(process.models->confirm().ok());
    CHECK(process.models->confirm().code() == StatusCode::not_found);
  }
  SlotProcess process = board.start();
  CHECK(process.digest() == digest_of_model(kTwo));
  CHECK(process.state() == ModelState::confirmed);
  CHECK(process.models->standing().lowest_generation == 2);
  process.push("old.itmodel", model_number(5, 1));
  CHECK(process.models->look().code() == StatusCode::version_mismatch);
  CHECK(process.digest() == digest_of_model(kTwo));
}

TEST_CASE("what was pushed while nothing ran is found at the start") {
  SlotBoard board;
  board.start().push("m.itmodel", kTwo);
  CHECK(board.start().digest() == digest_of_model(kTwo));
}

TEST_CASE("what is pushed into folders that were made anew is tried") {
  SlotBoard board;
  SlotProcess process = board.start();
  ++board.disk->folders_made;
  REQUIRE(process.incoming.open_again().ok());
  process.push("m.itmodel", kTwo);
  CHECK(process.models->look().ok());
  CHECK(process.digest() == digest_of_model(kTwo));
  CHECK(process.state() == ModelState::trial);
}

TEST_CASE("a model that is gone back from is refused for good") {
  SlotBoard board;
  {
    SlotProcess process = board.start();
    process.try_out(kTwo);
    CHECK(process.models->reject("pictures were late").ok());
    CHECK(process.digest() == digest_of_model(kOne));
    CHECK(process.models->standing().gone_back.message() == "pictures were late");
    CHECK(process.models->standing().refuted == 1);
  }
  SlotProcess process = board.start();
  CHECK(process.digest() == digest_of_model(kOne));
  process.push("m.itmodel", kTwo);
  CHECK(process.models->look().code() == StatusCode::untrusted);
  CHECK(process.models->standing().gone_back.message() == "pictures were late");
  process.push("m.itmodel", kThree);
  CHECK(process.models->look().ok());
  CHECK(process.digest() == digest_of_model(kThree));
}

TEST_CASE("three starts that die young end a trial, and others do not") {
  SlotBoard board;
  board.start().push("m.itmodel", kTwo);
  for (int start = 0; start < 3; ++start) CHECK(board.start().state() == ModelState::trial);
  {
    const SlotProcess process = board.start();
    CHECK(process.digest() == digest_of_model(kOne));
    CHECK(process.models->standing().gone_back.message() ==
          "three starts with it ended within a minute");
  }
  board.start().push("n.itmodel", kThree);
  for (int start = 0; start < 9; ++start) {
    SlotProcess process = board.start();
    CHECK(process.state() == ModelState::trial);
    if (start % 3 == 1) process.models->end();
    if (start % 3 == 2) process.live();
  }
}

TEST_CASE("a confirmed model that turns out bad gives way to the one before") {
  SlotBoard board;
  SlotProcess process = board.start();
  for (const auto& model : {kTwo, kThree}) process.adopt(model);
  CHECK(process.models->reject("bad after all").ok());
  CHECK(process.digest() == digest_of_model(kTwo));
  CHECK(process.models->standing().lowest_generation == 2);
  CHECK(process.models->reject("that, too").ok());
  CHECK(process.digest() == digest_of_model(kOne));
  CHECK(process.models->reject("all of them").ok());
  CHECK(process.digest() == 0);
  CHECK(process.models->reject("nothing").code() == StatusCode::not_found);
}

TEST_CASE("a model that nobody confirmed never serves for the one that was") {
  SlotBoard board;
  {
    SlotProcess process = board.start();
    for (const auto& model : {kTwo, kThree}) process.try_out(model);
    REQUIRE(process.models->reject("late frames").ok());
  }
  const auto other = model_number(7, 1);
  board.bring(other);
  SlotProcess process = board.start();
  CHECK(process.digest() == digest_of_model(other));
  CHECK(process.state() == ModelState::confirmed);
  CHECK(process.models->reject("that, too").ok());
  CHECK(process.digest() == 0);
}

TEST_CASE("what was confirmed once serves again, through restarts, the newest first") {
  SlotBoard board;
  {
    SlotProcess process = board.start();
    for (const auto& model : {kTwo, kThree}) process.adopt(model);
  }
  board.bring(kFour);
  REQUIRE(board.start().models->confirm().ok());
  for (const auto& model : {kThree, kTwo}) {
    SlotProcess process = board.start();
    REQUIRE(process.models->reject("late frames").ok());
    CHECK(process.digest() == digest_of_model(model));
    CHECK(process.state() == ModelState::confirmed);
  }
}

TEST_CASE("the program's newer model is tried, and its older one is not used again") {
  SlotBoard board;
  {
    SlotProcess process = board.start();
    process.adopt(kTwo);
  }
  board.bring(kThree);
  {
    SlotProcess process = board.start();
    CHECK(process.digest() == digest_of_model(kThree));
    CHECK(process.state() == ModelState::trial);
    REQUIRE(process.models->reject("no").ok());
    CHECK(process.digest() == digest_of_model(kTwo));
  }
  CHECK(board.start().digest() == digest_of_model(kTwo));
  board.bring(kFour);
  {
    SlotProcess process = board.start();
    REQUIRE(process.state() == ModelState::trial);
    REQUIRE(process.models->confirm().ok());
  }
  // With another image what it brought is gone: the newest that is left serves.
  board.bring(kOne);
  CHECK(board.start().digest() == digest_of_model(kTwo));
}

TEST_CASE("what is older than the program's model that took the confirmed one's place is refused") {
  SlotBoard board;
  {
    SlotProcess process = board.start();
    process.try_out(kTwo);
    REQUIRE(process.models->reject("no").ok());
  }
  board.bring(model_number(5, 5));
  SlotProcess process = board.start();
  CHECK(process.state() == ModelState::confirmed);
  process.push("m.itmodel", kThree);
  CHECK(process.models->look().code() == StatusCode::version_mismatch);
}

TEST_CASE("a damaged slot gives way to the other one, and that is said") {
  for (const bool lost : {false, true}) {
    SlotBoard board;
    {
      SlotProcess process = board.start();
      for (const auto& model : {kTwo, kThree}) process.adopt(model);
      FolderBelow models(board.disk, "models");
      if (lost) {
        CHECK(models.remove("b.itmodel").ok());
      } else {
        (void)(*models.create("b.itmodel"))->append(std::vector<std::uint8_t>(500, 1));
      }
    }
    SlotProcess process = board.start();
    CHECK_FALSE(process.opened.ok());
    CHECK(process.digest() == digest_of_model(kTwo));
    CHECK(process.state() == ModelState::confirmed);
    CHECK(board.start().opened.ok());
  }
}

TEST_CASE("a slot with another model than was confirmed is not used") {
  SlotBoard board;
  {
    SlotProcess process = board.start();
    process.adopt(kTwo);
    FolderBelow models(board.disk, "models");
    (void)(*models.create("a.itmodel"))->append(kThree);
  }
  const SlotProcess process = board.start();
  CHECK(process.opened.message() == "'a.itmodel': holds another model than was recorded");
}

TEST_CASE("who loses the journal keeps a model that works") {
  SlotBoard board;
  {
    SlotProcess process = board.start();
    process.adopt(kTwo);
    process.push("n.itmodel", kThree);
    REQUIRE(process.models->look().ok());
  }
  REQUIRE(test::open_faulty_storage(board.disk)->remove("journal").ok());
  // The older one of the slots is the one that had been confirmed.
  const SlotProcess process = board.start();
  CHECK(process.opened.ok());
  CHECK(process.digest() == digest_of_model(kTwo));
  CHECK(process.state() == ModelState::confirmed);
}

TEST_CASE("a second process uses what is confirmed, and tries nothing") {
  SlotBoard board;
  SlotProcess first = board.start();
  first.push("m.itmodel", kTwo);
  REQUIRE(first.models->look().ok());
  SlotProcess second = board.start(read_only);
  CHECK(second.digest() == digest_of_model(kOne));
  const std::string path = board.folder.path() + "/three.itmodel";
  REQUIRE(write_file_atomically(path, kThree).ok());
  CHECK(second.models->receive(path).code() == StatusCode::unsupported);
  CHECK(first.models->receive(path).ok());
  CHECK(first.digest() == digest_of_model(kThree));
}

TEST_CASE("what is found among the pushed files and is none is refused, and the rest is taken") {
  SlotBoard board;
  SlotProcess process = board.start();
  process.push("damaged.itmodel", std::vector<std::uint8_t>(100, 7));
  process.push("empty.itmodel", {});
  process.push("notes.txt", kTwo);
  process.push("z.itmodel", kTwo);
  CHECK_FALSE(process.models->look().ok());
  CHECK(process.digest() == digest_of_model(kTwo));
  CHECK(*process.incoming.list() ==
        std::vector<std::string>{"damaged.itmodel", "empty.itmodel", "notes.txt"});
}

TEST_CASE("where a key is set pushed models must be signed, and slots stay so") {
  const test::DigestCheck check;
  const PublicKey key = test::key_number(1);
  const auto trust = signed_files({key}, "board", &check);
  REQUIRE(trust.ok());
  SlotBoard board;
  board.bring(test::signed_by(key, "board", kOne));
  {
    SlotProcess process(board.disk, board.image, trust->get());
    CHECK(process.digest() == digest_of_model(kOne));
    process.push("m.itmodel", kTwo);
    CHECK(process.models->look().code() == StatusCode::untrusted);
    process.push("m.itmodel", test::signed_by(key, "board", kTwo));
    CHECK(process.models->look().ok());
    CHECK(process.digest() == digest_of_model(kTwo));
  }
  CHECK(SlotProcess(board.disk, board.image, trust->get()).digest() == digest_of_model(kTwo));
  const auto other = signed_files({test::key_number(2)}, "board", &check);
  const SlotProcess process(board.disk, board.image, other->get());
  CHECK(process.digest() == 0);
  CHECK(process.opened.code() == StatusCode::untrusted);
}

TEST_CASE("a full or broken medium changes nothing") {
  for (const StatusCode code : {StatusCode::no_space, StatusCode::io_error}) {
    for (std::uint64_t first = 0; first < 12; ++first) {
      SlotBoard board;
      bool taken = false;
      {
        SlotProcess process = board.start();
        process.push("m.itmodel", kTwo);
        board.disk->fault = {board.disk->changes + first, UINT64_MAX, code, true};
        taken = process.models->look().ok();
        CHECK(process.digest() == digest_of_model(taken ? kTwo : kOne));
      }
      board.disk->fault = {};
      const SlotProcess again = board.start();
      CHECK(again.models->newest() != nullptr);
      if (taken) CHECK(again.digest() == digest_of_model(kTwo));
    }
  }
}

TEST_CASE("only what its slot still holds is confirmed") {
  for (const std::uint64_t count : {1u, 1000u}) {
    for (std::uint64_t first = 0; first < 12; ++first) {
      CAPTURE(first);
      SlotBoard board;
      std::uint64_t confirmed = digest_of_model(kTwo);
      {
        SlotProcess process = board.start();
        process.adopt(kTwo);
        process.try_out(kThree);
        process.push("m.itmodel", kFour);  // its place is where the third one is
        board.disk->fault = {board.disk->changes + first, count, StatusCode::io_error, false};
        (void)process.models->look();
        board.disk->fault = {};
        if (process.models->confirm().ok()) confirmed = process.digest();
        process.models->end();
        (void)process.incoming.remove("m.itmodel");
      }
      const SlotProcess again = board.start();
      if (again.state() == ModelState::confirmed) {
        CHECK(again.digest() == confirmed);
      } else {
        CHECK(confirmed == digest_of_model(kTwo));
      }
    }
  }
}

TEST_CASE("where only the journal cannot be written no slot is filled") {
  // What is in a slot and recorded nowhere passes for confirmed.
  SlotBoard board;
  SlotProcess process = board.start();
  FolderBelow models(board.disk, "models");
  for (const auto& model : {kTwo, kThree}) {
    const std::size_t before = models.list()->size();
    process.push("m.itmodel", model);
    process.journal_fails = true;
    for (int look = 0; look < 3; ++look) CHECK_FALSE(process.models->look().ok());
    CHECK(process.state() == ModelState::confirmed);
    CHECK(models.list()->size() == before);
    process.journal_fails = false;
    CHECK(process.models->look().ok());
    CHECK(process.digest() == digest_of_model(model));
    REQUIRE(process.models->confirm().ok());
  }
}

TEST_CASE("who loses the journal does not believe in one slot alone") {
  SlotBoard board;
  {
    SlotProcess process = board.start();
    process.try_out(kTwo);
    REQUIRE(process.models->reject("it crashes").ok());
  }
  REQUIRE(test::open_faulty_storage(board.disk)->remove("journal").ok());
  for (std::uint32_t start = 1; start <= slots::kYoungDeaths + 1; ++start) {
    const SlotProcess process = board.start();
    const bool tried = start <= slots::kYoungDeaths;
    CHECK(process.state() == (tried ? ModelState::trial : ModelState::confirmed));
    CHECK(process.digest() == digest_of_model(tried ? kTwo : kOne));
  }
}

TEST_CASE("a model is gone back from though that cannot be written") {
  SlotBoard board;
  SlotProcess process = board.start();
  process.try_out(kTwo);
  process.journal_fails = true;
  CHECK(process.models->reject("late frames").code() == StatusCode::no_space);
  CHECK(process.digest() == digest_of_model(kOne));
  CHECK(process.state() == ModelState::confirmed);
  process.journal_fails = false;
  process.push("m.itmodel", kTwo);
  CHECK(process.models->look().code() == StatusCode::untrusted);
}

TEST_CASE("a start that can write nothing forgets nothing") {
  SlotBoard board;
  {
    SlotProcess process = board.start();
    process.try_out(kTwo);
    process.live();
  }
  {
    SlotProcess process = board.start(read_only);
    CHECK(process.digest() == digest_of_model(kOne));
  }
  const SlotProcess process = board.start();
  CHECK(process.digest() == digest_of_model(kTwo));
  CHECK(process.state() == ModelState::trial);
}

TEST_CASE("who rejects what stands in for a model that could not be read refutes the former") {
  SlotBoard board;
  board.start().adopt(kTwo);
  board.disk->unreadable = "models-a.itmodel";
  SlotProcess process = board.start();
  board.disk->unreadable.clear();
  REQUIRE(process.digest() == digest_of_model(kOne));
  CHECK(process.models->reject("late frames").ok());
  CHECK(process.digest() == digest_of_model(kTwo));
  slots::SlotRecord record;
  REQUIRE(slots::SlotRecord::decode(process.kept(), record));
  CHECK(record.refuted == std::vector<std::uint64_t>{digest_of_model(kOne)});
}

TEST_CASE("a trial whose slot cannot be read for once goes on at the next start") {
  SlotBoard board;
  board.start().try_out(kTwo);
  for (const bool rejects : {false, true}) {
    board.disk->unreadable = "models-a.itmodel";
    {
      SlotProcess process = board.start();
      CHECK(process.opened.code() == StatusCode::io_error);
      CHECK(process.digest() == digest_of_model(kOne));
      CHECK(process.state() == ModelState::confirmed);
      CHECK(process.models->confirm().code() == StatusCode::not_found);
      process.clock.advance(std::chrono::minutes(2));
      CHECK(process.models->look().ok());
      if (rejects) CHECK(process.models->reject("late frames").ok());
    }
    board.disk->unreadable.clear();
    SlotProcess process = board.start();
    process.models->end();
    CHECK(process.digest() == digest_of_model(kTwo));
    CHECK(process.state() == ModelState::trial);
    CHECK(process.models->standing().refuted == (rejects ? 1 : 0));
  }
  // Whoever pushes it again need not wait for that.
  board.disk->unreadable = "models-a.itmodel";
  SlotProcess process = board.start();
  process.try_out(kTwo);
  CHECK(process.digest() == digest_of_model(kTwo));
}
