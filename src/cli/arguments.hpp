// What the subcommands have in common on their command lines.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "cli/handles.hpp"

namespace mortise::cli {

// Reads a subcommand's words; `help` is what its --help prints. False if that was asked for. Throws
// a failure for what is wrong.
bool read_arguments(CLI::App& app, const char* subcommand, const char* help, int argc,
                    const char* const* argv);

// From now on no command line is read, but its options and its help are told to `by`, and nothing
// else is done: for the program that writes the manual.
using command_line_observer = void (*)(const CLI::App& app, const char* help);
void observe_command_lines(command_line_observer by);

// Connects to the server of that URL, or of MORTISE_URL if it is empty. Throws a failure.
client_handle connect(const std::string& url, mortise_error* error);
// The same for a subcommand that only looks: it does not need every shard, and names those that do
// not answer.
client_handle connect_to_look(const std::string& url, mortise_error* error);

// Runs a subcommand and tells what it throws; what the process ends with.
int run_subcommand(const char* name, int (*body)(int, const char* const*), int argc,
                   const char* const* argv);

}  // namespace mortise::cli
