#include "cli/arguments.hpp"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "cli/exit_code.hpp"
#include "cli/failure.hpp"

namespace mortise::cli {

namespace {

command_line_observer observer = nullptr;

// CLI11 would take the next argument for the value of `--label=`.
void refuse_empty_values(const CLI::App& app, const char* subcommand, int argc,
                         const char* const* argv) {
  for (int at = 1; at < argc; ++at) {
    const std::string_view word = argv[at];
    if (word == "--") return;
    if (!word.starts_with("--") || word.find('=') != word.size() - 1) continue;
    const std::string option(word.substr(0, word.size() - 1));
    if (app.get_option_no_throw(option) == nullptr) continue;
    throw failure(exit_usage, std::string(word) + " has no value; give one, or omit " + option +
                                  "; see mortise " + subcommand + " --help");
  }
}

}  // namespace

void observe_command_lines(command_line_observer callback) { observer = callback; }

bool read_arguments(CLI::App& app, const char* subcommand, const char* help, int argc,
                    const char* const* argv) {
  bool is_help = false;
  app.set_help_flag();
  app.add_flag("-h,--help", is_help);
  if (observer != nullptr) {
    observer(app, help);
    return false;
  }
  refuse_empty_values(app, subcommand, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    throw failure(exit_usage,
                  std::string(problem.what()) + "; see mortise " + subcommand + " --help");
  }
  if (is_help) std::fputs(help, stdout);
  return !is_help;
}

namespace {

// The URL, or MORTISE_URL if it is empty.
std::string chosen(const std::string& url) {
  const char* const of_environment = std::getenv(url_variable);
  return url.empty() && of_environment != nullptr ? of_environment : url;
}

// The URL without percent-encoding.
std::string decoded(std::string_view url) {
  std::string text;
  for (std::size_t at = 0; at < url.size(); ++at) {
    unsigned char code = 0;
    const auto* const digits = url.data() + at + 1;
    const bool is_coded = url[at] == '%' && url.size() - at > 2 &&
                          std::from_chars(digits, digits + 2, code, 16).ptr == digits + 2;
    text += is_coded ? static_cast<char>(code) : url[at];
    if (is_coded) at += 2;
  }
  return text;
}

}  // namespace

bool has_password(std::string_view url) {
  if (decoded(url).find("sentinel_password=") != std::string::npos) return true;
  constexpr std::string_view mark = "://";
  // A list has a login in each of its URLs.
  for (auto at = url.find(mark); at != std::string_view::npos; at = url.find(mark, at)) {
    at += mark.size();
    auto place = url.substr(at, url.find(mark, at) - at);
    place = place.substr(0, place.find('?'));
    const auto login = place.substr(0, place.rfind('@') + 1);
    if (login.find(':') != std::string_view::npos) return true;
  }
  return false;
}

bool sets_option(const std::string& url, std::string_view option) {
  return decoded(chosen(url)).find(option) != std::string::npos;
}

std::string without_passwords(std::string text, int argc, const char* const* argv) {
  constexpr std::string_view instead = "(a URL with a password)";
  for (int at = 1; at < argc; ++at) {
    std::string_view hidden = argv[at];
    if (!has_password(hidden)) continue;
    // As in --option=URL.
    if (hidden.starts_with("-")) hidden.remove_prefix(hidden.find('=') + 1);
    for (auto found = text.find(hidden); found != std::string::npos;
         found = text.find(hidden, found + instead.size())) {
      text.replace(found, hidden.size(), instead);
    }
  }
  return text;
}

namespace {

client_handle open_client(const std::string& url, const options_handle& terms,
                          mortise_error* error) {
  const char* const given = url.empty() ? nullptr : url.c_str();
  client_handle client(mortise_client_new(given, url.size(), terms.get(), error));
  if (!client) throw failure(error);
  return client;
}

}  // namespace

client_handle connect(const std::string& url, mortise_error* error) {
  return open_client(url, options_handle(mortise_options_new()), error);
}

// The check would refuse the server whose findings are wanted. A list has options in each URL.
client_handle connect_to_check(const std::string& url, mortise_error* error) {
  auto where = chosen(url);
  bool is_set = false;
  for (auto at = where.find_first_of("?&"); at != std::string::npos;
       at = where.find_first_of("?&", at + 1)) {
    const auto equals = where.find('=', at);
    if (equals == std::string::npos) break;
    if (decoded(where.substr(at + 1, equals - at - 1)) != "health_check") continue;
    const auto value = equals + 1;
    where.replace(value, where.find_first_of("&,", value) - value, "off");
    is_set = true;
  }
  return connect_to_look(is_set ? where : url, error);
}

client_handle connect_to_look(const std::string& url, mortise_error* error) {
  options_handle terms(mortise_options_new());
  const auto where = chosen(url);
  if (where.starts_with("shard:")) {
    mortise_options_set(terms.get(), "connect", 7, "lazy", 4, nullptr);
  }
  return open_client(url, terms, error);
}

int run_subcommand(const char* name, int (*body)(int, const char* const*), int argc,
                   const char* const* argv) {
  try {
    return body(argc, argv);
  } catch (const failure& problem) {
    complain(name, without_passwords(problem.what(), argc, argv));
    return problem.code();
  } catch (const std::exception& problem) {
    complain(name, problem.what());
    return exit_software;
  }
}

}  // namespace mortise::cli
