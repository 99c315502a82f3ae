/* logger/message/json_plain.h - what stands in a JSON string as it is. Pure. */
#ifndef LOGGER_MESSAGE_JSON_PLAIN_H
#define LOGGER_MESSAGE_JSON_PLAIN_H

#include "base/text/word.h"

/* How many of eight bytes do, up to the first that does not: each byte's upper bit is set by
 * what it must not be; what carries over from a lower byte, that byte has said before. */
static inline unsigned json_count_plain(uint64_t word)
{
    return word_first((word - 0x20 * WORD_ONES) | ((word ^ '"' * WORD_ONES) - WORD_ONES) |
                      ((word ^ '\\' * WORD_ONES) - WORD_ONES) | (word + WORD_ONES) | word);
}

/* Where the first one stands that does not, or must be looked at: beyond ASCII, a control
 * character, a quote, a backslash. end: none does. */
static inline const char *json_skip_plain(const char *at, const char *end)
{
    while (end - at >= WORD_BYTES) {
        const unsigned plain = json_count_plain(word_load(at));
        at += plain;
        if (plain < WORD_BYTES) {
            return at;
        }
    }
    /* The zeros behind the rest are not plain. */
    return at + json_count_plain(word_load_part(at, (size_t)(end - at)));
}

#endif
