#include "deployment/url/url_list.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "deployment/api/open.hpp"

namespace mortise::deployment {
namespace {

std::vector<single_url> good(std::string_view urls, settings terms = {}) {
  std::vector<single_url> all;
  const auto result = read_url_list(urls, terms, all);
  EXPECT_TRUE(result.ok()) << urls << ": " << result.message;
  return all;
}

std::string names_of(const std::vector<single_url>& all) {
  std::string text;
  for (const auto& url : all) text += url.shard + " " + std::to_string(url.weight) + "; ";
  return text;
}

std::string problem(const std::string& url) {
  settings terms;
  terms.lease_ms = 1234;
  maker make;
  const auto result = read_url(url, terms, make);
  EXPECT_EQ(result.code, status::invalid_argument) << url;
  EXPECT_EQ(terms.lease_ms, 1234) << url;
  EXPECT_FALSE(make) << url;
  EXPECT_EQ(result.message.find('\n'), std::string::npos);
  return result.message;
}

TEST(url_list, is_cut_where_a_url_begins) {
  EXPECT_EQ(names_of(good("redis://a,redis://B:7000,unix:///r.sock,local:")),
            "a:6379 0; b:7000 0; /r.sock 0; local: 0; ");
  EXPECT_EQ(names_of(good("redis://u:p,q@a/1?label=x,y,rediss://[::1]?tls_verify=off")),
            "a:6379 0; [::1]:6379 0; ");
  EXPECT_EQ(names_of(good("local:?label=a,local,unix:///a,b.sock")), "local: 0; /a,b.sock 0; ");
}

TEST(url_list, takes_names_and_weights) {
  EXPECT_EQ(names_of(good("redis://a?shard=north&weight=100,redis://b?weight=1,redis://c")),
            "north 100; b:6379 1; c:6379 0; ");
}

TEST(url_list, options_of_the_client_may_stand_with_any_url_and_count_for_all) {
  settings terms;
  std::vector<single_url> all;
  ASSERT_TRUE(
      read_url_list("redis://a?lease=40s,redis://b?label=x&lease=40000,redis://c?fair=strict",
                    terms, all)
          .ok());
  EXPECT_EQ(terms.lease_ms, 40'000);
  EXPECT_EQ(terms.label, "x");
  EXPECT_TRUE(terms.fair_strict);
}

TEST(url_list, commas_between_sentinels_begin_no_url) {
  EXPECT_EQ(names_of(good("redis+sentinel://a,b:1,redlock:2,local:3/m?shard=x,unix:///r,redis+"
                          "sentinel://u:p,w@a,c/m")),
            "x 0; /r 0; m of a:26379,c:26379 0; ");
}

TEST(url_list, options_of_a_server_count_for_their_own_url) {
  settings terms;
  terms.tls_verify = true;
  std::vector<single_url> all;
  ASSERT_TRUE(read_url_list("rediss://a?tls_verify=off,redis://u@b?password_file=/p,redis://u:p@c",
                            terms, all)
                  .ok());
  EXPECT_TRUE(terms.tls_verify);
  EXPECT_TRUE(terms.password_file.empty());
}

// An option of one URL is of the client, and so of all servers.
TEST(url_list, an_option_that_does_not_fit_another_url_is_refused) {
  settings terms;
  std::vector<single_url> all;
  for (const auto* urls :
       {"redis://a?release_on_death=on,rediss://b", "rediss://b,redis://a?release_on_death=on"}) {
    const auto result = read_url_list(urls, terms, all);
    EXPECT_EQ(result.code, status::unsupported) << urls;
    EXPECT_TRUE(result.message.starts_with("release_on_death: not supported with rediss:"))
        << result.message;
  }
}

TEST(url_list, every_problem_names_its_part_and_its_url) {
  std::string many = "shard:redis://h1";
  for (int i = 2; i <= 65; ++i) many += ",redis://h" + std::to_string(i);
  const std::vector<std::vector<std::string>> samples = {
      {"shard:", "url: ", "%2C", "URL 1 of the list"},
      {"shard:redis://a", "url: ", "at least two", ""},
      {"shard:redis://a,", "url: ", "%2C", "URL 1 of the list"},
      {"shard:,redis://a", "url: ", "%2C", "URL 1 of the list"},
      {"shard:redis://a,,redis://b", "url: ", "%2C", "URL 1 of the list"},
      {"shard:redis://a,redis://b,", "url: ", "%2C", "URL 2 of the list"},
      {"shard:redis://a,http://b", "scheme: ", "unknown", "URL 2 of the list"},
      {"shard:redis://a,redis://b:0", "port: ", "6379", "URL 2 of the list"},
      {"shard:redis://a,shard:redis://b,redis://c", "url: ", "a list cannot contain a list",
       "URL 2"},
      {"shard:shard:redis://a,redis://b", "url: ", "a list cannot contain a list", "URL 1"},
      {"shard:redlock:redis://a,redis://b", "url: ", "a list cannot contain a list", "URL 1"},
      {"shard:redis://a,redis://A:6379/1?shard=x", "url: ", "\"a:6379\"", "URL 2"},
      {"shard:unix:///r,local:,unix:///r?db=1", "url: ", "\"/r\"", "URL 3"},
      {"shard:local:,local:", "url: ", "\"local:\"", "URL 2"},
      {"shard:redis://a?shard=x,redis://b?shard=x", "shard: ", "\"x\"", "URL 2"},
      {"shard:redis://a?shard=b:6379,redis://b", "shard: ", "\"b:6379\"", "URL 2"},
      {"shard:redis://a?lease=1s,redis://b?lease=2s", "lease: ", "a different value", "URL 2"},
      {"shard:redis://a?health_check=warn,redis://b?health_check=off", "health_check: ", "another",
       "URL 2"},
      {"shard:redis://a?tls_name=x,redis://b", "tls_name: ", "rediss://", "URL 1"},
      {"shard:redis://a,redis://b?sentinel_tls=on", "sentinel_tls: ", "redis+sentinel://", "URL 2"},
      {"shard:redis+sentinel://a,b/m?tls_name=x,redis://b", "tls_name: ", "rediss+", "URL 1"},
      {"shard:redis+sentinel://a,b/m,redis+sentinel://A,b/m", "url: ", "\"m of a:26379", "URL 2"},
      {"redis+sentinel://a/m?sentinel_tls=maybe", "sentinel_tls: ", "on, off", ""},
      {"redis+sentinel://a/m?sentinel_password=x&sentinel_password_file=/p",
       "sentinel_password_file: ", "one place", ""},
      {"shard:redis://u:p@a?password_file=/p,redis://b", "password_file: ", "one place", "URL 1"},
      {"shard:redis://a?colour=red,redis://b", "option: ", "\"colour\"", "URL 1"},
      {"shard:redis://a?weight=0,redis://b", "weight: ", "\"0\"", "URL 1"},
      {"shard:redis://a,redis://b?weight=101", "weight: ", "1 to 100", "URL 2"},
      {"shard:redis://a,redis://b?weight=1x", "weight: ", "\"1x\"", "URL 2"},
      {"shard:redis://a,redis://b?weight=1&weight=1", "weight: ", "twice", "URL 2"},
      {"shard:redis://a,redis://b?shard=", "shard: ", "shard=north-1", "URL 2"},
      {"shard:redis://a,redis://b?shard=a%20b", "shard: ", "\"a b\"", "URL 2"},
      {"shard:redis://a,redis://b?shard=x&shard=x", "shard: ", "twice", "URL 2"},
      {"shard:redis://a,redis://b?shard=" + std::string(65, 'x'), "shard: ", "64", "URL 2"},
      {many, "url: ", "65 URLs are above the maximum of 64", ""},
      // Not in a list.
      {"redis://a?shard=x", "shard: ", "not in a list", ""},
      {"redis://a?weight=2", "weight: ", "not in a list", ""},
  };
  for (const auto& sample : samples) {
    const auto message = problem(sample[0]);
    EXPECT_EQ(message.rfind(sample[1], 0), 0U) << sample[0] << " -> " << message;
    EXPECT_NE(message.find(sample[2]), std::string::npos) << sample[0] << " -> " << message;
    EXPECT_NE(message.find(sample[3]), std::string::npos) << sample[0] << " -> " << message;
  }
}

TEST(url_list, messages_never_show_a_password) {
  for (const std::string bad :
       {"redis://u:SECRET%@h", "redis://u:x,SECRET/y@h", "redis://u:x,redis://SECRET@h:x",
        "redis://u:SECRET", "redis://u:SECRET@h,", "redis://u:SECRET,redis://x",
        "redis://u:x@y?SECRET,z://[@h", "redis://u:x@y?z,SECRET://[@h",
        "redis://u:x,SECRET://z,z://@h", "redis://u:SECRET@h?lease=x",
        "redis://u:SECRET@h?shard=x&shard=y", "u:SECRET@h", "redis://u:SECRET@other",
        "redis://u:SECRET@h?shard=other:6379"}) {
    for (const auto& url : {"shard:redis://other," + bad, "shard:" + bad + ",redis://other"}) {
      const auto message = problem(url);
      EXPECT_EQ(message.find("SECRET"), std::string::npos) << url << " -> " << message;
    }
  }
}

TEST(url_list, its_word_may_be_in_large_letters) {
  EXPECT_TRUE(has_word("SHARD:x", "shard"));
  EXPECT_TRUE(has_word("shard:", "shard"));
  EXPECT_FALSE(has_word("shard", "shard"));
  EXPECT_FALSE(has_word("shards:", "shard"));
}

}  // namespace
}  // namespace mortise::deployment
