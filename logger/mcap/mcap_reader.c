#include "logger/mcap/mcap_reader.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "logger/mcap/mcap_format.h"

enum { IDS = 65536, PIECE_BYTES = 1 << 20 };

struct schema {
    char *name, *encoding; /* each owned, with a NUL */
    unsigned char *text;
    size_t bytes;
};

struct channel {
    uint16_t schema;
    char *topic, *encoding;
    unsigned char *metadata;
    size_t metadata_bytes;
};

struct buffer {
    unsigned char *at;
    size_t n, room;
};

struct mcap_reader {
    FILE *from;
    const char *name;
    struct schema *schemas[IDS];
    struct channel *channels[IDS];
    size_t ids;           /* all ids are below it */
    struct buffer record; /* content of the current record of the file */
    size_t next, end;     /* the records of a chunk in it that are still to be read */
    uint64_t at, after;   /* offsets of the current record and the next one */
    bool torn, ended;
};

/* --- bytes of a record ----------------------------------------------------------------------
 */

struct cursor {
    const unsigned char *at, *end;
    bool failed; /* the record is too short; all further values are 0 */
};

static uint64_t get_number(struct cursor *c, size_t n)
{
    uint64_t value = 0;
    c->failed = c->failed || (size_t)(c->end - c->at) < n;
    for (size_t i = 0; i < n && !c->failed; i++) {
        value |= (uint64_t)*c->at++ << (8 * i);
    }
    return value;
}

static const unsigned char *get_bytes(struct cursor *c, uint64_t n)
{
    const unsigned char *at = c->at;
    c->failed = c->failed || (uint64_t)(c->end - c->at) < n;
    c->at = c->failed ? c->at : c->at + n;
    return at;
}

/* Gets a copy with a NUL behind it; NULL: the record is too short, or no memory. */
static void *copy_bytes(struct cursor *c, uint64_t n)
{
    const unsigned char *from = get_bytes(c, n);
    char *copy = c->failed ? NULL : malloc((size_t)n + 1);
    if (copy) {
        memcpy(copy, from, (size_t)n);
        copy[n] = '\0';
    }
    return copy;
}

static void *copy_text(struct cursor *c)
{
    return copy_bytes(c, get_number(c, 4));
}

/* --- the file
 * --------------------------------------------------------------------------------- */

static enum status fail_damaged(const struct mcap_reader *r, const char *what, struct err *err)
{
    return err_set(err, STATUS_E_PARSE, FAULT_FILE_DAMAGED, r->name,
                   "the MCAP record at byte %llu is damaged: %s", (unsigned long long)r->at,
                   what);
}

/* Reads bytes behind those of the buffer, in pieces: a wrong length must not cost memory.
 * *whole: all of them were there. */
static enum status read_bytes(struct mcap_reader *r, uint64_t bytes, bool *whole,
                              struct err *err)
{
    struct buffer *b = &r->record;
    size_t got = 1;
    while (bytes > 0 && got > 0) {
        const size_t piece = bytes < PIECE_BYTES ? (size_t)bytes : PIECE_BYTES;
        if (b->n + piece > b->room) {
            const size_t room = b->n + piece + b->room / 2;
            unsigned char *more = realloc(b->at, room);
            if (!more) {
                return err_no_memory(err, r->name, "no memory for a record of %llu bytes",
                                     (unsigned long long)bytes);
            }
            b->at = more;
            b->room = room;
        }
        got = fread(b->at + b->n, 1, piece, r->from);
        b->n += got;
        bytes -= got;
    }
    *whole = bytes == 0;
    return ferror(r->from)
               ? err_set(err, STATUS_E_IO, FAULT_FILE_UNREADABLE, r->name, "cannot be read")
               : STATUS_OK;
}

/* Reads the next record of the file. *opcode 0: there is none. *whole false: it is cut. */
static enum status read_record(struct mcap_reader *r, int *opcode, bool *whole, struct err *err)
{
    r->at = r->after;
    r->record.n = 0;
    *opcode = 0;
    enum status status = read_bytes(r, MCAP_HEAD_BYTES, whole, err);
    if (status != STATUS_OK || !*whole) {
        r->torn = true;
        return status;
    }
    struct cursor c = {r->record.at, r->record.at + MCAP_HEAD_BYTES, false};
    *opcode = (int)get_number(&c, 1);
    const uint64_t bytes = get_number(&c, 8);
    r->after = r->at + MCAP_HEAD_BYTES + bytes;
    r->record.n = 0;
    status = read_bytes(r, bytes, whole, err);
    r->torn = r->torn || !*whole;
    return status;
}

/* --- records
 * ---------------------------------------------------------------------------------- */

static void free_schema(struct schema *s)
{
    if (s) {
        free(s->name);
        free(s->encoding);
        free(s->text);
        free(s);
    }
}

static void free_channel(struct channel *c)
{
    if (c) {
        free(c->topic);
        free(c->encoding);
        free(c->metadata);
        free(c);
    }
}

/* A schema or channel is written again in later chunks: the first one counts. */
static enum status add_schema(struct mcap_reader *r, struct cursor c, struct err *err)
{
    const uint16_t id = (uint16_t)get_number(&c, 2);
    struct schema *s = r->schemas[id] ? NULL : calloc(1, sizeof *s);
    if (!s) {
        return r->schemas[id] ? STATUS_OK : err_no_memory(err, r->name, "no memory");
    }
    s->name = copy_text(&c);
    s->encoding = copy_text(&c);
    s->bytes = (size_t)get_number(&c, 4);
    s->text = copy_bytes(&c, s->bytes);
    if (!s->text) {
        free_schema(s);
        return c.failed ? fail_damaged(r, "a schema is too short", err)
                        : err_no_memory(err, r->name, "no memory");
    }
    r->schemas[id] = s;
    r->ids = id >= r->ids ? (size_t)id + 1 : r->ids;
    return STATUS_OK;
}

static enum status add_channel(struct mcap_reader *r, struct cursor c, struct err *err)
{
    const uint16_t id = (uint16_t)get_number(&c, 2);
    struct channel *channel = r->channels[id] ? NULL : calloc(1, sizeof *channel);
    if (!channel) {
        return r->channels[id] ? STATUS_OK : err_no_memory(err, r->name, "no memory");
    }
    channel->schema = (uint16_t)get_number(&c, 2);
    channel->topic = copy_text(&c);
    channel->encoding = copy_text(&c);
    channel->metadata_bytes = (size_t)get_number(&c, 4);
    channel->metadata = copy_bytes(&c, channel->metadata_bytes);
    if (!channel->metadata) {
        free_channel(channel);
        return c.failed ? fail_damaged(r, "a channel is too short", err)
                        : err_no_memory(err, r->name, "no memory");
    }
    r->channels[id] = channel;
    r->ids = id >= r->ids ? (size_t)id + 1 : r->ids;
    return STATUS_OK;
}

static enum status get_message(const struct mcap_reader *r, struct cursor c,
                               struct mcap_message *out, struct err *err)
{
    static char nothing[] = "";
    static const struct schema no_schema = {.name = nothing, .encoding = nothing};
    const uint16_t id = (uint16_t)get_number(&c, 2);
    const struct channel *channel = r->channels[id];
    const uint32_t sequence = (uint32_t)get_number(&c, 4);
    const uint64_t log_ns = get_number(&c, 8);
    (void)get_number(&c, 8); /* time of publication */
    if (c.failed || !channel) {
        return fail_damaged(
            r, c.failed ? "a message is too short" : "no channel has its number", err);
    }
    const struct schema *schema = r->schemas[channel->schema];
    schema = schema ? schema : &no_schema;
    *out = (struct mcap_message){.channel = id,
                                 .topic = channel->topic,
                                 .encoding = channel->encoding,
                                 .schema_name = schema->name,
                                 .schema_encoding = schema->encoding,
                                 .schema = schema->text,
                                 .schema_bytes = schema->bytes,
                                 .metadata = channel->metadata,
                                 .metadata_bytes = channel->metadata_bytes,
                                 .sequence = sequence,
                                 .log_ns = log_ns,
                                 .data = c.at,
                                 .bytes = (size_t)(c.end - c.at)};
    return STATUS_OK;
}

/* Begins a chunk. One that is cut is read as far as it goes, without its CRC. */
static enum status begin_chunk(struct mcap_reader *r, bool whole, struct err *err)
{
    struct cursor c = {r->record.at, r->record.at + r->record.n, false};
    (void)get_number(&c, 8); /* first and last time */
    (void)get_number(&c, 8);
    const uint64_t size = get_number(&c, 8);
    const uint32_t crc = (uint32_t)get_number(&c, 4);
    const uint32_t n = (uint32_t)get_number(&c, 4);
    const unsigned char *coat = get_bytes(&c, n);
    if (n > 0 && !c.failed) {
        return err_set(
            err, STATUS_E_PARSE, FAULT_COMPRESSED_FILE, r->name,
            "a chunk is compressed by %.*s: `mcap compress --compression none` first",
            n < 32 ? (int)n : 32, (const char *)coat);
    }
    const uint64_t bytes = get_number(&c, 8);
    const uint64_t there = (uint64_t)(c.end - c.at);
    if (whole && (c.failed || bytes != size || there < bytes)) {
        return fail_damaged(r, "the sizes of a chunk differ", err);
    }
    if (whole && crc != 0 && crc32_z(0, c.at, (size_t)bytes) != crc) {
        return fail_damaged(r, "the CRC of a chunk is wrong", err);
    }
    r->next = (size_t)(c.at - r->record.at);
    r->end = r->next + (size_t)(c.failed ? 0 : there < bytes ? there : bytes);
    return STATUS_OK;
}

/* Handles a record that may be in a chunk. *found: it is a message. */
static enum status handle_record(struct mcap_reader *r, int opcode, const unsigned char *at,
                                 size_t n, struct mcap_message *out, bool *found,
                                 struct err *err)
{
    const struct cursor c = {at, at + n, false};
    *found = opcode == MCAP_MESSAGE;
    return opcode == MCAP_SCHEMA    ? add_schema(r, c, err)
           : opcode == MCAP_CHANNEL ? add_channel(r, c, err)
           : *found                 ? get_message(r, c, out, err)
                                    : STATUS_OK;
}

/* Handles the next record of a chunk. */
static enum status next_of_chunk(struct mcap_reader *r, struct mcap_message *out, bool *found,
                                 struct err *err)
{
    struct cursor c = {r->record.at + r->next, r->record.at + r->end, false};
    const int opcode = (int)get_number(&c, 1);
    const uint64_t n = get_number(&c, 8);
    const unsigned char *at = get_bytes(&c, n);
    *found = false;
    if (c.failed) {
        r->next = r->end;
        return r->torn ? STATUS_OK : fail_damaged(r, "a record is longer than its chunk", err);
    }
    r->next = (size_t)(c.at - r->record.at);
    return handle_record(r, opcode, at, (size_t)n, out, found, err);
}

enum status mcap_reader_next(struct mcap_reader *r, struct mcap_message *out, struct err *err)
{
    enum status status = STATUS_OK;
    bool found = false;
    while (status == STATUS_OK && !found) {
        int opcode = 0;
        bool whole = true;
        if (r->next < r->end) {
            status = next_of_chunk(r, out, &found, err);
            continue;
        }
        if (r->ended || r->torn) {
            return STATUS_E_EMPTY;
        }
        status = read_record(r, &opcode, &whole, err);
        r->ended = opcode == MCAP_DATA_END;
        if (status == STATUS_OK && opcode == MCAP_CHUNK) {
            status = begin_chunk(r, whole, err);
        } else if (status == STATUS_OK && whole) {
            status = handle_record(r, opcode, r->record.at, r->record.n, out, &found, err);
        }
    }
    r->ended = r->ended || status != STATUS_OK;
    return status;
}

/* --- begin and end
 * ------------------------------------------------------------------------------ */

bool mcap_is_magic(const void *bytes, size_t n)
{
    return n >= MCAP_MAGIC_BYTES && memcmp(bytes, MCAP_MAGIC, MCAP_MAGIC_BYTES) == 0;
}

enum status mcap_reader_open(FILE *from, const char *name, struct mcap_reader **out,
                             struct err *err)
{
    unsigned char magic[MCAP_MAGIC_BYTES];
    struct mcap_reader *r = calloc(1, sizeof *r);
    if (!r) {
        (void)fclose(from);
        return err_no_memory(err, name, "no memory");
    }
    r->from = from;
    r->name = name;
    r->after = MCAP_MAGIC_BYTES;
    if (!mcap_is_magic(magic, fread(magic, 1, sizeof magic, from))) {
        mcap_reader_close(r);
        return err_set(err, STATUS_E_PARSE, FAULT_WRONG_FILE, name, "is no MCAP file");
    }
    *out = r;
    return STATUS_OK;
}

void mcap_reader_close(struct mcap_reader *r)
{
    if (!r) {
        return;
    }
    for (size_t i = 0; i < r->ids; i++) {
        free_schema(r->schemas[i]);
        free_channel(r->channels[i]);
    }
    free(r->record.at);
    (void)fclose(r->from);
    free(r);
}

bool mcap_reader_is_torn(const struct mcap_reader *reader)
{
    return reader->torn;
}

bool mcap_metadata(const struct mcap_message *message, const char *name, char *value,
                   size_t room)
{
    struct cursor c = {message->metadata, message->metadata + message->metadata_bytes, false};
    bool found = false;
    while (c.at < c.end && !c.failed && !found) {
        const uint64_t name_bytes = get_number(&c, 4);
        const unsigned char *key = get_bytes(&c, name_bytes);
        const uint64_t bytes = get_number(&c, 4);
        const unsigned char *text = get_bytes(&c, bytes);
        found = !c.failed && name_bytes == strlen(name) &&
                memcmp(key, name, strlen(name)) == 0 && bytes < room;
        if (found) {
            memcpy(value, text, (size_t)bytes);
            value[bytes] = '\0';
        }
    }
    return found;
}
