// Several URLs behind one word, as in `shard:redis://a,redis://b`: where each ends, which of their
// options count for one server and which for the client, and what cannot stand in a list.
#pragma once

#include <string_view>
#include <vector>

#include "base/options.hpp"
#include "base/status.hpp"
#include "deployment/single_url.hpp"

namespace mortise::deployment {

// Whether this is a URL of that word, such as "shard"; in small letters or large ones, as a scheme.
bool has_word(std::string_view url, std::string_view word) noexcept;

// `urls` is what follows the word and its ':'. There are at least two, each names another server,
// and each makes its deployment with settings of its own: those of the client, and what its own URL
// says of its server. What a URL says of the client or its locks overrides the settings; no two say
// it differently. Messages tell which URL is wrong by its number.
outcome read_url_list(std::string_view urls, settings& terms, std::vector<single_url>& into);

}  // namespace mortise::deployment
