// The library that was linked is the one of the header, and answers.
#include <cstring>
#include <iostream>
#include <mortise/mortise.hpp>

int main() {
  std::cout << mortise_version_text() << std::endl;
  return std::strcmp(mortise_version_text(), MORTISE_VERSION_TEXT) == 0 ? 0 : 1;
}
