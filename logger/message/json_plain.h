/* logger/message/json_plain.h - finds the bytes that a JSON string may hold unescaped. Pure. */
#ifndef LOGGER_MESSAGE_JSON_PLAIN_H
#define LOGGER_MESSAGE_JSON_PLAIN_H

#include "base/text/word.h"

/* Counts the plain bytes of eight, up to the first other one. Each byte's upper bit is set if
 * the byte must not be plain. A carry from a lower byte is harmless, because that byte is
 * already marked. */
static inline unsigned json_count_plain(uint64_t word)
{
    return word_first((word - 0x20 * WORD_ONES) | ((word ^ '"' * WORD_ONES) - WORD_ONES) |
                      ((word ^ '\\' * WORD_ONES) - WORD_ONES) | (word + WORD_ONES) | word);
}

/* Returns the first byte that needs a check: beyond ASCII, a control character, a quote, a
 * backslash. end: none. */
static inline const char *json_skip_plain(const char *at, const char *end)
{
    while (end - at >= WORD_BYTES) {
        const unsigned plain = json_count_plain(word_load(at));
        at += plain;
        if (plain < WORD_BYTES) {
            return at;
        }
    }
    /* The filling zeros behind the rest are not plain. */
    return at + json_count_plain(word_load_part(at, (size_t)(end - at)));
}

#endif
