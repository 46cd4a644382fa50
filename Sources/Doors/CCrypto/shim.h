#ifndef IMGFLOW_CCRYPTO_SHIM_H
#define IMGFLOW_CCRYPTO_SHIM_H

// The hash functions are called by their own names: by way of EVP the first digest of a process sets up all of the
// library (its file of settings, its words for errors, its list of algorithms), which takes longer than a small run's
// every other use of the processor. They are what EVP calls in the end.
#define OPENSSL_SUPPRESS_DEPRECATED

#include <openssl/crypto.h>
#include <openssl/sha.h>

typedef struct {
  union {
    SHA256_CTX sha256;
    SHA512_CTX sha512;
  } state;
  int is_sha512;
} imgflow_digest;

static inline void imgflow_digest_begin(imgflow_digest *digest, int is_sha512) {
  digest->is_sha512 = is_sha512;
  if (is_sha512) SHA512_Init(&digest->state.sha512);
  else SHA256_Init(&digest->state.sha256);
}

static inline void imgflow_digest_update(imgflow_digest *digest, const void *bytes, size_t count) {
  if (digest->is_sha512) SHA512_Update(&digest->state.sha512, bytes, count);
  else SHA256_Update(&digest->state.sha256, bytes, count);
}

// How many bytes of a SHA-256 wait for the rest of their block.
static inline unsigned imgflow_digest_rest(const imgflow_digest *digest) { return digest->state.sha256.num; }

// The eight words of a SHA-256 in which no bytes wait, and the way back, after so many blocks more.
static inline void imgflow_digest_words(const imgflow_digest *digest, SHA_LONG *words) {
  for (int word = 0; word < 8; word++) words[word] = digest->state.sha256.h[word];
}

static inline void imgflow_digest_advance(imgflow_digest *digest, const SHA_LONG *words, size_t blocks) {
  for (int word = 0; word < 8; word++) digest->state.sha256.h[word] = words[word];
  unsigned long long bits = ((unsigned long long)digest->state.sha256.Nh << 32 | digest->state.sha256.Nl)
    + (unsigned long long)blocks * 512;
  digest->state.sha256.Nl = (SHA_LONG)bits;
  digest->state.sha256.Nh = (SHA_LONG)(bits >> 32);
}

// Writes 32 or 64 bytes; the next use begins anew.
static inline void imgflow_digest_finish(imgflow_digest *digest, unsigned char *bytes) {
  if (digest->is_sha512) SHA512_Final(bytes, &digest->state.sha512);
  else SHA256_Final(bytes, &digest->state.sha256);
}

#endif
