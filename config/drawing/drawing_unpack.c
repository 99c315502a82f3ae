#include "config/drawing/drawing_unpack.h"

#include <stdint.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>

static const char png_signature[] = "\x89PNG\r\n\x1a\n";
enum { PNG_SIGNATURE = 8, PNG_CHUNK = 12 /* length, kind, checksum */ };

enum { RAW_DEFLATE = -MAX_WBITS, ZLIB_DEFLATE = MAX_WBITS };

bool drawing_is_png(const char *data, size_t bytes)
{
    return bytes >= PNG_SIGNATURE && memcmp(data, png_signature, PNG_SIGNATURE) == 0;
}

/* ---- steps, each into memory of its own ---- */

static int hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Works in place; an invalid code stays as it is. Returns the new length in bytes. */
static size_t decode_percent(char *text, size_t bytes)
{
    size_t to = 0;
    for (size_t i = 0; i < bytes; i++) {
        const int high = i + 2 < bytes && text[i] == '%' ? hex_value(text[i + 1]) : -1;
        const int low = high >= 0 ? hex_value(text[i + 2]) : -1;
        if (low >= 0) {
            text[to++] = (char)(unsigned char)(high * 16 + low);
            i += 2;
        } else {
            text[to++] = text[i];
        }
    }
    return to;
}

static int base64_value(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

/* Other characters are skipped, because line ends may stand anywhere. */
static size_t decode_base64(const char *text, size_t bytes, char *out)
{
    uint32_t bits = 0;
    unsigned held = 0;
    size_t to = 0;
    for (size_t i = 0; i < bytes && text[i] != '='; i++) {
        const int value = base64_value(text[i]);
        if (value < 0) {
            continue;
        }
        bits = (bits << 6 | (uint32_t)value) & 0xFFFFFFU;
        held += 6;
        if (held >= 8) {
            held -= 8;
            out[to++] = (char)(unsigned char)(bits >> held & 0xFFU);
        }
    }
    return to;
}

/* Inflates data into *text, at most DRAWING_BYTES_MAX bytes. */
static enum status inflate_all(struct drawing_memory *m, const char *data, size_t bytes,
                               int window, char **text, size_t *text_bytes, struct err *err)
{
    z_stream z = {.avail_in = (uInt)bytes};
    size_t room = 16 * bytes + 1024 < DRAWING_BYTES_MAX ? 16 * bytes + 1024 : DRAWING_BYTES_MAX;
    int result = Z_OK;
    z.next_in = (const Bytef *)data;
    if (inflateInit2(&z, window) != Z_OK) {
        return err_no_memory(err, "", "not enough memory to unpack it");
    }
    for (;; room = DRAWING_BYTES_MAX) {
        char *more = drawing_alloc(m, room + 1);
        if (!more) {
            result = Z_MEM_ERROR;
            break;
        }
        if (z.total_out > 0) {
            memcpy(more, *text, z.total_out);
        }
        *text = more;
        z.next_out = (Bytef *)more + z.total_out;
        z.avail_out = (uInt)(room + 1 - z.total_out);
        result = inflate(&z, Z_FINISH);
        if (z.avail_out > 0 || room == DRAWING_BYTES_MAX) {
            break;
        }
    }
    *text_bytes = z.total_out;
    (void)inflateEnd(&z);
    if (result == Z_MEM_ERROR) {
        return err_no_memory(err, "", "not enough memory to unpack it");
    }
    if (*text_bytes > DRAWING_BYTES_MAX) {
        return err_set(err, STATUS_E_PARSE, FAULT_TOO_LARGE, "",
                       "a page larger than %d MiB when unpacked", DRAWING_BYTES_MAX >> 20);
    }
    return result == Z_STREAM_END
               ? STATUS_OK
               : err_set(err, STATUS_E_PARSE, FAULT_FILE_DAMAGED, "",
                         "its packed content is damaged: save the drawing again");
}

/* ---- a PNG ---- */

struct png_text {
    const char *data; /* after the keyword's terminator */
    size_t bytes;
    bool packed;
};

static size_t read_length(const char *data)
{
    const unsigned char *b = (const unsigned char *)data;
    return (size_t)b[0] << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3];
}

static bool find_png_text(const char *data, size_t bytes, struct png_text *found)
{
    static const char keyword[] = "mxfile";
    size_t at = PNG_SIGNATURE;
    while (bytes - at >= PNG_CHUNK) {
        const size_t length = read_length(data + at);
        const char *body = data + at + 8;
        if (length > bytes - at - PNG_CHUNK) {
            return false;
        }
        const bool plain = memcmp(data + at + 4, "tEXt", 4) == 0;
        const bool packed = memcmp(data + at + 4, "zTXt", 4) == 0;
        /* zTXt has one more byte after the keyword: the compression method, and there is only
         * one. */
        const size_t head = sizeof keyword + (packed ? 1 : 0);
        if ((plain || packed) && length >= head && memcmp(body, keyword, sizeof keyword) == 0) {
            *found = (struct png_text){body + head, length - head, packed};
            return true;
        }
        at += PNG_CHUNK + length;
    }
    return false;
}

enum status drawing_from_png(struct drawing_memory *m, const char *data, size_t bytes,
                             const char **text, size_t *text_bytes, struct err *err)
{
    struct png_text found;
    char *copy = NULL;
    if (!find_png_text(data, bytes, &found)) {
        return err_set(
            err, STATUS_E_PARSE, FAULT_WRONG_FILE, "",
            "a PNG without a diagram inside: export with \"include a copy of my diagram\"");
    }
    size_t size = found.bytes;
    if (found.packed) {
        const enum status st =
            inflate_all(m, found.data, found.bytes, ZLIB_DEFLATE, &copy, &size, err);
        if (st != STATUS_OK) {
            return st;
        }
    } else {
        copy = drawing_alloc(m, size + 1);
        if (!copy) {
            return err_no_memory(err, "", "not enough memory to read it");
        }
        memcpy(copy, found.data, size);
    }
    *text_bytes = decode_percent(copy, size);
    *text = copy;
    return STATUS_OK;
}

enum status drawing_from_packed(struct drawing_memory *m, const char *packed, size_t bytes,
                                const char **text, size_t *text_bytes, struct err *err)
{
    char *raw = drawing_alloc(m, bytes + 1);
    char *out = NULL;
    size_t size = 0;
    if (!raw) {
        return err_no_memory(err, "", "not enough memory to read it");
    }
    const enum status st =
        inflate_all(m, raw, decode_base64(packed, bytes, raw), RAW_DEFLATE, &out, &size, err);
    if (st == STATUS_OK) {
        *text_bytes = decode_percent(out, size);
        *text = out;
    }
    return st;
}
