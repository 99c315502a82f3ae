#include "web/http/cursor.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"

enum { CHECK_BYTES = 8, BYTES_MAX = CURSOR_PLACE_MAX - 1 + CHECK_BYTES };

_Static_assert((BYTES_MAX * 4 + 2) / 3 < CURSOR_TEXT_MAX, "the longest place fits");

static const char ALPHABET[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void write_check(const unsigned char *bytes, size_t n, uint64_t salt,
                        unsigned char out[CHECK_BYTES])
{
    /* Hashed on with the salt: one pass of FNV-1a hardly moves the low bits for the first
     * bytes. */
    uint64_t check = hash_bytes(HASH_START ^ salt, bytes, n);
    check = hash_bytes(check, &salt, sizeof salt);
    for (int i = 0; i < CHECK_BYTES; i++) {
        out[i] = (unsigned char)(check >> (56 - 8 * i));
    }
}

void cursor_write(const char *place, uint64_t salt, char out[CURSOR_TEXT_MAX])
{
    unsigned char bytes[BYTES_MAX] = {0};
    const size_t place_n = strlen(place);
    assert(place_n > 0 && place_n < CURSOR_PLACE_MAX);
    for (size_t i = 0; i < place_n; i++) {
        bytes[i] = (unsigned char)place[i];
    }
    write_check(bytes, place_n, salt, bytes + place_n);
    const size_t n = place_n + CHECK_BYTES;
    uint32_t bits = 0;
    unsigned held = 0;
    char *p = out;
    for (size_t i = 0; i < n; i++) {
        bits = bits << 8 | bytes[i];
        for (held += 8; held >= 6; held -= 6) {
            *p++ = ALPHABET[bits >> (held - 6) & 63];
        }
    }
    if (held > 0) {
        *p++ = ALPHABET[bits << (6 - held) & 63];
    }
    *p = '\0';
}

/* Decodes text into bytes; the count, or 0 when it is no base64url of anything. */
static size_t decode_cursor(const char *text, unsigned char bytes[BYTES_MAX])
{
    uint32_t bits = 0;
    unsigned held = 0;
    size_t n = 0;
    for (const char *p = text; *p; p++) {
        const char *at = strchr(ALPHABET, *p);
        if (!at) {
            return 0;
        }
        bits = bits << 6 | (uint32_t)(at - ALPHABET);
        held += 6;
        if (held >= 8) {
            if (n == BYTES_MAX) {
                return 0;
            }
            held -= 8;
            bytes[n++] = (unsigned char)(bits >> held);
        }
    }
    /* One text per place: no left-over character, no left-over bits. */
    return held < 6 && (bits & ((1U << held) - 1U)) == 0 ? n : 0;
}

bool cursor_read(const char *text, uint64_t salt, char place[CURSOR_PLACE_MAX])
{
    unsigned char bytes[BYTES_MAX];
    unsigned char check[CHECK_BYTES];
    const size_t n = decode_cursor(text, bytes);
    if (n <= CHECK_BYTES) {
        return false;
    }
    const size_t place_n = n - CHECK_BYTES;
    write_check(bytes, place_n, salt, check);
    if (memcmp(bytes + place_n, check, sizeof check) != 0 || memchr(bytes, 0, place_n)) {
        return false;
    }
    memcpy(place, bytes, place_n);
    place[place_n] = '\0';
    return true;
}
