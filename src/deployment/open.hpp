// What a URL names: the one place that knows which deployments there are.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/options.hpp"
#include "base/status.hpp"
#include "deployment/deployment.hpp"
#include "net/reactor.hpp"

namespace mortise::deployment {

// Makes a deployment that is not connected yet, for the client with this id.
using maker = std::function<std::unique_ptr<deployment>(
    net::reactor& loop, const settings& terms, std::string_view client_id, listener& hears)>;

// Finds out how to make what the URL names; the URL's query overrides the settings.
outcome read_url(std::string_view url, settings& terms, maker& into);

}  // namespace mortise::deployment
