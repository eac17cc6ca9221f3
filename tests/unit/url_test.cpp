#include "redis/login/url.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mortise::redis::url_test {
namespace {

endpoint_url good(std::string_view text) {
  endpoint_url url;
  const auto result = parse_url(text, url);
  EXPECT_TRUE(result.ok()) << text << ": " << result.message;
  return url;
}

std::string problem(std::string_view text, status expected = status::invalid_argument) {
  endpoint_url url;
  url.host = "untouched";
  const auto result = parse_url(text, url);
  EXPECT_EQ(result.code, expected) << text;
  EXPECT_EQ(url.host, "untouched") << text;
  EXPECT_EQ(url.port, 6379);
  EXPECT_TRUE(url.user.empty() && url.password.empty() && url.query.empty());
  EXPECT_EQ(result.message.find('\n'), std::string::npos);
  return result.message;
}

TEST(url, tcp) {
  const auto plain = good("redis://localhost");
  EXPECT_EQ(plain.scheme, url_scheme::tcp);
  EXPECT_EQ(plain.host, "localhost");
  EXPECT_EQ(plain.port, 6379);
  EXPECT_EQ(plain.db, 0);
  EXPECT_TRUE(plain.user.empty() && plain.password.empty() && plain.path.empty());
  EXPECT_TRUE(plain.query.empty());

  const auto full = good("redis://alice:s3cret@db-1.example_x.org:7000/12?lease=30s&label=a%20b");
  EXPECT_EQ(full.host, "db-1.example_x.org");
  EXPECT_EQ(full.port, 7000);
  EXPECT_EQ(full.user, "alice");
  EXPECT_EQ(full.password, "s3cret");
  EXPECT_EQ(full.db, 12);
  ASSERT_EQ(full.query.size(), 2U);
  EXPECT_EQ(full.query[0], std::make_pair(std::string("lease"), std::string("30s")));
  EXPECT_EQ(full.query[1], std::make_pair(std::string("label"), std::string("a b")));

  EXPECT_EQ(good("REDIS://Host").host, "Host");
  EXPECT_EQ(good("redis://127.0.0.1:1").port, 1);
  EXPECT_EQ(good("redis://h:65535/").port, 65535);
  EXPECT_EQ(good("redis://h/2147483647").db, 2147483647);
  EXPECT_EQ(good("redis://h/").db, 0);
  EXPECT_TRUE(good("redis://h?").query.empty());
  EXPECT_EQ(good("redis://h?a=1").query.size(), 1U);
  EXPECT_EQ(good("redis://h/%31").db, 1);
  EXPECT_EQ(good("redis://%68").host, "h");
}

TEST(url, what_it_is_in_a_list) {
  EXPECT_EQ(good("redis://h").shard, "");
  EXPECT_EQ(good("redis://h").weight, 0);
  const auto one = good("redis://h?shard=north%2D1&lease=1s&weight=7");
  EXPECT_EQ(one.shard, "north-1");
  EXPECT_EQ(one.weight, 7);
  EXPECT_EQ(one.query.size(), 1U);
  EXPECT_EQ(place_text(one), "h:6379");
  EXPECT_EQ(place_text(good("rediss://Host.Example:1")), "host.example:1");
  EXPECT_EQ(place_text(good("redis://[FE80::1]")), "[fe80::1]:6379");
  EXPECT_EQ(place_text(good("unix:///Run/r.sock?db=2")), "/Run/r.sock");
  EXPECT_EQ(place_text(good("local:")), "local:");
}

TEST(url, user_and_password) {
  EXPECT_EQ(good("redis://:pw@h").password, "pw");
  EXPECT_EQ(good("redis://:pw@h").user, "");
  EXPECT_EQ(good("redis://me@h").user, "me");
  EXPECT_EQ(good("redis://me:@h").password, "");
  EXPECT_EQ(good("redis://@h").host, "h");
  EXPECT_EQ(good("redis://me:a:b@h").password, "a:b");
  EXPECT_EQ(good("redis://me:a@b@h").password, "a@b");
  EXPECT_EQ(good("redis://m%40e:%2F%3f%23%40%25%00@h").user, "m@e");
  EXPECT_EQ(good("redis://m%40e:%2F%3f%23%40%25%00@h").password, std::string("/?#@%\0", 6));
  EXPECT_EQ(good("redis://u:p\xc3\xa9@h").password, "p\xc3\xa9");
}

TEST(url, ipv6) {
  EXPECT_EQ(good("redis://[::1]").host, "::1");
  EXPECT_EQ(good("redis://[::1]:7000/3").port, 7000);
  EXPECT_EQ(good("redis://[::1]/3").db, 3);
  EXPECT_EQ(good("redis://u:p@[2001:db8::1]:7000").host, "2001:db8::1");
  EXPECT_EQ(good("redis://[::ffff:10.0.0.1]").host, "::ffff:10.0.0.1");
  EXPECT_EQ(good("redis://[fe80::1%25eth0]").host, "fe80::1%eth0");
}

TEST(url, unix_socket) {
  const auto url = good("unix:///run/redis%20x.sock?db=3&lease=5s");
  EXPECT_EQ(url.scheme, url_scheme::unix_socket);
  EXPECT_EQ(url.path, "/run/redis x.sock");
  EXPECT_EQ(url.db, 3);
  ASSERT_EQ(url.query.size(), 1U);
  EXPECT_EQ(url.query[0].first, "lease");
  EXPECT_EQ(good("unix:///a@b").path, "/a@b");
  EXPECT_EQ(good("unix:///a:b").path, "/a:b");
  const auto with_user = good("unix://me:pw@/run/r.sock");
  EXPECT_EQ(with_user.user, "me");
  EXPECT_EQ(with_user.password, "pw");
  EXPECT_EQ(with_user.path, "/run/r.sock");
  EXPECT_EQ(good("unix:///" + std::string(106, 'x')).path.size(), 107U);
}

TEST(url, local) {
  EXPECT_EQ(good("local:").scheme, url_scheme::local);
  EXPECT_EQ(good("LOCAL:?").scheme, url_scheme::local);
  const auto url = good("local:?lease=1m&db=2&label=a@b");
  EXPECT_EQ(url.db, 2);
  ASSERT_EQ(url.query.size(), 2U);
  EXPECT_EQ(url.query[1].second, "a@b");
}

TEST(url, query) {
  const auto url = good("unix:///s?a=&b=1=2&a=%26%3D&c=x+y&%64%62=4");
  ASSERT_EQ(url.query.size(), 4U);
  EXPECT_EQ(url.query[0].second, "");
  EXPECT_EQ(url.query[1].second, "1=2");
  EXPECT_EQ(url.query[2].second, "&=");
  EXPECT_EQ(url.query[3].second, "x+y");
  EXPECT_EQ(url.db, 4);
}

TEST(url, sentinels) {
  const auto plain = good("redis+sentinel://One,two:7000,[::1],[fe80::1]:7001/mymaster");
  EXPECT_EQ(plain.scheme, url_scheme::sentinel);
  const std::vector<host_port> expected = {
      {"one", 26379}, {"two", 7000}, {"::1", 26379}, {"fe80::1", 7001}};
  EXPECT_EQ(plain.sentinels, expected);
  EXPECT_EQ(plain.master, "mymaster");
  EXPECT_EQ(plain.host, "");
  EXPECT_EQ(plain.db, 0);
  EXPECT_EQ(place_text(plain), "mymaster of one:26379,two:7000,[::1]:26379,[fe80::1]:7001");

  const auto full = good(
      "REDISS+SENTINEL://me:a,b%40@h/My%2DMaster/"
      "3?sentinel_user=x&sentinel_password=p%26q&lease=1s");
  EXPECT_EQ(full.scheme, url_scheme::tls_sentinel);
  EXPECT_EQ(full.user, "me");
  EXPECT_EQ(full.password, "a,b@");
  EXPECT_EQ(full.master, "My-Master");
  EXPECT_EQ(full.db, 3);
  EXPECT_EQ(full.sentinel_user, "x");
  EXPECT_EQ(full.sentinel_password, "p&q");
  ASSERT_EQ(full.query.size(), 1U);
  EXPECT_EQ(full.query[0].first, "lease");
  EXPECT_EQ(good("redis+sentinel://h/m/").db, 0);
  EXPECT_EQ(good("redis+sentinel://@h/m").sentinels.size(), 1U);
  std::string most = "redis+sentinel://h0";
  for (int i = 1; i < 16; ++i) most += ",h" + std::to_string(i);
  EXPECT_EQ(good(most + "/m").sentinels.size(), 16U);
}

TEST(url, cluster) {
  const auto plain = good("redis+cluster://One,two:7000,[::1]");
  EXPECT_EQ(plain.scheme, url_scheme::cluster);
  const std::vector<host_port> expected = {{"one", 6379}, {"two", 7000}, {"::1", 6379}};
  EXPECT_EQ(plain.cluster, expected);
  EXPECT_EQ(place_text(plain), "one:6379,two:7000,[::1]:6379");
  const auto full = good("REDISS+CLUSTER://u:p%40w@a,b:1/3?lease=1s");
  EXPECT_EQ(full.scheme, url_scheme::tls_cluster);
  EXPECT_TRUE(has_tls(full.scheme));
  EXPECT_EQ(full.user, "u");
  EXPECT_EQ(full.password, "p@w");
  EXPECT_EQ(full.db, 3);
  ASSERT_EQ(full.query.size(), 1U);
  EXPECT_EQ(full.cluster.size(), 2U);
}

struct bad_sample {
  std::string url;
  std::string part;   // what the message begins with
  std::string shown;  // what it contains
};

const std::vector<bad_sample>& bad_samples() {
  static const std::vector<bad_sample> samples = {
      {"", "url", "empty"},
      {"redis://" + std::string(4089, 'x'), "url", "4097 bytes are above the maximum of 4096"},
      {"redis://a b", "url", "byte 10"},
      {"redis://a\n", "url", "byte 10"},
      {"redis://a#b", "url", "%23"},
      {std::string("redis://\0", 9), "url", "byte 9"},
      {"localhost", "scheme", "it is missing"},
      {"localhost:6379", "scheme", "\"localhost\""},
      {"http://h", "scheme", "\"http\""},
      {"://h", "scheme", "redis://"},
      {"redis:h", "url", "//"},
      {"redis:/h", "url", "//"},
      {"unix:/h", "url", "//"},
      {"redis://", "host", "empty"},
      {"redis:///1", "host", "empty"},
      {"redis://:7000", "host", "empty"},
      {"redis://u:p@", "host", "empty"},
      {"redis://ho!st", "host", "\"ho!st\""},
      {"redis://h%00", "host", "\"h?\""},
      {"redis://a,b", "host", "\"a,b\""},
      {"redis://h%zz", "host", "%25"},
      {"redis://" + std::string(254, 'h'), "host", "254 bytes"},
      {"redis://h:", "port", "nothing"},
      {"redis://h:0", "port", "\"0\" is below the minimum of 1"},
      {"redis://h:65536", "port", "\"65536\" is above the maximum of 65535"},
      {"redis://u@h:99999999999999999999", "port", "above"},
      {"redis://u@h:12x", "port", "\"12x\" is not a number"},
      {"redis://u@h:-1", "port", "\"-1\""},
      {"redis://[::1]:", "port", "nothing"},
      {"redis://::1:7000", "host", "[::1]"},
      {"redis://[::1", "host", "]"},
      {"redis://[::1]x", "host", "after the ']'"},
      {"redis://[]", "host", "not an IPv6 address"},
      {"redis://u@[1.2.3.4]", "host", "\"1.2.3.4\""},
      {"redis://[::g]", "host", "the text in brackets"},
      {"redis://[::1%2500]x", "host", "]"},
      {"redis://[::1%25]", "host", "IPv6"},
      {"redis://[::1%00]", "host", "IPv6"},
      {"redis://h/x", "db", "\"x\""},
      {"redis://h/-1", "db", "\"-1\""},
      {"redis://h/-0", "db", "\"-0\""},
      {"redis://h/+1", "db", "\"+1\""},
      {"redis://h/1/", "db", "\"1/\""},
      {"redis://h/2147483648", "db", "give 0 to 2147483647"},
      {"redis://h/%", "db", "%25"},
      {"redis://h?db=1", "db", "redis://host/2"},
      {"unix:///s?db=", "db", "\"\""},
      {"unix:///s?db=1&db=1", "db", "twice"},
      {"unix:///s?db=x", "db", "\"x\""},
      {"redis://h?a", "query", "\"a\" has no value"},
      {"redis://h?=1", "query", "has no name"},
      {"redis://h?a=1&", "query", "option is empty"},
      {"redis://h?&a=1", "query", "option is empty"},
      {"redis://h?a=1&&b=1", "query", "option is empty"},
      {"redis://h?a=%4", "query", "%25"},
      {"redis://h?%=1", "query", "%25"},
      {"redis://%x:p@h", "user", "%25"},
      {"redis://u:%x@h", "password", "%25"},
      {"redis://h?label=a@b", "url", "%40"},
      {"unix://", "path", "empty"},
      {"unix:///", "path", "empty"},
      {"unix://u@", "path", "empty"},
      {"unix://run/r.sock", "path", "unix:///path"},
      {"unix://u:p@host/r.sock", "path", "unix:///path"},
      {"unix:///" + std::string(107, 'x'), "path", "108 bytes are above the maximum of 107"},
      {"unix:///a%00b", "path", "\"/a?b\""},
      {"unix:///a%", "path", "%25"},
      {"local:x", "local", "local:?key=value"},
      {"local://h", "local", "local:"},
      {"local:?a", "query", "\"a\""},
      {"redis+cluster:h", "url", "//"},
      {"redis+cluster://", "host", "empty"},
      {"redis+cluster://a,,b", "host", "after a ','"},
      {"redis+cluster://u@a,A", "host", "is given twice"},
      {"redis+cluster://a?db=1", "db", "redis://host/2"},
      {"redis+cluster://a?sentinel_user=u", "sentinel_user", "no meaning"},
      {"redis+sentinel:h/m", "url", "//"},
      {"redis+sentinel://h", "master", "it is missing"},
      {"redis+sentinel://h/", "master", "mymaster"},
      {"redis+sentinel://h//1", "master", "it is missing"},
      {"redis+sentinel:///m", "host", "empty"},
      {"redis+sentinel://u@h,/m", "host", "empty"},
      {"redis+sentinel://a,,b/m", "host", "after a ','"},
      {"redis+sentinel://u@a,b!/m", "host", "\"b!\""},
      {"redis+sentinel://a,b!/m", "host", "after a ','"},
      {"redis+sentinel://a:0/m", "port", "minimum"},
      {"redis+sentinel://u@a,A/m", "host", "a:26379 is given twice"},
      {"redis+sentinel://a,a:26379/m", "host", "twice"},
      {"redis+sentinel://a0,a1,a2,a3,a4,a5,a6,a7,a8,a9,b0,b1,b2,b3,b4,b5,b6/m", "url", "16"},
      {"redis+sentinel://u@h/a%20b", "master", "\"a b\""},
      {"redis+sentinel://h/a%20b", "master", "the text after"},
      {"redis+sentinel://h/" + std::string(129, 'm'), "master", "129 bytes"},
      {"redis+sentinel://h/m/x", "db", "\"x\""},
      {"redis+sentinel://h/m/1/2", "db", "\"1/2\""},
      {"redis+sentinel://h/m?db=1", "db", "redis+sentinel://host/master/2"},
      {"redis+sentinel://h/m?sentinel_user=", "sentinel_user", "empty"},
      {"redis+sentinel://h/m?sentinel_user=a&sentinel_user=b", "sentinel_user", "twice"},
      {"redis+sentinel://h/m?sentinel_password=a&sentinel_password=b", "sentinel_password",
       "twice"},
      {"redis://h?sentinel_user=a", "sentinel_user", "no meaning with redis:"},
      {"redis://h?sentinel_password=a", "sentinel_password", "redis+sentinel://"},
  };
  return samples;
}

TEST(url, every_problem_names_its_part_and_value) {
  for (const auto& [url, part, shown] : bad_samples()) {
    const auto message = problem(url);
    EXPECT_EQ(message.rfind(part + ": ", 0), 0U) << url << " -> " << message;
    EXPECT_NE(message.find(shown), std::string::npos) << url << " -> " << message;
  }
}

// Whatever is missing or not encoded, no message may show a password.
TEST(url, messages_never_show_a_password) {
  for (const char* text : {"redis://u:SECRET%@h",
                           "redis://u:x/SECRET@h",
                           "redis://u:x?SECRET@h",
                           "redis://u:x#SECRET@h",
                           "redis://u:1/SECRET@h/0",
                           "redis://u:1?SECRET@h",
                           "redis://u:1/0?SECRET@h",
                           "redis://u:SECRET",
                           "redis://u:SECRET/0",
                           "redis://:SECRET",
                           "redis://u:SECRET:x",
                           "redis://u:SEC RET@h",
                           "redis://u:SECRET@h:x",
                           "redis://u:SECRET@h/x",
                           "redis://u:SECRET@h?x",
                           "u:SECRET@h",
                           "SECRET:x@h",
                           "redis://SECRET%@h",
                           "redis://u:x@y:z/SECRET@h",
                           "redis:///SECRET@h",
                           "unix://u:SECRET@host/s",
                           "unix://u:x/SECRET@/s",
                           "unix://u:SECRET",
                           "redis:u:SECRET@h",
                           "redis://u:[SECRET@",
                           "redis://[SECRET]@",
                           "redis://[SECRET]",
                           "redis://u:[SECRET]",
                           "redis+sentinel://u:SECRET@h",
                           "redis+sentinel://u:SECRET@h,h/m",
                           "redis+sentinel://u:x,SECRET/m",
                           "redis+sentinel://u:x/SECRET@h/m",
                           "redis+sentinel://u:x,y/SECRET!%20",
                           "redis+sentinel://u:a,SECRET!@",
                           "redis+sentinel://h/m?sentinel_password=SECRET%",
                           "redis+sentinel://h/m?sentinel_password=SECRET&sentinel_password=SECRET",
                           "redis://h?sentinel_password=SECRET"}) {
    endpoint_url url;
    const auto result = parse_url(text, url);
    EXPECT_FALSE(result.ok()) << text;
    EXPECT_EQ(result.message.find("SECRET"), std::string::npos) << text << " -> " << result.message;
  }
}

}  // namespace
}  // namespace mortise::redis::url_test
