// A board's state folder in memory, with a journal and slots, on which processes come and go.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/host/lab/scripted_clock.hpp"
#include "agent/slots/slotted_models.hpp"
#include "tests/unit/journal/folder_below.hpp"
#include "tests/unit/journal/small_journal.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/predict/model_builder.hpp"
#include "tests/unit/required.hpp"

namespace idletune::test {

inline std::vector<std::uint8_t> model_number(std::int64_t number, std::uint64_t generation) {
  ModelContent content;
  content.generation = generation;
  content.kernel = "kernel_" + std::to_string(number);
  return build_model(content);
}

inline std::uint64_t digest_of_model(const std::vector<std::uint8_t>& bytes) {
  const auto model = required(Model::open(bytes, "test"));
  return model->content_digest();
}

// A process with that folder.
class SlotProcess {
  class Record final : public slots::ModelRecord {
   public:
    Record(journal::Journal& journal, const bool& fails) : journal_(journal), fails_(fails) {}
    std::vector<std::uint8_t> kept() const override {
      const Bytes record = journal_.state().models();
      return {record.begin(), record.end()};
    }
    Status keep(Bytes record) override {
      journal_.models(record);
      return fails_ ? Status(StatusCode::no_space, "the journal's disk is full") : journal_.sync();
    }
    void keep_soon(Bytes record) override { journal_.models(record); }
    slots::TrialCount trials() const override { return slots::count_trials(journal_.state()); }
    slots::PickCount picks(const Model*, const Model&) const override { return {}; }

   private:
    journal::Journal& journal_;
    const bool& fails_;
  };

 public:
  // `change` is what is otherwise with its folders, whenever they are opened.
  using Change = std::function<void(slots::ModelFolders&)>;
  SlotProcess(const std::shared_ptr<Disk>& disk, const std::string& image,
              const FileTrust* trust = nullptr, const Change& change = {})
      : journal(journal::test::open_on(disk)), incoming(disk, "incoming") {
    auto record = std::make_unique<Record>(*journal, journal_fails);
    models = std::make_unique<slots::SlottedModels>(
        trust, std::move(record),
        [disk, change] {
          slots::ModelFolders folders;
          folders.models = std::make_unique<FolderBelow>(disk, "models");
          folders.incoming = std::make_unique<FolderBelow>(disk, "incoming");
          folders.incoming_name = "incoming";
          folders.writable = true;
          if (change) change(folders);
          return folders;
        },
        clock);
    incoming_at_start = incoming.list()->size();
    const auto own = read_model(image, trust);
    opened = models->open(image, own.ok() ? *own : ModelPointer());
    if (Status looked = models->look(); !looked.ok()) opened = looked;
  }
  std::vector<std::uint8_t> kept() const { return Record(*journal, journal_fails).kept(); }
  // As a pusher writes: beside, synced, renamed.
  void push(const std::string& name, Bytes bytes) {
    auto file = required(incoming.create("part"));
    REQUIRE(file->append(bytes).ok());
    REQUIRE(file->sync().ok());
    REQUIRE(incoming.rename("part", name).ok());
    REQUIRE(incoming.sync_folder().ok());
  }
  void try_out(Bytes model) {
    push("m.itmodel", model);
    REQUIRE(models->look().ok());
  }
  // Pushes it, tries it, and is content with it.
  void adopt(Bytes model) {
    try_out(model);
    REQUIRE(models->confirm().ok());
  }
  std::uint64_t digest() const {
    return models->newest() == nullptr ? 0 : models->newest()->content_digest();
  }
  ModelState state() const { return models->standing().state; }
  // It has not died young.
  void live() {
    clock.advance(std::chrono::minutes(2));
    CHECK(models->due() <= clock.now());
    (void)models->look();
  }
  ScriptedClock clock;
  bool journal_fails = false;  // and nothing else
  std::unique_ptr<journal::Journal> journal;
  FolderBelow incoming;
  std::unique_ptr<slots::SlottedModels> models;
  std::size_t incoming_at_start = 0;
  Status opened;
};

// The board, and the model that its program came with.
struct SlotBoard {
  explicit SlotBoard(std::uint64_t generation = 1) { bring(model_number(1, generation)); }
  // The program comes with this model.
  void bring(const std::vector<std::uint8_t>& model) {
    REQUIRE(write_file_atomically(image, model).ok());
  }
  SlotProcess start(const SlotProcess::Change& change = {}) {
    return {disk, image, nullptr, change};
  }

  const TemporaryFolder folder;
  const std::string image = folder.path() + "/image.itmodel";
  const std::shared_ptr<Disk> disk = std::make_shared<Disk>();
};

inline const auto kOne = model_number(1, 1);
inline const auto kTwo = model_number(2, 2);
inline const auto kThree = model_number(3, 3);
inline const auto kFour = model_number(4, 4);

}  // namespace idletune::test
