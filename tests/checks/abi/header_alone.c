/* Compiled, never run: the public headers stand alone, and agree about the version. */
#include <mortise/api.h>
#include <mortise/mortise.h>

#define MORTISE_ASSERT(name, condition) typedef char name[(condition) ? 1 : -1]

MORTISE_ASSERT(version_number_agrees, MORTISE_VERSION_NUMBER == MORTISE_VERSION_MAJOR * 1000000 +
                                                                    MORTISE_VERSION_MINOR * 1000 +
                                                                    MORTISE_VERSION_PATCH);
#define TEXT_OF(number) #number
#define VERSION_OF(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)
MORTISE_ASSERT(version_text_is_as_long,
               sizeof(MORTISE_VERSION_TEXT) ==
                   sizeof(VERSION_OF(MORTISE_VERSION_MAJOR, MORTISE_VERSION_MINOR,
                                     MORTISE_VERSION_PATCH)));
MORTISE_ASSERT(abi_is_major_version, MORTISE_ABI_MAJOR == MORTISE_VERSION_MAJOR);
MORTISE_ASSERT(status_is_32_bits, sizeof(mortise_status) == 4);
MORTISE_ASSERT(kind_is_32_bits, sizeof(mortise_kind) == 4);
MORTISE_ASSERT(size_is_first, offsetof(struct mortise_api, size) == 0);

int64_t use_the_longest_time(void);
int64_t use_the_longest_time(void) { return MORTISE_MAX_MS; }
