/* logger/message/json_plain.h - what stands in a JSON string as it is. Pure. */
#ifndef LOGGER_MESSAGE_JSON_PLAIN_H
#define LOGGER_MESSAGE_JSON_PLAIN_H

#include <stdint.h>
#include <string.h>

/* How many of eight bytes do, up to the first that does not: each byte's upper bit is set by
 * what it must not be; what carries over from a lower byte, that byte has said before. */
static inline int json_count_plain(const char *at)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t word = 0;
    memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    const uint64_t odd = ((word - 0x20 * ones) | ((word ^ '"' * ones) - ones) |
                          ((word ^ '\\' * ones) - ones) | (word + ones) | word) &
                         0x80 * ones;
    return odd != 0 ? __builtin_ctzll(odd) / 8 : 8;
}

/* Where the first one stands that does not, or must be looked at: beyond ASCII, a control
 * character, a quote, a backslash. end: none does. */
static inline const char *json_skip_plain(const char *at, const char *end)
{
    while (end - at >= 8) {
        const int plain = json_count_plain(at);
        at += plain;
        if (plain < 8) {
            return at;
        }
    }
    while (at < end && *at >= 0x20 && *at < 0x7f && *at != '"' && *at != '\\') {
        at++;
    }
    return at;
}

#endif
