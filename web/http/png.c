#include "web/http/png.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

enum { PALETTE = 3, HEAD_BYTES = 13, WORD_BYTES = 4 };

static void append_word(struct body *out, uint32_t word)
{
    const char bytes[WORD_BYTES] = {(char)(word >> 24), (char)(word >> 16), (char)(word >> 8),
                                    (char)word};
    body_append(out, bytes, sizeof bytes);
}

/* A chunk: length, type, data, and the CRC of type and data. */
static void append_chunk(struct body *out, const char type[5], const void *data, size_t bytes)
{
    const uLong begun = crc32(0, (const Bytef *)type, WORD_BYTES);
    append_word(out, (uint32_t)bytes);
    body_append(out, type, WORD_BYTES);
    if (bytes > 0) {
        body_append(out, data, bytes);
    }
    append_word(out, (uint32_t)(bytes > 0 ? crc32(begun, data, (uInt)bytes) : begun));
}

static void append_head(const struct png_picture *p, struct body *out)
{
    unsigned char head[HEAD_BYTES] = {
        [2] = (unsigned char)(p->width >> 8),  [3] = (unsigned char)p->width,
        [6] = (unsigned char)(p->height >> 8), [7] = (unsigned char)p->height,
        [8] = 8 /* bits of a pixel */,         [9] = PALETTE};
    unsigned char colours[3 * PNG_COLOURS_MAX], alphas[PNG_COLOURS_MAX];
    for (size_t i = 0; i < p->colour_count; i++) {
        colours[3 * i] = p->colours[i].red;
        colours[3 * i + 1] = p->colours[i].green;
        colours[3 * i + 2] = p->colours[i].blue;
        alphas[i] = p->colours[i].alpha;
    }
    append_chunk(out, "IHDR", head, sizeof head);
    append_chunk(out, "PLTE", colours, 3 * p->colour_count);
    append_chunk(out, "tRNS", alphas, p->colour_count);
}

void png_write(const struct png_picture *p, struct body *out)
{
    assert(p->width >= 1 && p->width <= PNG_SIDE_MAX && p->height >= 1 &&
           p->height <= PNG_SIDE_MAX);
    const size_t row = p->width + 1, bytes = row * p->height; /* each row has its filter: 0 */
    uLongf packed_bytes = compressBound((uLong)bytes);
    Bytef *raw = malloc(bytes), *packed = malloc(packed_bytes);
    out->failed = out->failed || !raw || !packed;
    for (size_t y = 0; !out->failed && y < p->height; y++) {
        raw[y * row] = 0;
        for (size_t x = 0; x < p->width; x++) {
            raw[y * row + 1 + x] = p->colour_at(p->context, x, y);
        }
    }
    if (!out->failed &&
        compress2(packed, &packed_bytes, raw, (uLong)bytes, Z_BEST_SPEED) == Z_OK) {
        body_append(out, "\x89PNG\r\n\x1a\n", 8);
        append_head(p, out);
        append_chunk(out, "IDAT", packed, packed_bytes);
        append_chunk(out, "IEND", NULL, 0);
    } else {
        out->failed = true;
    }
    free(raw);
    free(packed);
}
