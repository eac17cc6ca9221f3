#include "base/secret.hpp"

#include <sys/mman.h>

#include <new>

namespace mortise {

secret::secret(std::string_view text) {
  if (text.empty()) return;
  void* const pages =
      ::mmap(nullptr, text.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  // Without this advice the text is as safe as any other memory. An old kernel may not know it.
  ::madvise(pages, text.size(), MADV_DONTDUMP);
  ::madvise(pages, text.size(), MADV_WIPEONFORK);
  std::memcpy(pages, text.data(), text.size());
  text_ = {static_cast<const char*>(pages), text.size()};
}

secret::~secret() {
  if (text_.empty()) return;
  auto* const pages = const_cast<char*>(text_.data());
  ::explicit_bzero(pages, text_.size());
  ::munmap(pages, text_.size());
}

}  // namespace mortise
