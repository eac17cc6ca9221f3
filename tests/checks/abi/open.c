/* open URL: what comes of a client of this URL, as "ok" or "STATUS: MESSAGE". */
#include <mortise/mortise.h>
#include <stdio.h>
#include <string.h>

int main(int count, char **words) {
  if (count != 2) return 2;
  mortise_error *error = mortise_error_new();
  mortise_client *client = mortise_client_new(words[1], strlen(words[1]), NULL, error);
  if (client != NULL) {
    puts("ok");
  } else {
    printf("%s: %s\n", mortise_status_text(mortise_error_status(error)),
           mortise_error_message(error));
  }
  mortise_client_free(client);
  mortise_error_free(error);
  return 0;
}
