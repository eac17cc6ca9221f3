// The deployment of a URL. Only this file knows all kinds of deployments.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/options.hpp"
#include "base/status.hpp"
#include "deployment/api/deployment.hpp"
#include "net/reactor.hpp"

namespace mortise::deployment {

// Makes a deployment for the client with this id. It is not connected yet.
using maker = std::function<std::unique_ptr<deployment>(
    net::reactor& loop, const settings& terms, std::string_view client_id, listener& listener)>;

// Finds the maker for the URL. The URL's query overrides the settings.
outcome read_url(std::string_view url, settings& terms, maker& target);

}  // namespace mortise::deployment
