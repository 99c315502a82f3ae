/* base/hash.h - FNV-1a, 64 bit: recognises ids and repeated messages. Pure. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

static inline uint64_t hash_text(const char *text)
{
    uint64_t hash = HASH_START;
    for (; *text != '\0'; text++) {
        hash = hash_bytes(hash, text, 1);
    }
    return hash;
}

#endif
