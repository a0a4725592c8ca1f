// Faults that were put back into copies of the sources (faulty_sources), each by its number.
#pragma once

namespace idletune::lives {

// Of this process; 0: none. From the environment variable LIVES_FAULT.
int fault_switched_on();

}  // namespace idletune::lives

#define IDLETUNE_FAULT(n) (::idletune::lives::fault_switched_on() == (n))
