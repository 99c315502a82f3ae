/* base/text/word.h - eight bytes of text, loaded, compared and stored as one machine word.
 * Pure.
 */
#ifndef BASE_TEXT_WORD_H
#define BASE_TEXT_WORD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { WORD_BYTES = 8 };

#define WORD_ONES UINT64_C(0x0101010101010101) /* repeats the byte c when multiplied by it */

/* Loads at[0..8) with the first byte lowest, whatever the machine's byte order. */
static inline uint64_t word_load(const char *at)
{
    uint64_t word = 0;
    memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Loads at[0..bytes), bytes < 8; the upper bytes are zero. */
static inline uint64_t word_load_part(const char *at, size_t bytes)
{
    const size_t half = WORD_BYTES / 2;
    uint64_t word = 0;
    if (bytes >= half) { /* two loads that overlap */
        uint32_t first = 0;
        uint32_t last = 0;
        memcpy(&first, at, sizeof first);
        memcpy(&last, at + bytes - half, sizeof last);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        first = __builtin_bswap32(first);
        last = __builtin_bswap32(last);
#endif
        return first | (uint64_t)last << 8 * (bytes - half);
    }
    for (size_t k = 0; k < bytes; k++) {
        word |= (uint64_t)(unsigned char)at[k] << 8 * k;
    }
    return word;
}

static inline void word_store(char *to, uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    memcpy(to, &word, sizeof word);
}

/* Counts the leading bytes that two words have in common. */
static inline unsigned word_common(uint64_t a, uint64_t b)
{
    return a != b ? (unsigned)__builtin_ctzll(a ^ b) / 8 : WORD_BYTES;
}

/* Index of the first byte whose upper bit is set; 8 if none. */
static inline unsigned word_first(uint64_t bits)
{
    bits &= 0x80 * WORD_ONES;
    return bits != 0 ? (unsigned)__builtin_ctzll(bits) / 8 : WORD_BYTES;
}

#endif
