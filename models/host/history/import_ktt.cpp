// Results of the Kernel Tuning Toolkit 2.x, in JSON and in XML.
#include <algorithm>
#include <string>
#include <string_view>

#include <tinyxml2.h>

#include "models/host/history/import.hpp"
#include "models/host/history/json_cells.hpp"
#include "models/host/history/json_stream.hpp"
#include "models/host/history/ktt_results.hpp"

namespace idletune {

namespace {

using Json = nlohmann::ordered_json;
using tinyxml2::XMLElement;

constexpr int kMaxXmlDepth = 16;
// Of one result, and of all that stands around them: as trees they take some ten times as much.
constexpr std::size_t kMaxPieceBytes = std::size_t{16} << 20;

// Attributes that are texts even where they look like numbers.
bool is_text(const std::string& attribute) {
  static const char* const kTexts[] = {
      "KernelName",     "KernelFunction", "Status",     "Name",
      "Type",           "ValueType",      "Key",        "Device",
      "Platform",       "ComputeApi",     "KttVersion", "Timestamp",
      "GlobalSizeType", "TimeUnit"};
  return std::find(std::begin(kTexts), std::end(kTexts), attribute) != std::end(kTexts);
}

// Elements whose children are a list, not members.
bool is_list(const std::string& element) {
  return element == "Configuration" || element == "ComputationResults" || element == "Counters";
}

// As JSON has it: bytes that are no UTF-8 become U+FFFD.
Json text_from(const std::string& text) {
  const bool ascii = std::all_of(text.begin(), text.end(),
                                 [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  return ascii ? Json(text) : Json::parse(json_text(Json(text)));
}

Json value_from(const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  const Json parsed = Json::parse(text, nullptr, false);
  return parsed.is_number() ? parsed : text_from(text);
}

// The element as the JSON serializer would have written it.
Json json_from(const XMLElement& element, int depth) {
  const std::string name = element.Name();
  if (depth > kMaxXmlDepth) return nullptr;
  if (is_list(name)) {
    Json list = Json::array();
    for (const XMLElement* child = element.FirstChildElement(); child != nullptr;
         child = child->NextSiblingElement()) {
      list.push_back(json_from(*child, depth + 1));
    }
    return list;
  }
  Json object = Json::object();
  auto& members = object.get_ref<Json::object_t&>();
  const char* type = element.Attribute("ValueType");
  for (const auto* attribute = element.FirstAttribute(); attribute != nullptr;
       attribute = attribute->Next()) {
    const std::string key = attribute->Name();
    const bool text =
        is_text(key) || (key == "Value" && type != nullptr && std::string(type) == "String");
    members.emplace_back(key,
                         text ? text_from(attribute->Value()) : value_from(attribute->Value()));
  }
  for (const XMLElement* child = element.FirstChildElement(); child != nullptr;
       child = child->NextSiblingElement()) {
    members.emplace_back(child->Name(), json_from(*child, depth + 1));
  }
  return object;
}

// Reads the file result by result, so that a document is never in memory as a tree, and so that a
// torn one keeps its complete results.
class XmlReader {
 public:
  XmlReader(std::string_view text, const std::string& path, KttResults& results)
      : text_(text), path_(path), results_(results) {}
  Status read();
  bool torn() const { return torn_; }

 private:
  static constexpr std::string_view kOpen = "<KernelResult";
  static constexpr std::string_view kClose = "</KernelResult>";

  Status corrupt(std::size_t position, const std::string& what) const {
    return Status(StatusCode::corrupt, path_ + ": " + place_in(text_, position) + ": " + what);
  }
  static bool opens_result(std::string_view rest) {
    constexpr std::string_view kAfterName = " \t\r\n>/";
    return rest.size() > kOpen.size() && rest.substr(0, kOpen.size()) == kOpen &&
           kAfterName.find(rest[kOpen.size()]) != std::string_view::npos;
  }
  std::size_t next_result(std::size_t position) const;
  std::size_t next_content(std::size_t position) const;
  Status read_result(std::size_t begin, std::size_t end);
  Status read_frame(std::size_t begin, std::size_t end);

  std::string_view text_;
  const std::string& path_;
  KttResults& results_;
  bool torn_ = false;
};

// The next byte that is neither blank nor in a comment.
std::size_t XmlReader::next_content(std::size_t position) const {
  for (;;) {
    position = text_.find_first_not_of(" \t\r\n", position);
    if (position == std::string_view::npos) return text_.size();
    if (text_.substr(position, 4) != "<!--") return position;
    const std::size_t end = text_.find("-->", position);
    if (end == std::string_view::npos) return text_.size();
    position = end + 3;
  }
}

Status XmlReader::read_result(std::size_t begin, std::size_t end) {
  if (end - begin > kMaxPieceBytes) return corrupt(begin, "a <KernelResult> of more than 16 MiB");
  tinyxml2::XMLDocument document;
  document.Parse(text_.data() + begin, end - begin);
  const XMLElement* element = document.RootElement();
  const bool one =
      !document.Error() && element != nullptr && element->NextSiblingElement() == nullptr;
  if (!one) return corrupt(begin, "a <KernelResult> that is no XML");
  const Status status = results_.result(json_from(*element, 0));
  return status.ok() ? status
                     : Status(status.code(),
                              path_ + ": " + place_in(text_, begin) + ": " + status.message());
}

// What stands around the results [begin, end): metadata and user data.
Status XmlReader::read_frame(std::size_t begin, std::size_t end) {
  std::string frame(text_.substr(0, std::min(begin, kMaxPieceBytes + 1)));
  const std::size_t head = frame.size();
  frame += text_.substr(end, kMaxPieceBytes + 1);
  if (frame.size() > kMaxPieceBytes) {
    return Status(StatusCode::corrupt, path_ + ": more than 16 MiB outside of its <KernelResult>");
  }
  tinyxml2::XMLDocument document;
  document.Parse(frame.data(), frame.size());
  if (document.Error() && text_.find("</TuningData>") == std::string_view::npos) {
    torn_ = true;
    frame.resize(head);
    frame += "</Results></TuningData>";
    document.Parse(frame.data(), frame.size());
  }
  const XMLElement* root = document.RootElement();
  if (document.Error() || root == nullptr || std::string_view(root->Name()) != "TuningData") {
    return Status(StatusCode::corrupt,
                  path_ + ": no XML of KTT's: expected <TuningData> with <Metadata> and <Results>");
  }
  if (const XMLElement* metadata = root->FirstChildElement("Metadata")) {
    results_.metadata(json_from(*metadata, 0));
  }
  Json user = Json::object();
  const XMLElement* data = root->FirstChildElement("UserData");
  const XMLElement* pair = data == nullptr ? nullptr : data->FirstChildElement();
  for (; pair != nullptr && user.size() < 1000; pair = pair->NextSiblingElement()) {
    const char* key = pair->Attribute("Key");
    const char* value = pair->Attribute("Value");
    if (key != nullptr && value != nullptr) user[key] = text_from(value);
  }
  results_.user_data(std::move(user));
  return Status();
}

// The first <KernelResult at or after the position; the end if there is none.
std::size_t XmlReader::next_result(std::size_t position) const {
  for (;;) {
    position = text_.find(kOpen, position);
    if (position == std::string_view::npos) return text_.size();
    if (opens_result(text_.substr(position))) return position;
    ++position;
  }
}

Status XmlReader::read() {
  const std::size_t begin = next_result(0);
  const std::size_t last = text_.rfind(kClose);
  const std::size_t end =
      last == std::string_view::npos || last < begin ? begin : last + kClose.size();
  if (Status status = read_frame(begin, end); !status.ok()) return status;
  for (std::size_t position = begin; position < end;) {
    if (!opens_result(text_.substr(position))) return corrupt(position, "expected <KernelResult>");
    const std::size_t close = text_.find(kClose, position) + kClose.size();
    if (Status status = read_result(position, close); !status.ok()) return status;
    position = next_content(close);
  }
  return Status();
}

}  // namespace

Result<std::vector<History>> import_ktt_json(std::string_view json, const std::string& path,
                                             const ImportOptions& options) {
  KttResults results(path, options);
  JsonStreamCalls calls;
  calls.member = [&](const std::string& key, Json&& value) {
    if (key == "Metadata")
      results.metadata(std::move(value));
    else if (key == "UserData")
      results.user_data(std::move(value));
    return Status();
  };
  calls.element = [&](const std::string&, Json&& value) { return results.result(value); };
  calls.ready = [&] { return results.has_metadata(); };
  const Result<JsonStreamResult> streamed = stream_json(json, path, "Results", calls);
  if (!streamed.ok()) return streamed.status();
  return results.finish(streamed->torn);
}

Result<std::vector<History>> import_ktt_xml(std::string_view xml, const std::string& path,
                                            const ImportOptions& options) {
  KttResults results(path, options);
  XmlReader reader(xml, path, results);
  if (Status status = reader.read(); !status.ok()) return status;
  return results.finish(reader.torn());
}

}  // namespace idletune
