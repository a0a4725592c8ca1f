#include <doctest/doctest.h>

#include <tinyxml2.h>

#include "agent/host/pictures/markup.hpp"

using namespace idletune::report;

TEST_CASE("characters with a meaning in markup are escaped") {
  CHECK(escaped("a<b & \"c\" > 'd'") == "a&lt;b &amp; &quot;c&quot; &gt; &#39;d&#39;");
  CHECK(escaped("GeForce\tRTX\n3090") == "GeForce RTX 3090");
  CHECK(escaped("") == "");
}

TEST_CASE("whatever is no character of XML becomes the replacement character") {
  const std::string replaced = "\xEF\xBF\xBD";
  CHECK(escaped(std::string_view("a\0b", 3)) == "a" + replaced + "b");
  CHECK(escaped("\x1b[2J") == replaced + "[2J");
  CHECK(escaped("\xff\xfe") == replaced + replaced);
  CHECK(escaped("\xc3") == replaced);                                // a torn sequence
  CHECK(escaped("\xc0\xaf") == replaced + replaced);                 // an overlong one
  CHECK(escaped("\xed\xa0\x80") == replaced + replaced + replaced);  // a surrogate
  CHECK(escaped("\xef\xbf\xbf") == replaced);                        // U+FFFF
  CHECK(escaped("\xf4\x90\x80\x80") == replaced + replaced + replaced + replaced);  // U+110000
}

TEST_CASE("characters that turn the direction of text are replaced") {
  CHECK(escaped("safe\xe2\x80\xaetxet") == "safe\xEF\xBF\xBDtxet");  // U+202E
  CHECK(escaped("\xe2\x81\xa6") == "\xEF\xBF\xBD");                  // U+2066
}

TEST_CASE("other characters pass unchanged") {
  CHECK(escaped("\xc2\xb5s \xe2\x80\x93 \xf0\x9f\x98\x80") ==
        "\xc2\xb5s \xe2\x80\x93 \xf0\x9f\x98\x80");
}

TEST_CASE("long text is cut between characters") {
  CHECK(shortened("MI250X", 6) == "MI250X");
  CHECK(shortened("MI250X", 4) == "MI2\xe2\x80\xa6");
  CHECK(shortened("\xc2\xb5\xc2\xb5\xc2\xb5", 2) == "\xc2\xb5\xe2\x80\xa6");
  CHECK(shortened("abc", 1) == "\xe2\x80\xa6");
  CHECK(character_count("\xc2\xb5s\xff") == 3);
}

TEST_CASE("every single byte and pair of bytes yields well-formed XML") {
  std::string all;
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const char bytes[] = {static_cast<char>(first), static_cast<char>(second)};
      all += escaped(std::string_view(bytes, 2));
    }
  }
  tinyxml2::XMLDocument document;
  REQUIRE(document.Parse(("<x a=\"" + all + "\">" + all + "</x>").c_str()) ==
          tinyxml2::XML_SUCCESS);
  const tinyxml2::XMLElement* x = document.RootElement();
  CHECK(x->FirstChildElement() == nullptr);
  CHECK(std::string(x->Attribute("a")) == x->GetText());
}

TEST_CASE("an element closes what it opened, whatever its attributes say") {
  CHECK(element("ul", {{"class", "a \"b\""}},
                element("li", {}, escaped("1 < 2")) +
                    element("li", {}, element("br", {}) + escaped("&"))) ==
        "<ul class=\"a &quot;b&quot;\"><li>1 &lt; 2</li><li><br/>&amp;</li></ul>");
}
