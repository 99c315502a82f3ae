#include "logger/mcap/mcap_writer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "logger/mcap/mcap_format.h"

/* Bytes that grow. */
struct bytes {
    unsigned char *at;
    size_t n, room;
};

/* A message of the open chunk. */
struct index_row {
    uint64_t log_ns;
    uint32_t offset;
    uint16_t channel;
};

struct mcap_writer {
    FILE *to;
    uint64_t at;  /* bytes written */
    uint32_t crc; /* of all of them */
    bool failed, no_memory;
    struct bytes schemas, channels; /* all records, for the summary */
    struct bytes chunk, chunk_indexes;
    struct bytes scratch;
    uint64_t *counts; /* [MCAP_IDS_MAX] messages by channel; NULL: no channel yet */
    size_t schema_count, channel_count, chunk_count;
    struct index_row *rows;
    size_t row_count, row_room;
    uint64_t chunk_first_ns, chunk_last_ns, first_ns, last_ns, messages;
};

/* --- records ---------------------------------------------------------------------------- */

static void append_bytes(struct mcap_writer *w, struct bytes *to, const void *from, size_t n)
{
    if (to->n + n > to->room) {
        const size_t room = 2 * (to->n + n) + 1024;
        unsigned char *more = realloc(to->at, room);
        w->no_memory = w->no_memory || !more;
        if (!more) {
            return;
        }
        to->at = more;
        to->room = room;
    }
    if (n > 0) {
        memcpy(to->at + to->n, from, n);
    }
    to->n += n;
}

static void append_number(struct mcap_writer *w, struct bytes *to, uint64_t value, size_t n)
{
    unsigned char text[8];
    for (size_t i = 0; i < n; i++) {
        text[i] = (unsigned char)(value >> (8 * i));
    }
    append_bytes(w, to, text, n);
}

static void append_text(struct mcap_writer *w, struct bytes *to, const char *text)
{
    append_number(w, to, strlen(text), 4);
    append_bytes(w, to, text, strlen(text));
}

/* Overwrites a number at an offset, if memory did not run out before it. */
static void set_number(struct bytes *to, size_t at, uint64_t value, size_t n)
{
    for (size_t i = 0; i < n && at + n <= to->n; i++) {
        to->at[at + i] = (unsigned char)(value >> (8 * i));
    }
}

/* Returns where the record's content begins. */
static size_t begin_record(struct mcap_writer *w, struct bytes *to, enum mcap_opcode opcode)
{
    append_number(w, to, opcode, 1);
    append_number(w, to, 0, 8);
    return to->n;
}

static void end_record(struct bytes *to, size_t begin)
{
    set_number(to, begin - 8, to->n - begin, 8);
}

static void append_pairs(struct mcap_writer *w, struct bytes *to, const struct mcap_pair *pairs)
{
    const size_t length = to->n;
    append_number(w, to, 0, 4);
    for (const struct mcap_pair *p = pairs; p && p->name; p++) {
        append_text(w, to, p->name);
        append_text(w, to, p->value);
    }
    set_number(to, length, to->n - length - 4, 4);
}

static uint32_t crc_of(uint32_t crc, const void *bytes, size_t n)
{
    return (uint32_t)crc32_z(crc, bytes, n);
}

static void write_bytes(struct mcap_writer *w, const void *bytes, size_t n)
{
    w->failed = w->failed || fwrite(bytes, 1, n, w->to) != n;
    w->crc = crc_of(w->crc, bytes, n);
    w->at += n;
}

static void write_scratch(struct mcap_writer *w)
{
    write_bytes(w, w->scratch.at, w->scratch.n);
    w->scratch.n = 0;
}

/* --- schemas, channels, messages ---------------------------------------------------------- */

/* Copies the record that begins at an offset into the open chunk. */
static void repeat_in_chunk(struct mcap_writer *w, const struct bytes *records, size_t from)
{
    if (!w->no_memory) {
        append_bytes(w, &w->chunk, records->at + from, records->n - from);
    }
}

uint16_t mcap_add_schema(struct mcap_writer *w, const char *name, const void *text,
                         size_t bytes)
{
    struct bytes *to = &w->schemas;
    const size_t from = to->n;
    if (w->schema_count + 1 >= MCAP_IDS_MAX) {
        return 0;
    }
    const size_t begin = begin_record(w, to, MCAP_SCHEMA);
    append_number(w, to, ++w->schema_count, 2);
    append_text(w, to, name);
    append_text(w, to, "jsonschema");
    append_number(w, to, bytes, 4);
    append_bytes(w, to, text, bytes);
    end_record(to, begin);
    repeat_in_chunk(w, to, from);
    return (uint16_t)w->schema_count;
}

uint16_t mcap_add_channel(struct mcap_writer *w, const struct mcap_channel *channel)
{
    struct bytes *to = &w->channels;
    const size_t from = to->n;
    w->counts = w->counts ? w->counts : calloc(MCAP_IDS_MAX, sizeof *w->counts);
    w->no_memory = w->no_memory || !w->counts;
    if (w->no_memory || w->channel_count >= MCAP_IDS_MAX) {
        return MCAP_IDS_MAX;
    }
    const size_t begin = begin_record(w, to, MCAP_CHANNEL);
    append_number(w, to, w->channel_count, 2);
    append_number(w, to, channel->schema, 2);
    append_text(w, to, channel->topic);
    append_text(w, to, channel->encoding);
    append_pairs(w, to, channel->metadata);
    end_record(to, begin);
    repeat_in_chunk(w, to, from);
    return (uint16_t)w->channel_count++;
}

static int compare_rows(const void *one, const void *other)
{
    const struct index_row *a = one;
    const struct index_row *b = other;
    return a->channel != b->channel ? (a->channel > b->channel ? 1 : -1)
                                    : (a->offset > b->offset ? 1 : -1);
}

/* Writes the index of each channel, and where it is into the chunk's record of the summary. */
static void write_message_indexes(struct mcap_writer *w)
{
    const size_t length = w->chunk_indexes.n;
    append_number(w, &w->chunk_indexes, 0, 4);
    qsort(w->rows, w->row_count, sizeof *w->rows, compare_rows);
    for (size_t i = 0; i < w->row_count;) {
        const uint16_t channel = w->rows[i].channel;
        append_number(w, &w->chunk_indexes, channel, 2);
        append_number(w, &w->chunk_indexes, w->at, 8);
        const size_t begin = begin_record(w, &w->scratch, MCAP_MESSAGE_INDEX);
        append_number(w, &w->scratch, channel, 2);
        append_number(w, &w->scratch, 0, 4);
        for (; i < w->row_count && w->rows[i].channel == channel; i++) {
            append_number(w, &w->scratch, w->rows[i].log_ns, 8);
            append_number(w, &w->scratch, w->rows[i].offset, 8);
        }
        set_number(&w->scratch, begin + 2, w->scratch.n - begin - 6, 4);
        end_record(&w->scratch, begin);
        write_scratch(w);
    }
    set_number(&w->chunk_indexes, length, w->chunk_indexes.n - length - 4, 4);
    w->row_count = 0;
}

static void end_chunk(struct mcap_writer *w)
{
    const uint64_t start = w->at;
    const size_t n = w->chunk.n;
    if (w->row_count == 0 || w->no_memory) {
        return;
    }
    size_t begin = begin_record(w, &w->scratch, MCAP_CHUNK);
    append_number(w, &w->scratch, w->chunk_first_ns, 8);
    append_number(w, &w->scratch, w->chunk_last_ns, 8);
    append_number(w, &w->scratch, n, 8);
    append_number(w, &w->scratch, crc_of(0, w->chunk.at, n), 4);
    append_text(w, &w->scratch, "");
    append_number(w, &w->scratch, n, 8);
    set_number(&w->scratch, begin - 8, w->scratch.n - begin + n, 8);
    write_scratch(w);
    write_bytes(w, w->chunk.at, n);
    const uint64_t index_start = w->at;
    struct bytes *to = &w->chunk_indexes;
    begin = begin_record(w, to, MCAP_CHUNK_INDEX);
    append_number(w, to, w->chunk_first_ns, 8);
    append_number(w, to, w->chunk_last_ns, 8);
    append_number(w, to, start, 8);
    append_number(w, to, index_start - start, 8);
    write_message_indexes(w);
    append_number(w, to, w->at - index_start, 8);
    append_text(w, to, "");
    append_number(w, to, n, 8);
    append_number(w, to, n, 8);
    end_record(to, begin);
    w->chunk.n = 0;
    w->chunk_count++;
}

static bool add_row(struct mcap_writer *w, uint16_t channel, uint64_t log_ns)
{
    if (w->row_count == w->row_room) {
        const size_t room = w->row_room > 0 ? 2 * w->row_room : 1024;
        struct index_row *more = realloc(w->rows, room * sizeof *more);
        w->no_memory = w->no_memory || !more;
        if (!more) {
            return false;
        }
        w->rows = more;
        w->row_room = room;
    }
    w->rows[w->row_count++] = (struct index_row){log_ns, (uint32_t)w->chunk.n, channel};
    return true;
}

void mcap_write(struct mcap_writer *w, uint16_t channel, uint32_t sequence, uint64_t log_ns,
                uint64_t publish_ns, const void *data, size_t bytes)
{
    const bool first = w->row_count == 0;
    if (channel >= w->channel_count || !add_row(w, channel, log_ns)) {
        w->failed = true;
        return;
    }
    struct bytes *to = &w->chunk;
    const size_t begin = begin_record(w, to, MCAP_MESSAGE);
    append_number(w, to, channel, 2);
    append_number(w, to, sequence, 4);
    append_number(w, to, log_ns, 8);
    append_number(w, to, publish_ns, 8);
    append_bytes(w, to, data, bytes);
    end_record(to, begin);
    w->counts[channel]++;
    w->chunk_first_ns = first || log_ns < w->chunk_first_ns ? log_ns : w->chunk_first_ns;
    w->chunk_last_ns = first || log_ns > w->chunk_last_ns ? log_ns : w->chunk_last_ns;
    w->first_ns = w->messages == 0 || log_ns < w->first_ns ? log_ns : w->first_ns;
    w->last_ns = w->messages == 0 || log_ns > w->last_ns ? log_ns : w->last_ns;
    w->messages++;
    if (to->n >= MCAP_CHUNK_BYTES) {
        end_chunk(w);
    }
}

/* --- begin and end --------------------------------------------------------------------------
 */

enum status mcap_writer_open(FILE *to, const char *library, struct mcap_writer **out)
{
    struct mcap_writer *w = calloc(1, sizeof *w);
    if (!w) {
        return STATUS_E_NOMEM;
    }
    w->to = to;
    write_bytes(w, MCAP_MAGIC, MCAP_MAGIC_BYTES);
    const size_t begin = begin_record(w, &w->scratch, MCAP_HEADER);
    append_text(w, &w->scratch, "");
    append_text(w, &w->scratch, library);
    end_record(&w->scratch, begin);
    write_scratch(w);
    *out = w;
    return STATUS_OK;
}

/* Places of the parts behind the chunks. */
struct places {
    uint64_t metadata_at, metadata_bytes, attachment_at, attachment_bytes;
};

static void write_metadata(struct mcap_writer *w, const struct mcap_end *end, struct places *at)
{
    at->metadata_at = w->at;
    const size_t begin = begin_record(w, &w->scratch, MCAP_METADATA);
    append_text(w, &w->scratch, end->metadata_name);
    append_pairs(w, &w->scratch, end->metadata);
    end_record(&w->scratch, begin);
    at->metadata_bytes = w->scratch.n;
    write_scratch(w);
}

/* Times and size of the attachment are the same in its index. */
static void append_attachment_times(struct mcap_writer *w)
{
    append_number(w, &w->scratch, w->last_ns, 8);
    append_number(w, &w->scratch, 0, 8);
}

static void write_attachment(struct mcap_writer *w, const struct mcap_end *end,
                             struct places *at)
{
    struct bytes *to = &w->scratch;
    at->attachment_at = w->at;
    const size_t begin = begin_record(w, to, MCAP_ATTACHMENT);
    append_attachment_times(w);
    append_text(w, to, end->attachment_name);
    append_text(w, to, end->media_type);
    append_number(w, to, end->attachment_bytes, 8);
    append_bytes(w, to, end->attachment, end->attachment_bytes);
    append_number(w, to, w->no_memory ? 0 : crc_of(0, to->at + begin, to->n - begin), 4);
    end_record(to, begin);
    at->attachment_bytes = to->n;
    write_scratch(w);
}

static void append_statistics(struct mcap_writer *w)
{
    struct bytes *to = &w->scratch;
    const size_t begin = begin_record(w, to, MCAP_STATISTICS);
    append_number(w, to, w->messages, 8);
    append_number(w, to, w->schema_count, 2);
    append_number(w, to, w->channel_count, 4);
    append_number(w, to, 1, 4); /* attachments */
    append_number(w, to, 1, 4); /* metadata */
    append_number(w, to, w->chunk_count, 4);
    append_number(w, to, w->first_ns, 8);
    append_number(w, to, w->last_ns, 8);
    append_number(w, to, 10 * w->channel_count, 4);
    for (size_t i = 0; i < w->channel_count && w->counts; i++) {
        append_number(w, to, i, 2);
        append_number(w, to, w->counts[i], 8);
    }
    end_record(to, begin);
}

static void append_indexes(struct mcap_writer *w, const struct mcap_end *end,
                           const struct places *at, size_t *attachment_end)
{
    struct bytes *to = &w->scratch;
    size_t begin = begin_record(w, to, MCAP_ATTACHMENT_INDEX);
    append_number(w, to, at->attachment_at, 8);
    append_number(w, to, at->attachment_bytes, 8);
    append_attachment_times(w);
    append_number(w, to, end->attachment_bytes, 8);
    append_text(w, to, end->attachment_name);
    append_text(w, to, end->media_type);
    end_record(to, begin);
    *attachment_end = to->n;
    begin = begin_record(w, to, MCAP_METADATA_INDEX);
    append_number(w, to, at->metadata_at, 8);
    append_number(w, to, at->metadata_bytes, 8);
    append_text(w, to, end->metadata_name);
    end_record(to, begin);
}

/* Writes the summary, where each group of it is, and the footer with the CRC of all that. */
static void write_summary(struct mcap_writer *w, const struct mcap_end *end,
                          const struct places *at)
{
    static const uint8_t opcodes[] = {MCAP_SCHEMA,           MCAP_CHANNEL,
                                      MCAP_STATISTICS,       MCAP_CHUNK_INDEX,
                                      MCAP_ATTACHMENT_INDEX, MCAP_METADATA_INDEX};
    enum { GROUPS = sizeof opcodes };
    struct bytes *to = &w->scratch;
    const uint64_t start = w->at;
    size_t ends[GROUPS + 1] = {0};
    append_bytes(w, to, w->schemas.at, w->schemas.n);
    ends[1] = to->n;
    append_bytes(w, to, w->channels.at, w->channels.n);
    ends[2] = to->n;
    append_statistics(w);
    ends[3] = to->n;
    append_bytes(w, to, w->chunk_indexes.at, w->chunk_indexes.n);
    ends[4] = to->n;
    append_indexes(w, end, at, &ends[5]);
    ends[6] = to->n;
    for (size_t i = 0; i < GROUPS; i++) {
        if (ends[i + 1] > ends[i]) {
            const size_t begin = begin_record(w, to, MCAP_SUMMARY_OFFSET);
            append_number(w, to, opcodes[i], 1);
            append_number(w, to, start + ends[i], 8);
            append_number(w, to, ends[i + 1] - ends[i], 8);
            end_record(to, begin);
        }
    }
    const size_t begin = begin_record(w, to, MCAP_FOOTER);
    append_number(w, to, start, 8);
    append_number(w, to, start + ends[GROUPS], 8);
    set_number(to, begin - 8, 20, 8); /* the CRC covers this length, too */
    append_number(w, to, w->no_memory ? 0 : crc_of(0, to->at, to->n), 4);
    write_scratch(w);
    write_bytes(w, MCAP_MAGIC, MCAP_MAGIC_BYTES);
}

enum status mcap_writer_end(struct mcap_writer *w, const struct mcap_end *end)
{
    struct places at;
    end_chunk(w);
    write_metadata(w, end, &at);
    write_attachment(w, end, &at);
    const size_t begin = begin_record(w, &w->scratch, MCAP_DATA_END);
    append_number(w, &w->scratch, w->crc, 4);
    end_record(&w->scratch, begin);
    write_scratch(w);
    write_summary(w, end, &at);
    errno = w->failed && errno == 0 ? EIO : errno;
    if (w->no_memory) {
        return STATUS_E_NOMEM;
    }
    return !w->failed && fflush(w->to) == 0 ? STATUS_OK : STATUS_E_IO;
}

void mcap_writer_close(struct mcap_writer *w)
{
    if (!w) {
        return;
    }
    free(w->schemas.at);
    free(w->channels.at);
    free(w->chunk.at);
    free(w->chunk_indexes.at);
    free(w->scratch.at);
    free(w->counts);
    free(w->rows);
    free(w);
}
