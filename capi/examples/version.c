/* Checks the version of the loaded library, and calls it through its
 * table of functions. */
#include <mortise/api.h>
#include <mortise/mortise.h>
#include <stdio.h>

int main(void) {
  mortise_status status =
      mortise_check_abi(MORTISE_ABI_MAJOR, MORTISE_VERSION_MINOR);
  const mortise_api *api = mortise_get_api(MORTISE_ABI_MAJOR);
  if (status != MORTISE_OK || api == NULL) {
    fprintf(stderr, "Mortise %s is too old: %s\n",
            mortise_version_text(), mortise_status_text(status));
    return 1;
  }
  puts(mortise_version() >= MORTISE_VERSION_NUMBER
           ? "not older than the header"
           : "older");
  puts(api->status_text(MORTISE_TIMED_OUT));
  return 0;
}

/*
 * Output:
 *
 *     not older than the header
 *     timed out
 */
