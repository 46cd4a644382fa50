#ifndef IMGFLOW_CLANES_H
#define IMGFLOW_CLANES_H

#include <stddef.h>
#include <stdint.h>

// SHA-256 of several messages side by side, one in each lane of the processor's vectors.

// The forms in which it is there: a processor that has one has those before it.
enum { IMGFLOW_LANES_NONE = 0, IMGFLOW_LANES_AVX2 = 1, IMGFLOW_LANES_AVX512 = 2 };

// The best form that this processor has.
int imgflow_lanes_best(void);

// Whether one message after the other is as fast, by instructions of the processor's own.
int imgflow_lanes_are_needless(void);

// How many messages a form takes at once.
static inline int imgflow_lanes_most(int form) { return form == IMGFLOW_LANES_AVX512 ? 16 : form == IMGFLOW_LANES_AVX2 ? 8 : 0; }

// Takes so many blocks of 64 bytes of each message into its state of eight words, in a form that this processor has.
void imgflow_lanes_sha256(
  int form, uint32_t *const *states, const uint8_t *const *messages, int count, size_t blocks);

#endif
