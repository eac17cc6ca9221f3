#include "cli/text/screen.hpp"

#include <dlfcn.h>
#include <ncurses.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <memory>

#include "cli/exit_code.hpp"
#include "cli/failure.hpp"

namespace mortise::cli {
namespace {

bool is_closed(int file) {
  pollfd seen{file, 0, 0};
  return ::poll(&seen, 1, 0) > 0;
}

}  // namespace

// The functions in use, under their names in the library. Some are macros in the header.
struct screen::library {
  template <class function>
  void find(function*& target, const char* name) const {
    target = reinterpret_cast<function*>(::dlsym(handle, name));
    if (target == nullptr)
      throw failure(exit_software, std::string("libncursesw.so.6 lacks ") + name);
  }

  library() : handle(::dlopen("libncursesw.so.6", RTLD_NOW | RTLD_LOCAL)) {
    if (handle == nullptr) {
      throw failure(exit_unavailable,
                    "cannot load libncursesw.so.6; install ncurses, or give --once");
    }
    find(open, "newterm");
    find(close, "endwin");
    find(free, "delscreen");
    find(read_by_key, "cbreak");
    find(be_silent, "noecho");
    find(set_cursor, "curs_set");
    find(set_keypad, "keypad");
    find(set_timeout, "wtimeout");
    find(read_key, "wgetch");
    find(erase, "werase");
    find(add, "mvwaddnstr");
    find(draw, "wrefresh");
    find(rows, "getmaxy");
    find(columns, "getmaxx");
    find(window, "stdscr");
  }
  ~library() {
    if (terminal != nullptr) {
      close();
      free(terminal);
    }
    if (handle != nullptr) ::dlclose(handle);
  }
  library(const library&) = delete;
  library& operator=(const library&) = delete;

  void* handle;
  SCREEN* terminal = nullptr;
  SCREEN* (*open)(const char*, FILE*, FILE*) = nullptr;
  int (*close)() = nullptr;
  void (*free)(SCREEN*) = nullptr;
  int (*read_by_key)() = nullptr;
  int (*be_silent)() = nullptr;
  int (*set_cursor)(int) = nullptr;
  int (*set_keypad)(WINDOW*, bool) = nullptr;
  void (*set_timeout)(WINDOW*, int) = nullptr;
  int (*read_key)(WINDOW*) = nullptr;
  int (*erase)(WINDOW*) = nullptr;
  int (*add)(WINDOW*, int, int, const char*, int) = nullptr;
  int (*draw)(WINDOW*) = nullptr;
  int (*rows)(const WINDOW*) = nullptr;
  int (*columns)(const WINDOW*) = nullptr;
  WINDOW** window = nullptr;
};

screen::screen() {
  std::setlocale(LC_ALL, "");
  auto made = std::make_unique<library>();
  made->terminal = made->open(nullptr, stdout, stdin);
  if (made->terminal == nullptr) {
    const char* const kind = std::getenv("TERM");
    throw failure(exit_usage, std::string("unknown terminal \"") + (kind == nullptr ? "" : kind) +
                                  "\"; set TERM, or give --once");
  }
  made->read_by_key();
  made->be_silent();
  made->set_cursor(0);
  made->set_keypad(*made->window, true);
  library_ = made.release();
}

screen::~screen() { delete library_; }

void screen::show(const std::string& text) {
  auto* const window = *library_->window;
  library_->erase(window);
  const int rows = library_->rows(window);
  size_t start = 0;
  for (int row = 0; row < rows && start < text.size(); ++row) {
    const auto end = std::min(text.find('\n', start), text.size());
    library_->add(window, row, 0, text.substr(start, end - start).c_str(), -1);
    start = end + 1;
  }
  library_->draw(window);
}

size_t screen::width() const {
  return static_cast<size_t>(std::max(library_->columns(*library_->window), 1));
}

int screen::await_key(int64_t timeout_ms) {
  auto* const window = *library_->window;
  library_->set_timeout(window, static_cast<int>(timeout_ms));
  const int key = library_->read_key(window);
  // A closed terminal never blocks. Its hang-up ends this process, unless the process ignores it.
  if (key == ERR && is_closed(STDIN_FILENO)) {
    throw failure(exit_input_output, "the terminal was closed");
  }
  return key == ERR || key == KEY_RESIZE ? no_key : key;
}

}  // namespace mortise::cli
