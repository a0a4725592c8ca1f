// The <arguments> of a kernel's XML. Host side.
#pragma once

#include <vector>

#include "models/host/pack/kernel_description.hpp"
#include "models/host/pack/xml_elements.hpp"

namespace idletune {

class XmlArguments : protected XmlElements {
 protected:
  using XmlElements::XmlElements;

  // The children of <arguments>, to the end of `out`.
  bool arguments(const XMLElement& element, std::vector<DescribedArgument>& out);

 private:
  bool buffer(const XMLElement& element, DescribedArgument& out);
  bool scalar(const XMLElement& element, DescribedArgument& out);
  bool dimension_argument(const XMLElement& element, DescribedArgument& out);
  bool local(const XMLElement& element, DescribedArgument& out);
  bool own_memory(const XMLElement& element, DescribedArgument& out);
  bool input(const XMLElement& element, DescribedArgument& out);
  bool index(const XMLElement& element, DescribedArgument& out);
  bool fill(const XMLElement& element, DescribedArgument& out);
};

}  // namespace idletune
