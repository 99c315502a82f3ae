/* base/word.h - eight bytes of a text looked at in one go. Pure. */
#ifndef BASE_WORD_H
#define BASE_WORD_H

#include <stdint.h>
#include <string.h>

enum { WORD_BYTES = 8 };

#define WORD_ONES UINT64_C(0x0101010101010101) /* times c: each byte is c */

/* at[0..8), the first byte lowest on every machine. */
static inline uint64_t word_load(const char *at)
{
    uint64_t word = 0;
    memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Which byte is the first whose upper bit is set; 8: none is. */
static inline unsigned word_first(uint64_t bits)
{
    bits &= 0x80 * WORD_ONES;
    return bits != 0 ? (unsigned)__builtin_ctzll(bits) / 8 : WORD_BYTES;
}

#endif
