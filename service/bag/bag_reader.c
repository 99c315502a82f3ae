#include "service/bag/bag_reader.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "logger/storage/journal_files.h"
#include "logger/mcap/mcap_reader.h"

enum { SQLITE_MAGIC_BYTES = 16 };

struct bag_reader {
    const char *path;
    struct mcap_reader *mcap; /* NULL: SQLite */
    sqlite3 *db;
    sqlite3_stmt *messages;
};

/* The first message shows whether it is a bag or a recording of a lab. */
static enum bag_kind kind_of_mcap(FILE *from, const char *path)
{
    struct mcap_reader *reader = NULL;
    struct mcap_message message;
    enum bag_kind kind = BAG_MCAP;
    if (mcap_reader_open(from, path, &reader, NULL) == STATUS_OK &&
        mcap_reader_next(reader, &message, NULL) == STATUS_OK &&
        strcmp(message.encoding, "cdr") != 0 && strcmp(message.encoding, "ros1") != 0) {
        kind = BAG_LINES;
    }
    mcap_reader_close(reader);
    return kind;
}

enum bag_kind bag_kind_of(const char *path)
{
    struct stat about;
    char head[SQLITE_MAGIC_BYTES];
    const bool regular = stat(path, &about) == 0 && S_ISREG(about.st_mode);
    FILE *from = regular ? fopen(path, "rb") : NULL;
    const size_t n = from ? fread(head, 1, sizeof head, from) : 0;
    if (mcap_is_magic(head, n)) {
        rewind(from);
        return kind_of_mcap(from, path);
    }
    if (from) {
        (void)fclose(from);
    }
    return n >= SQLITE_MAGIC_BYTES && memcmp(head, "SQLite format 3", SQLITE_MAGIC_BYTES) == 0
               ? BAG_SQLITE
               : BAG_NONE;
}

/* --- SQLite ---------------------------------------------------------------------------------
 */

static enum status fail_sqlite(const struct bag_reader *r, struct err *err)
{
    return err_set(err, STATUS_E_PARSE, FAULT_FILE_DAMAGED, r->path,
                   "cannot be read as a bag of rosbag2: %s", sqlite3_errmsg(r->db));
}

/* SQLite reads what is missing of the last page as zeros, which would become wrong messages. */
static bool is_last_page_cut(const struct bag_reader *r)
{
    struct stat about;
    sqlite3_stmt *page = NULL;
    const bool cut =
        sqlite3_prepare_v2(r->db, "PRAGMA page_size", -1, &page, NULL) == SQLITE_OK &&
        sqlite3_step(page) == SQLITE_ROW && stat(r->path, &about) == 0 &&
        about.st_size % sqlite3_column_int64(page, 0) != 0;
    (void)sqlite3_finalize(page);
    return cut;
}

/* Bags made before ROS 2 Iron have no table of definitions. */
static enum status open_sqlite(struct bag_reader *r, struct err *err)
{
    static const char with[] = "SELECT m.topic_id, t.name, t.type, t.serialization_format,"
                               " m.timestamp, m.data, d.encoding, d.encoded_message_definition"
                               " FROM messages m JOIN topics t ON t.id = m.topic_id LEFT JOIN"
                               " message_definitions d ON d.topic_type = t.type";
    static const char without[] = "SELECT m.topic_id, t.name, t.type, t.serialization_format,"
                                  " m.timestamp, m.data, '', ''"
                                  " FROM messages m JOIN topics t ON t.id = m.topic_id";
    if (sqlite3_open_v2(r->path, &r->db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) {
        return fail_sqlite(r, err);
    }
    const bool found = sqlite3_prepare_v2(r->db, with, -1, &r->messages, NULL) == SQLITE_OK ||
                       sqlite3_prepare_v2(r->db, without, -1, &r->messages, NULL) == SQLITE_OK;
    if (found && is_last_page_cut(r)) {
        return err_set(
            err, STATUS_E_PARSE, FAULT_FILE_DAMAGED, r->path,
            "cannot be read as a bag of rosbag2: the end of the file is missing; copy "
            "the file again");
    }
    return found ? STATUS_OK : fail_sqlite(r, err);
}

static const char *text_at(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text ? text : "";
}

static enum status next_of_sqlite(struct bag_reader *r, struct bag_message *out,
                                  struct err *err)
{
    const int code = sqlite3_step(r->messages);
    if (code != SQLITE_ROW) {
        return code == SQLITE_DONE ? STATUS_E_EMPTY : fail_sqlite(r, err);
    }
    const char *kind = text_at(r->messages, 6);
    *out =
        (struct bag_message){.topic_number = (uint16_t)sqlite3_column_int(r->messages, 0),
                             .topic = text_at(r->messages, 1),
                             .type = text_at(r->messages, 2),
                             .encoding = text_at(r->messages, 3),
                             .log_ns = sqlite3_column_int64(r->messages, 4),
                             .data = sqlite3_column_blob(r->messages, 5),
                             .bytes = (size_t)sqlite3_column_bytes(r->messages, 5),
                             .definition_kind = kind,
                             .definition = text_at(r->messages, 7),
                             .definition_bytes = (size_t)sqlite3_column_bytes(r->messages, 7)};
    out->data = out->data ? out->data : (const unsigned char *)"";
    return STATUS_OK;
}

/* --- both
 * ------------------------------------------------------------------------------------- */

enum status bag_reader_open(const char *path, struct bag_reader **out, struct err *err)
{
    struct bag_reader *r = calloc(1, sizeof *r);
    const enum bag_kind kind = bag_kind_of(path);
    enum status status = STATUS_OK;
    if (!r) {
        return err_no_memory(err, path, "no memory");
    }
    r->path = path;
    if (kind == BAG_SQLITE) {
        status = open_sqlite(r, err);
    } else {
        FILE *from = fopen(path, "rb");
        status = from ? mcap_reader_open(from, path, &r->mcap, err)
                      : journal_fail(path, FAULT_FILE_UNREADABLE, "cannot read", err);
    }
    if (status != STATUS_OK) {
        bag_reader_close(r);
        return status;
    }
    *out = r;
    return STATUS_OK;
}

void bag_reader_close(struct bag_reader *reader)
{
    if (reader) {
        mcap_reader_close(reader->mcap);
        (void)sqlite3_finalize(reader->messages);
        (void)sqlite3_close(reader->db);
        free(reader);
    }
}

enum status bag_reader_next(struct bag_reader *r, struct bag_message *out, struct err *err)
{
    struct mcap_message m;
    if (!r->mcap) {
        return next_of_sqlite(r, out, err);
    }
    const enum status status = mcap_reader_next(r->mcap, &m, err);
    if (status == STATUS_OK) {
        *out = (struct bag_message){.topic_number = m.channel,
                                    .topic = m.topic,
                                    .type = m.schema_name,
                                    .encoding = m.encoding,
                                    .definition_kind = m.schema_encoding,
                                    .definition = (const char *)m.schema,
                                    .definition_bytes = m.schema_bytes,
                                    .log_ns = (int64_t)m.log_ns,
                                    .data = m.data,
                                    .bytes = m.bytes};
    }
    return status;
}

bool bag_reader_is_torn(const struct bag_reader *reader)
{
    return reader->mcap && mcap_reader_is_torn(reader->mcap);
}
