// Several URLs behind one word, as in `shard:redis://a,redis://b`. Finds the end of each URL, and
// rejects what a list cannot contain. Separates the options of one server from those of the client.
#pragma once

#include <string_view>
#include <vector>

#include "base/options.hpp"
#include "base/status.hpp"
#include "deployment/url/single_url.hpp"

namespace mortise::deployment {

// Whether this is a URL of that word, such as "shard", in small or capital letters like a scheme.
bool has_word(std::string_view url, std::string_view word) noexcept;

// `urls` follows the word and its ':'. The list has at least two URLs, each of a different server.
// Each URL makes its deployment with its own settings: those of the client, and its options about
// its server. Options about the client or its locks override the settings, and must be equal in all
// URLs that have them. Messages give the number of the wrong URL.
outcome read_url_list(std::string_view urls, settings& terms, std::vector<single_url>& target);

}  // namespace mortise::deployment
