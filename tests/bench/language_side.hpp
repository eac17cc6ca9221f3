// A program in another language that measures its side of a comparison. It is asked by lines of text
// on its standard input and answers each with one number, so that both sides take turns in one run.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace mortise::bench {

class language_side {
 public:
  // Starts the program; its last argument is the server's URL.
  language_side(std::vector<std::string> command, const std::string& url);
  language_side(const language_side&) = delete;
  language_side& operator=(const language_side&) = delete;
  // Closes its input, which ends it.
  ~language_side();

  // The answer to one question; throws when the program has ended.
  double ask(const std::string& question);

 private:
  pid_t pid_ = -1;
  int questions_ = -1;
  int answers_ = -1;
};

}  // namespace mortise::bench
