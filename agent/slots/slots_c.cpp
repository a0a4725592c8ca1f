// Apart from c_api.cpp, so that only programs which name the slots link them.
#include <idletune/idletune.h>
#include <idletune/slots.hpp>

extern "C" const idletune_slots* idletune_model_slots(void) {
  return reinterpret_cast<const idletune_slots*>(idletune::model_slots());
}
