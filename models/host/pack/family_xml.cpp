#include "models/host/pack/family_xml.hpp"

#include <utility>

#include "models/host/pack/text_file.hpp"
#include "models/host/pack/xml.hpp"
#include "models/host/pack/xml_elements.hpp"
#include "models/space/identifier.hpp"

namespace idletune {
namespace {

class FamilyReader : private XmlElements {
 public:
  explicit FamilyReader(const std::string& path) : XmlElements(path) { family_.where = path; }

  Result<KernelDescription> read(const XMLElement& root) {
    if (!family(root)) return status();
    return join_family(family_);
  }

 private:
  bool family(const XMLElement& root) {
    if (!only_attributes(root, {"name", "default", "parameter"}) ||
        !only_children(root, {"member"}) || !required(root, "name", family_.name)) {
      return false;
    }
    if (!space::is_kernel_name(family_.name)) {
      return fail(root, "'" + family_.name + "' is not a name (letters, digits, _ - .)");
    }
    for (const XMLElement* e = root.FirstChildElement(); e; e = e->NextSiblingElement()) {
      if (!member(*e)) return false;
    }
    if (const char* name = root.Attribute("default")) family_.default_member = name;
    return root.Attribute("parameter") == nullptr ||
           identifier(root, "parameter", family_.parameter);
  }

  bool member(const XMLElement& element) {
    std::string file;
    if (!only_attributes(element, {"name", "file"}) || !only_children(element, {}) ||
        !required(element, "file", file)) {
      return false;
    }
    Result<KernelDescription> kernel =
        read_single_kernel_xml(file.front() == '/' ? file : folder_of(path()) + file);
    if (!kernel.ok()) return fail(element, kernel.status().message(), kernel.code());
    FamilyMember read{member_name(kernel->name), std::move(*kernel)};
    if (element.Attribute("name") != nullptr && !identifier(element, "name", read.name)) {
      return false;
    }
    family_.members.push_back(std::move(read));
    return true;
  }

  DescribedFamily family_;
};

}  // namespace

Result<KernelDescription> read_family(const tinyxml2::XMLElement& root, const std::string& path) {
  return FamilyReader(path).read(root);
}

Result<KernelDescription> read_family(const std::string& name,
                                      const std::vector<std::string>& paths) {
  DescribedFamily family;
  family.name = name;
  for (const std::string& path : paths) {
    Result<KernelDescription> kernel = read_single_kernel_xml(path);
    if (!kernel.ok()) return kernel.status();
    family.members.push_back({member_name(kernel->name), std::move(*kernel)});
  }
  return join_family(family);
}

}  // namespace idletune
