#include "CLanes.h"

#if defined(__x86_64__)

#include <cpuid.h>

static const uint32_t constants[64] = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

#define ROTATED(x, n) (((x) >> (n)) | ((x) << (32 - (n))))

// One round; the caller renames the eight words in place of moving them.
#define ROUND(a, b, c, d, e, f, g, h, t) \
  { \
    Vector sum = h + (ROTATED(e, 6) ^ ROTATED(e, 11) ^ ROTATED(e, 25)) + ((e & f) ^ (~e & g)) + constants[t] \
      + words[(t) & 15]; \
    d += sum; \
    h = sum + (ROTATED(a, 2) ^ ROTATED(a, 13) ^ ROTATED(a, 22)) + ((a & b) | (c & (a | b))); \
  }

// The word that round `t + 16` takes, in the place of that of round `t`.
#define EXPAND(t) \
  { \
    Vector first = words[((t) + 1) & 15], last = words[((t) + 14) & 15]; \
    words[(t) & 15] += (ROTATED(first, 7) ^ ROTATED(first, 18) ^ (first >> 3)) + words[((t) + 9) & 15] \
      + (ROTATED(last, 17) ^ ROTATED(last, 19) ^ (last >> 10)); \
  }

#define EIGHT(step, t) \
  step(0, t) step(1, t) step(2, t) step(3, t) step(4, t) step(5, t) step(6, t) step(7, t)
#define ROUND_0(t) ROUND(a, b, c, d, e, f, g, h, t)
#define ROUND_1(t) ROUND(h, a, b, c, d, e, f, g, t)
#define ROUND_2(t) ROUND(g, h, a, b, c, d, e, f, t)
#define ROUND_3(t) ROUND(f, g, h, a, b, c, d, e, t)
#define ROUND_4(t) ROUND(e, f, g, h, a, b, c, d, t)
#define ROUND_5(t) ROUND(d, e, f, g, h, a, b, c, t)
#define ROUND_6(t) ROUND(c, d, e, f, g, h, a, b, t)
#define ROUND_7(t) ROUND(b, c, d, e, f, g, h, a, t)
#define PLAIN(i, t) ROUND_##i((t) + i)
#define EXPANDED(i, t) EXPAND((t) + i) ROUND_##i((t) + 16 + i)

// A function for vectors of so many words. Rows of a block's bytes become words of all lanes by interleaving halves as
// often as there are bits in the number of lanes.
#define DIGESTS(name, lanes, features, LOW, HIGH, SWAPPED) \
  __attribute__((target(features))) \
  static void name(uint32_t *const *states, const uint8_t *const *messages, int count, size_t blocks) { \
    typedef uint32_t Vector __attribute__((vector_size(4 * lanes))); \
    typedef uint8_t Bytes __attribute__((vector_size(4 * lanes))); \
    Vector state[8], words[16]; \
    for (int word = 0; word < 8; word++) \
      for (int lane = 0; lane < lanes; lane++) state[word][lane] = states[lane < count ? lane : 0][word]; \
    Vector a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], \
      h = state[7]; \
    for (size_t block = 0; block < blocks; block++) { \
      _Pragma("clang loop unroll(full)") for (int part = 0; part < 16; part += lanes) { \
        Vector rows[lanes], next[lanes]; \
        _Pragma("clang loop unroll(full)") for (int lane = 0; lane < lanes; lane++) { \
          Bytes bytes; \
          __builtin_memcpy( \
            &bytes, messages[lane < count ? lane : 0] + block * 64 + part * 4, sizeof bytes); \
          rows[lane] = (Vector)SWAPPED(bytes); \
        } \
        _Pragma("clang loop unroll(full)") for (int stride = 1; stride < lanes; stride *= 2) { \
          _Pragma("clang loop unroll(full)") for (int row = 0; row < lanes / 2; row++) { \
            next[2 * row] = LOW(rows[row], rows[row + lanes / 2]); \
            next[2 * row + 1] = HIGH(rows[row], rows[row + lanes / 2]); \
          } \
          _Pragma("clang loop unroll(full)") for (int row = 0; row < lanes; row++) rows[row] = next[row]; \
        } \
        _Pragma("clang loop unroll(full)") for (int row = 0; row < lanes; row++) words[part + row] = rows[row]; \
      } \
      Vector before[8] = {a, b, c, d, e, f, g, h}; \
      EIGHT(PLAIN, 0) EIGHT(PLAIN, 8) \
      EIGHT(EXPANDED, 0) EIGHT(EXPANDED, 8) EIGHT(EXPANDED, 16) EIGHT(EXPANDED, 24) EIGHT(EXPANDED, 32) \
      EIGHT(EXPANDED, 40) \
      a += before[0]; b += before[1]; c += before[2]; d += before[3]; \
      e += before[4]; f += before[5]; g += before[6]; h += before[7]; \
    } \
    Vector after[8] = {a, b, c, d, e, f, g, h}; \
    for (int word = 0; word < 8; word++) \
      for (int lane = 0; lane < count; lane++) states[lane][word] = after[word][lane]; \
  }

#define LOW_4(x, y) __builtin_shufflevector(x, y, 0, 4, 1, 5)
#define HIGH_4(x, y) __builtin_shufflevector(x, y, 2, 6, 3, 7)
#define LOW_8(x, y) __builtin_shufflevector(x, y, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH_8(x, y) __builtin_shufflevector(x, y, 4, 12, 5, 13, 6, 14, 7, 15)
#define LOW_16(x, y) __builtin_shufflevector(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH_16(x, y) __builtin_shufflevector(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define SWAP(n) (n) + 3, (n) + 2, (n) + 1, (n)
#define SWAPPED_4(x) __builtin_shufflevector(x, x, SWAP(0), SWAP(4), SWAP(8), SWAP(12))
#define SWAPPED_8(x) \
  __builtin_shufflevector(x, x, SWAP(0), SWAP(4), SWAP(8), SWAP(12), SWAP(16), SWAP(20), SWAP(24), SWAP(28))
#define SWAPPED_16(x) \
  __builtin_shufflevector( \
    x, x, SWAP(0), SWAP(4), SWAP(8), SWAP(12), SWAP(16), SWAP(20), SWAP(24), SWAP(28), SWAP(32), SWAP(36), SWAP(40), \
    SWAP(44), SWAP(48), SWAP(52), SWAP(56), SWAP(60))

DIGESTS(wide_16, 16, "avx512f,avx512bw,avx512vl", LOW_16, HIGH_16, SWAPPED_16)
DIGESTS(wide_8, 8, "avx512f,avx512bw,avx512vl", LOW_8, HIGH_8, SWAPPED_8)
DIGESTS(wide_4, 4, "avx512f,avx512bw,avx512vl", LOW_4, HIGH_4, SWAPPED_4)
DIGESTS(plain_8, 8, "avx2", LOW_8, HIGH_8, SWAPPED_8)
DIGESTS(plain_4, 4, "avx2", LOW_4, HIGH_4, SWAPPED_4)

int imgflow_lanes_best(void) {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    return IMGFLOW_LANES_AVX512;
  return __builtin_cpu_supports("avx2") ? IMGFLOW_LANES_AVX2 : IMGFLOW_LANES_NONE;
}

int imgflow_lanes_are_needless(void) {
  unsigned a, b, c, d;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & (1u << 29);
}

void imgflow_lanes_sha256(
  int form, uint32_t *const *states, const uint8_t *const *messages, int count, size_t blocks) {
  if (form == IMGFLOW_LANES_AVX512) {
    if (count > 8) wide_16(states, messages, count, blocks);
    else if (count > 4) wide_8(states, messages, count, blocks);
    else wide_4(states, messages, count, blocks);
  } else if (count > 4) {
    plain_8(states, messages, count, blocks);
  } else {
    plain_4(states, messages, count, blocks);
  }
}

#else

int imgflow_lanes_best(void) { return IMGFLOW_LANES_NONE; }

int imgflow_lanes_are_needless(void) { return 1; }

void imgflow_lanes_sha256(
  int form, uint32_t *const *states, const uint8_t *const *messages, int count, size_t blocks) {}

#endif
