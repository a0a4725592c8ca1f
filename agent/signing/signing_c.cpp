// In C, and in the library of the check: only programs that name it link BearSSL.
#include <idletune/idletune.h>
#include <idletune/signing.hpp>

#include <utility>
#include <vector>

#include <idletune/c_handles.hpp>

using idletune::FileTrust;
using idletune::PublicKey;
using idletune::Status;
using idletune::StatusCode;

extern "C" idletune_status idletune_signed_files(const char* const* keys, size_t key_count,
                                                 const char* product,
                                                 const idletune_trust** trust) {
  if (keys == nullptr || product == nullptr || trust == nullptr)
    return idletune::reported(Status(StatusCode::invalid_argument, "signed files: NULL"));
  std::vector<PublicKey> read;
  for (size_t i = 0; i < key_count; ++i) {
    const idletune::Result<PublicKey> key = PublicKey::read(keys[i] != nullptr ? keys[i] : "");
    if (!key.ok()) return idletune::reported(key.status());
    read.push_back(*key);
  }
  idletune::Result<std::unique_ptr<FileTrust>> made =
      idletune::signed_files(std::move(read), product);
  if (!made.ok()) return idletune::reported(made.status());
  *trust = reinterpret_cast<const idletune_trust*>(made->release());
  return IDLETUNE_OK;
}

extern "C" void idletune_trust_close(const idletune_trust* trust) {
  delete reinterpret_cast<const FileTrust*>(trust);
}
