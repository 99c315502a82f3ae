/* base/numbers/hash.h - 64-bit hashes of ids and repeated messages: FNV-1a, and a faster one
 * for long texts. Pure.
 */
#ifndef BASE_NUMBERS_HASH_H
#define BASE_NUMBERS_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/text/word.h"

#define HASH_START UINT64_C(14695981039346656037)

static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i++) {
        /* The analyzer loses sight of arrays read byte by byte:
         * NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
        hash = (hash ^ p[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

/* Hashes eight bytes at a time, because FNV-1a waits for a product at each byte. All bits reach
 * the product's upper half, so it is added to the lower one. */
static inline uint64_t hash_long(uint64_t hash, const char *bytes, size_t n)
{
    size_t i = 0;
    for (; i + WORD_BYTES <= n; i += WORD_BYTES) {
        hash = (hash ^ word_load(bytes + i)) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash_bytes(hash, bytes + i, n - i);
}

static inline uint64_t hash_text(const char *text)
{
    uint64_t hash = HASH_START;
    for (; *text != '\0'; text++) {
        hash = hash_bytes(hash, text, 1);
    }
    return hash;
}

#endif
