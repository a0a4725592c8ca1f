// A model from standard input, as `idletune push` sends it.
#include <idletune/text.hpp>

#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <utility>

#include "agent/board_command/verbs.hpp"
#include "agent/signing/pushed_file.hpp"
#include "models/predict/model.hpp"
#include "platform/os/error.hpp"
#include "platform/os/storage.hpp"

namespace idletune::board {
namespace {

constexpr char kStandardInput[] = "standard input";

Result<std::vector<std::uint8_t>> standard_input() {
  std::vector<std::uint8_t> bytes;
  for (;;) {
    std::uint8_t more[16384];
    const ssize_t got = ::read(0, more, sizeof more);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("reading", kStandardInput, errno);
    if (got == 0) return bytes;
    bytes.insert(bytes.end(), more, more + got);
    if (bytes.size() > kMaxModelBytes) {
      return Status(StatusCode::out_of_memory, "%: longer than the % bytes that a model may have",
                    kStandardInput, kMaxModelBytes);
    }
  }
}

Status check_name(const std::string& name) {
  constexpr std::string_view kEnding = ".itmodel";
  const bool ends = name.size() > kEnding.size() &&
                    name.compare(name.size() - kEnding.size(), kEnding.size(), kEnding.data()) == 0;
  if (ends && name[0] != '.' && name.find('/') == std::string::npos) return {};
  return Status(StatusCode::invalid_argument, "'%': expected a plain file name ending in %", name,
                kEnding);
}

// What has come is the whole of what was sent.
Status check_whole(const Call& call, std::size_t bytes) {
  const std::uint64_t length = call.number("length", bytes);
  if (bytes == length) return {};
  return Status(StatusCode::corrupt, "%: % bytes, expected %", kStandardInput, bytes, length);
}

Status check_digest(const Call& call, const Model& model) {
  const std::string wanted = call.option("digest");
  const std::string found = hexadecimal(model.content_digest());
  if (wanted.empty() || wanted == found) return {};
  return Status(StatusCode::corrupt, "%: its content has the digest %, expected %", kStandardInput,
                found, wanted);
}

// As the process's umask allows: the agent may be another user's. Its name is on the medium then,
// also where who made it could not see to that.
Status make_folder(const std::string& state, const std::string& incoming) {
  if (::mkdir(incoming.c_str(), 0777) != 0 && errno != EEXIST)
    return system_error("making the folder", incoming, errno);
  Result<std::unique_ptr<Storage>> storage = open_posix_storage(state);
  return storage.ok() ? (*storage)->sync_folder() : storage.status();
}

}  // namespace

Status receive_model(const Call& call, Facts& answer) {
  const std::string name = call.words.size() > 1 ? call.words[1] : "pushed.itmodel";
  if (Status plain = check_name(name); !plain.ok()) return plain;
  Result<std::vector<std::uint8_t>> bytes = standard_input();
  if (!bytes.ok()) return bytes.status();
  if (Status whole = check_whole(call, bytes->size()); !whole.ok()) return whole;
  // Whoever is believed is the agent's to say: the key is in its program.
  Result<std::vector<std::uint8_t>> part = believed_part(*bytes, kStandardInput, nullptr);
  if (!part.ok()) return part.status();
  const auto model = Model::open(std::move(*part), kStandardInput);
  if (!model.ok()) return model.status();
  if (Status same = check_digest(call, **model); !same.ok()) return same;
  const std::string incoming = joined("%/incoming", call.word(0));
  const std::string path = joined("%/%", incoming, name);
  if (Status made = make_folder(call.word(0), incoming); !made.ok()) return made;
  if (Status written = write_file_atomically(path, *bytes); !written.ok()) return written;
  answer.text("received", path);
  answer.count("bytes", bytes->size());
  answer.count("generation", (*model)->generation());
  answer.text("digest", hexadecimal((*model)->content_digest()));
  return {};
}

}  // namespace idletune::board
