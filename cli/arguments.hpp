// Shared command-line parsing of the subcommands.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <string_view>

#include "cli/handles.hpp"

namespace mortise::cli {

// Parses a subcommand's arguments; `help` is the text of its --help. Returns false after --help.
// Throws a failure for a wrong argument.
bool read_arguments(CLI::App& app, const char* subcommand, const char* help, int argc,
                    const char* const* argv);

// Switches to manual mode: from then on each subcommand passes its options and help to `callback`,
// and parses and runs nothing. For the program that writes the manual.
using command_line_observer = void (*)(const CLI::App& app, const char* help);
void observe_command_lines(command_line_observer callback);

// The URL for a command without --url.
constexpr const char* url_variable = "MORTISE_URL";
// Whether a password is in one of the logins or options of the URL.
bool has_password(std::string_view url);
// A message without those arguments that are URLs with a password: stderr may be a log.
std::string without_passwords(std::string text, int argc, const char* const* argv);

// Whether the URL, or MORTISE_URL if it is empty, sets this option, such as "lease=2s".
bool sets_option(const std::string& url, std::string_view option);

// Connects to the server of that URL, or to MORTISE_URL if the URL is empty. Throws a failure.
client_handle connect(const std::string& url, mortise_error* error);
// The same for a read-only subcommand. It does not need every shard, and names unreachable shards.
client_handle connect_to_look(const std::string& url, mortise_error* error);

// The same for a health check, without that of the URL.
client_handle connect_to_check(const std::string& url, mortise_error* error);

// Runs a subcommand and reports its exception. Returns the exit code.
int run_subcommand(const char* name, int (*body)(int, const char* const*), int argc,
                   const char* const* argv);

}  // namespace mortise::cli
