// Checks a page that `idletune report` wrote: well-formed, self-contained, its pictures sound.
// usage: page_check PAGE [TEXT ...]; every TEXT must stand on the page, as text.
// Prints what was counted. Exit status 1 and one line per violation if there is any.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include <tinyxml2.h>

namespace {

using tinyxml2::XMLAttribute;
using tinyxml2::XMLElement;

int violations = 0;

void complain(const std::string& what) {
  if (++violations <= 20) std::printf("FAILED: %s\n", what.c_str());
}

struct Size {
  double width = 0;
  double height = 0;
};

struct Counts {
  int pictures = 0;
  int coordinates = 0;
  int labels = 0;
};

bool is_one_of(const char* name, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const char* n) { return std::strcmp(n, name) == 0; });
}

double number(const char* text, const std::string& where) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (end == text || *end != '\0' || !std::isfinite(value))
    complain(where + ": no number: " + text);
  return value;
}

// Everything that would load something, run something or lead elsewhere.
class SelfContained {
 public:
  void visit(const XMLElement& element) {
    if (is_one_of(element.Name(),
                  {"script", "link", "iframe", "object", "embed", "img", "image", "use", "base",
                   "form", "foreignObject", "animate", "set", "audio", "video"})) {
      complain(std::string("an element that the page must not have: ") + element.Name());
    }
    for (const XMLAttribute* a = element.FirstAttribute(); a != nullptr; a = a->Next())
      attribute(*a);
    if (std::strcmp(element.Name(), "style") == 0) look_for_addresses(element.GetText());
  }
  // Once everything was visited.
  void finish() const {
    for (const std::string& reference : references_) {
      if (ids_.count(reference) == 0) complain("nothing has the id '" + reference + "'");
    }
  }
  std::size_t ids() const { return ids_.size(); }

 private:
  static void look_for_addresses(const char* text) {
    for (const char* address : {"http:", "https:", "url(", "@import", "javascript:", "//"}) {
      if (text != nullptr && std::strstr(text, address) != nullptr)
        complain(std::string("an address: ") + address);
    }
  }
  void attribute(const XMLAttribute& a) {
    look_for_addresses(a.Value());
    const std::string name = a.Name();
    const std::string value = a.Value();
    if (name.rfind("on", 0) == 0) complain("an event handler: " + name);
    if (is_one_of(a.Name(),
                  {"src", "srcset", "xlink:href", "style", "data", "action", "http-equiv"})) {
      complain("an attribute that the page must not have: " + name);
    }
    if (name == "id" && !ids_.insert(value).second) complain("two elements have the id " + value);
    if (name == "href") {
      if (value.rfind('#', 0) != 0) complain("a reference to elsewhere: " + value);
      references_.insert(value.substr(1));
    }
    if (name.rfind("aria-labelledby", 0) == 0 || name == "aria-describedby")
      references_.insert(value);
  }
  std::set<std::string> ids_;
  std::set<std::string> references_;
};

class Picture {
 public:
  Picture(const XMLElement& svg, Counts& counts) : counts_(counts) {
    const char* id = svg.Attribute("id");
    name_ = id != nullptr ? id : "a picture";
    const char* box = svg.Attribute("viewBox");
    double x = -1;
    double y = -1;
    std::istringstream stream(box != nullptr ? box : "");
    if (!(stream >> x >> y >> size_.width >> size_.height) || x != 0 || y != 0) {
      complain(name_ + ": no viewBox from 0 0");
    }
    const bool hidden = svg.Attribute("aria-hidden", "true") != nullptr;
    if (!hidden) {
      ++counts_.pictures;
      require_words(svg, "title");
      require_words(svg, "desc");
      if (svg.Attribute("role", "img") == nullptr) complain(name_ + ": no role img");
    }
    visit(svg);
  }

 private:
  void require_words(const XMLElement& svg, const char* element) {
    const XMLElement* child = svg.FirstChildElement(element);
    if (child == nullptr || child->GetText() == nullptr) complain(name_ + ": no " + element);
  }
  void within(double value, double limit, const char* what) {
    ++counts_.coordinates;
    if (!(value >= -0.001 && value <= limit + 0.001)) {
      complain(name_ + ": " + what + " " + std::to_string(value) + " is not within 0 and " +
               std::to_string(limit));
    }
  }
  double get(const XMLElement& element, const char* attribute) {
    const char* text = element.Attribute(attribute);
    if (text == nullptr) {
      complain(name_ + ": a " + element.Name() + " without " + attribute);
      return 0;
    }
    return number(text, name_);
  }
  // Absolute M, L and Z only, as the page writes them.
  void path(const char* text) {
    std::string spaced;
    for (const char* c = text; *c != '\0'; ++c) {
      if (std::strchr("MLZ", *c) != nullptr) {
        spaced += ' ';
      } else if (std::strchr("0123456789.- ", *c) != nullptr) {
        spaced += *c;
      } else {
        return complain(name_ + ": a path has '" + std::string(1, *c) + "'");
      }
    }
    std::istringstream stream(spaced);
    std::string coordinate;
    int count = 0;
    while (stream >> coordinate) {
      within(number(coordinate.c_str(), name_), count % 2 == 0 ? size_.width : size_.height,
             "a path's point");
      ++count;
    }
    if (count % 2 != 0 || count < 4) complain(name_ + ": a path of half a point, or of one");
  }
  void shape(const XMLElement& e) {
    if (is_one_of(e.Name(), {"line"})) {
      for (const char* a : {"x1", "x2"}) within(get(e, a), size_.width, a);
      for (const char* a : {"y1", "y2"}) within(get(e, a), size_.height, a);
    } else if (is_one_of(e.Name(), {"rect"})) {
      within(get(e, "width"), size_.width, "width");
      within(get(e, "height"), size_.height, "height");
      within(get(e, "x"), size_.width - get(e, "width"), "x");
      within(get(e, "y"), size_.height - get(e, "height"), "y");
    } else if (is_one_of(e.Name(), {"circle"})) {
      const double r = get(e, "r");
      within(get(e, "cx") - r, size_.width - 2 * r, "cx");
      within(get(e, "cy") - r, size_.height - 2 * r, "cy");
    } else if (is_one_of(e.Name(), {"text"})) {
      ++counts_.labels;
      within(get(e, "x"), size_.width, "x");
      within(get(e, "y"), size_.height, "y");
    } else if (is_one_of(e.Name(), {"path"})) {
      const char* d = e.Attribute("d");
      d != nullptr ? path(d) : complain(name_ + ": a path without d");
    } else if (!is_one_of(e.Name(), {"svg", "title", "desc"})) {
      complain(name_ + ": an element that is not expected: " + e.Name());
    }
    if (e.Attribute("transform") != nullptr) complain(name_ + ": a transform");
  }
  void visit(const XMLElement& element) {
    shape(element);
    for (const XMLElement* c = element.FirstChildElement(); c != nullptr;
         c = c->NextSiblingElement())
      visit(*c);
  }

  Counts& counts_;
  std::string name_;
  Size size_;
};

struct Page {
  SelfContained self_contained;
  Counts counts;
  std::string text;

  void visit(const XMLElement& element) {
    self_contained.visit(element);
    if (std::strcmp(element.Name(), "svg") == 0) Picture(element, counts);
    for (const auto* child = element.FirstChild(); child != nullptr; child = child->NextSibling()) {
      if (child->ToText() != nullptr) text += child->Value() + std::string("\n");
      if (child->ToElement() != nullptr) visit(*child->ToElement());
    }
  }
};

bool has_viewport(const XMLElement& html) {
  const XMLElement* head = html.FirstChildElement("head");
  for (const XMLElement* meta = head != nullptr ? head->FirstChildElement("meta") : nullptr;
       meta != nullptr; meta = meta->NextSiblingElement("meta")) {
    if (meta->Attribute("name", "viewport") != nullptr) return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::ifstream file(argv[1], std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  tinyxml2::XMLDocument document;
  if (document.Parse(bytes.data(), bytes.size()) != tinyxml2::XML_SUCCESS) {
    std::printf("FAILED: %s is not well-formed: %s\n", argv[1], document.ErrorStr());
    return 1;
  }
  if (bytes.rfind("<!DOCTYPE html>", 0) != 0) complain("the page does not say that it is HTML");
  const XMLElement* html = document.RootElement();
  Page page;
  page.visit(*html);
  page.self_contained.finish();
  if (html->Attribute("lang") == nullptr) complain("the page does not say its language");
  if (!has_viewport(*html)) complain("the page has no viewport");
  if (page.counts.pictures == 0) complain("the page has no pictures");
  for (int i = 2; i < argc; ++i) {
    if (page.text.find(argv[i]) == std::string::npos)
      complain(std::string("the page lacks the text ") + argv[i]);
  }
  std::printf("%zu bytes, %d pictures, %d coordinates, %d labels, %zu ids, %d violations\n",
              bytes.size(), page.counts.pictures, page.counts.coordinates, page.counts.labels,
              page.self_contained.ids(), violations);
  return violations == 0 ? 0 : 1;
}
