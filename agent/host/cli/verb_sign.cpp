// idletune key, sign and verify: files that boards believe.
#include <idletune/signing.hpp>

#include <unistd.h>

#include "agent/host/cli/interrupts.hpp"
#include "agent/host/cli/signing_keys.hpp"
#include "agent/host/cli/text_layout.hpp"
#include "agent/host/cli/verbs.hpp"
#include "agent/signing/pushed_file.hpp"
#include "agent/signing/trailer.hpp"
#include "models/package/kernel_package.hpp"
#include "models/predict/model.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {
namespace {

constexpr std::size_t kMaxKeyBytes = 64U << 10U;

std::string text_in(const std::string& path) {
  const auto bytes = must(read_file(path, kMaxKeyBytes));
  return {bytes.begin(), bytes.end()};
}

std::string hexadecimal_of(Bytes bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

// How people tell keys apart: the beginning of the digest of what `idletune key` writes into .pub.
std::string name_of(const PublicKey& key) {
  return hexadecimal_of(sha256(bytes_of(public_key_text(key)))).substr(0, 16);
}

PublicKey public_key_in(const std::string& path) {
  return must_of(path, PublicKey::read(text_in(path)));
}

// --- key ---

void run_key(const std::string& name, CliContext& context) {
  const std::string secret = name + ".key";
  const std::string open = name + ".pub";
  for (const std::string& file : {secret, open}) {
    if (file_stamp(file) != 0)
      return context.fail("'" + file + "' exists: a key is never replaced, name another one");
  }
  const PrivateKey key = must(make_private_key());
  const PublicKey known = key.public_key();
  const Uninterrupted both;
  must(write_file_atomically(secret, bytes_of(private_key_text(key)), FileSync::yes,
                             FileReaders::owner));
  const Status status = write_file_atomically(open, bytes_of(public_key_text(known)));
  if (!status.ok()) ::unlink(secret.c_str());
  must(status);
  if (context.json())
    return context.print_json({{"private", secret}, {"public", open}, {"key", name_of(known)}});
  context.print_paragraph(
      secret + ": signs; whoever has it can push to your boards, and nobody can make it again.");
  context.print_paragraph(open + ": for boards and for verify; key " + name_of(known));
}

// --- sign ---

struct SignArguments {
  std::string file;
  std::string key;
  std::string known;
  std::string product;
  std::string signature;
  std::string output;
  bool digest = false;
};

struct Signable {
  const char* kind = "model";
  std::uint64_t generation = 0;       // of a model
  std::vector<std::uint8_t> content;  // without the signature that it may have had
  std::vector<std::uint8_t> to_sign;  // with all of the trailer but the signature
};

Signable signable(const SignArguments& arguments, const PublicKey& key) {
  Signable made;
  made.content = must(read_pushed_file(arguments.file, kMaxModelBytes, nullptr));
  const auto package = KernelPackage::open(made.content, arguments.file);
  if (package.ok()) {
    made.kind = "kernel package";
  } else {
    made.generation = must(Model::open(made.content, arguments.file))->generation();
  }
  made.to_sign = made.content;
  const auto trailer = signing::unsigned_trailer(made.content.size(), key, arguments.product);
  made.to_sign.insert(made.to_sign.end(), trailer.begin(), trailer.end());
  return made;
}

void run_sign(const SignArguments& arguments, CliContext& context) {
  PrivateKey secret;
  PublicKey key;
  if (arguments.key.empty()) {
    key = public_key_in(arguments.known);
  } else {
    secret = must_of(arguments.key, read_private_key(text_in(arguments.key)));
    key = secret.public_key();
  }
  Signable file = signable(arguments, key);
  const Sha256 digest = sha256(file.to_sign);
  if (arguments.digest) {
    if (!context.json()) return context.print(hexadecimal_of(digest));
    return context.print_json({{"file", arguments.file}, {"sha256", hexadecimal_of(digest)}});
  }
  RawSignature signature{};
  if (arguments.signature.empty()) {
    signature = secret.sign(digest);
  } else {
    const auto made = must(read_file(arguments.signature, kMaxKeyBytes));
    signature = must_of(arguments.signature, read_signature(made));
  }
  if (!p256_check()->holds(key, file.to_sign, signature)) {
    return context.fail(arguments.signature + ": is no signature of " + arguments.file +
                        " for product '" + arguments.product + "' with this key");
  }
  file.to_sign.insert(file.to_sign.end(), signature.begin(), signature.end());
  if (!context.write({{arguments.output, FileKind::pushed, file.to_sign}})) return;
  if (!context.json()) {
    return context.print_paragraph(arguments.output + ": " + file.kind + ", signed for '" +
                                   arguments.product + "' with key " + name_of(key));
  }
  context.print_json({{"file", arguments.output},
                      {"kind", file.kind},
                      {"product", arguments.product},
                      {"key", name_of(key)},
                      {"sha256", hexadecimal_of(digest)},
                      {"generation", file.generation},
                      {"bytes", file.to_sign.size()}});
}

// --- verify ---

struct VerifyArguments {
  std::vector<std::string> files;
  std::vector<std::string> keys;
  std::string product;
};

void run_verify(const VerifyArguments& arguments, CliContext& context) {
  std::vector<PublicKey> keys;
  for (const std::string& file : arguments.keys) keys.push_back(public_key_in(file));
  const auto trust = must(signed_files(keys, arguments.product));
  nlohmann::json answers = nlohmann::json::array();
  for (const std::string& path : arguments.files) {
    const auto bytes = read_file(path, kMaxModelBytes);
    const Status status = bytes.ok() ? trust->believed(*bytes).status() : bytes.status();
    answers.push_back({{"file", path}, {"believed", status.ok()}});
    if (!status.ok()) answers.back()["reason"] = status.message();
    if (status.ok() && !context.json())
      context.print(path + ": signed for '" + arguments.product + "'");
    if (!status.ok()) context.fail(bytes.ok() ? path + ": " + status.message() : status.message());
  }
  if (context.json()) context.print_json({{"product", arguments.product}, {"files", answers}});
}

std::string wrong_with_product(const std::string& product) {
  if (signing::is_product(product)) return {};
  return "has " + std::to_string(product.size()) + " bytes, expected 1 to " +
         std::to_string(signing::kMaxProductBytes) + " of UTF-8 without control characters";
}

}  // namespace

void add_key_verb(CommandLine& line, CliContext& context) {
  auto name = std::make_shared<std::string>();
  Verb verb = line.add_verb("key", "makes a pair of keys for signing");
  verb.required("name", *name,
                "Writes NAME.key, which nobody else may read, and NAME.pub, for boards")
      .checked([](const std::string& text) {
        const bool named = !text.empty() && text.back() != '/';
        return named ? "" : "expected a name, not '" + text + "'";
      });
  verb.example("key thermostat");
  verb.runs([name, &context] { run_key(*name, context); });
}

void add_sign_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<SignArguments>();
  Verb verb = line.add_verb("sign", "signs a model or a kernel package for boards that ask for it");
  verb.required("file", arguments->file, "An .itmodel or .itkernel; a signature of it is replaced");
  verb.required("--product NAME", arguments->product,
                "Boards of another product refuse the file; up to 71 bytes")
      .checked(wrong_with_product);
  Argument key = verb.option("--key FILE", arguments->key, "The private key, PEM (P-256)");
  Argument known = verb.option("--public FILE", arguments->known,
                               "Instead: the public key of one that is kept elsewhere");
  known.excludes(key);
  Argument digest =
      verb.flag("--digest", arguments->digest,
                "Prints the SHA-256 that is to be signed elsewhere, and writes nothing");
  verb.option("--signature FILE", arguments->signature,
              "The signature that was made elsewhere: 64 bytes (r, s), or DER")
      .needs(known)
      .excludes(digest);
  verb.option("-o,--output FILE", arguments->output, "The file to write")
      .writes(FileKind::pushed)
      .excludes(digest);
  verb.example("sign fleet.itmodel --product thermostat-3 --key thermostat.key -o signed.itmodel");
  verb.example("sign fleet.itmodel --product thermostat-3 --public thermostat.pub --digest");
  verb.runs([arguments, &context] {
    if (arguments->key.empty() == arguments->known.empty())
      return context.used_wrongly("expected --key, or --public with --digest or --signature");
    if (arguments->key.empty() && !arguments->digest && arguments->signature.empty())
      return context.used_wrongly("--public signs nothing: add --digest or --signature");
    if (!arguments->digest && arguments->output.empty())
      return context.used_wrongly("expected -o, the file to write");
    run_sign(*arguments, context);
  });
}

void add_verify_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<VerifyArguments>();
  Verb verb = line.add_verb("verify", "tells whether boards will believe files");
  verb.required("files", arguments->files, "Models and kernel packages");
  verb.required("--product NAME", arguments->product, "Of the boards").checked(wrong_with_product);
  verb.required("--public FILE", arguments->keys, "The keys that the boards have").one_at_a_time();
  verb.example("verify signed.itmodel --product thermostat-3 --public thermostat.pub");
  verb.runs([arguments, &context] { run_verify(*arguments, context); });
}

}  // namespace idletune::cli
