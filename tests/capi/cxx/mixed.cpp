/**
 * Parts of one program that were compiled for different language versions, each as PART. Whichever
 * of their functions the linker takes, each part has its own.
 */
#include <cstdlib>
#include <mortise/mortise.hpp>

using namespace std::chrono_literals;

#ifdef PART

bool PART();
bool PART() {
  auto client = mortise::client::open(std::getenv("MORTISE_TEST_URL"));
  if (!client) return false;
  auto lock = mortise::lock::make(*client, "mixed", mortise::options().lease(20s));
  if (!lock) return false;
  auto hold = lock->acquire(20s, std::nothrow);
  if (!hold || !*hold) return false;
  const auto denied = mortise::lock::make(*client, "mixed")->try_acquire(std::nothrow);
  return !denied && denied.error().code() == mortise::status::not_acquired &&
         hold->unlock(std::nothrow).has_value();
}

#else

bool part17();
bool part20();
bool part2b();

int main() { return part17() && part20() && part2b() ? 0 : 1; }

#endif
