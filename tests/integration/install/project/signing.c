/* Whoever sets a key believes nothing else. */
#include <idletune/idletune.h>

#include <stdio.h>
#include <string.h>

int main(int count, char** words) {
  char key[1024] = {0};
  const char* const keys[] = {key};
  const idletune_trust* trust = NULL;
  idletune_options options = {0};
  idletune_agent* agent = NULL;
  FILE* file = count == 2 ? fopen(words[1], "rb") : NULL;
  if (file == NULL) return 2;
  (void)fread(key, 1, sizeof key - 1, file);
  fclose(file);
  if (idletune_signed_files(keys, 1, "outside", &trust) != IDLETUNE_OK) return 1;
  options.model = "-";
  options.trust = trust;
  if (idletune_open_with(&options, &agent) != IDLETUNE_OK) return 1;
  idletune_close(agent);
  idletune_trust_close(trust);
  strcpy(key, "no key");
  return idletune_signed_files(keys, 1, "outside", &trust) == IDLETUNE_INVALID_ARGUMENT ? 0 : 1;
}
