#include "logger/storage/mcap_lines.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logger/mcap/mcap_reader.h"
#include "logger/message/message.h"
#include "logger/storage/journal_files.h"

enum { NS_PER_US = 1000 };

/* A conversion. Items of a list are joined in `list` until its end is known. */
struct conversion {
    struct mcap_reader *reader;
    FILE *to;
    struct message message;
    uint16_t list_channel;
    uint32_t list_number;
    size_t list_bytes; /* 0: none is open */
    char list[MESSAGE_PAYLOAD_MAX + 1];
    char line[MESSAGE_LINE_MAX];
};

static void write_message(struct conversion *c)
{
    const size_t bytes = message_format(&c->message, c->line, sizeof c->line);
    (void)fwrite(c->line, 1, bytes, c->to);
}

static void end_list(struct conversion *c)
{
    if (c->list_bytes > 0) {
        c->list[c->list_bytes++] = ']';
        c->message.payload = c->list;
        c->message.payload_bytes = c->message.stored_bytes = c->list_bytes;
        c->list_bytes = 0;
        write_message(c);
    }
}

/* Appends an item; the rest of a list that is too long is dropped. */
static void add_item(struct conversion *c, const struct mcap_message *m)
{
    if (c->list_bytes + m->bytes + 2 < sizeof c->list) {
        c->list[c->list_bytes] = c->list_bytes > 0 ? ',' : '[';
        memcpy(c->list + c->list_bytes + 1, m->data, m->bytes);
        c->list_bytes += m->bytes + 1;
    }
}

/* A digit in the metadata, or 0. */
static int flag_of(const struct mcap_message *m, const char *name)
{
    char value[2];
    return mcap_metadata(m, name, value, sizeof value) && value[0] >= '0' && value[0] <= '2'
               ? value[0] - '0'
               : 0;
}

static void set_message(struct conversion *c, const struct mcap_message *m)
{
    char value[2];
    const bool own = mcap_metadata(m, "qos", value, sizeof value);
    c->message = (struct message){.t_us = (int64_t)(m->log_ns / NS_PER_US),
                                  .qos = flag_of(m, "qos"),
                                  .retained = flag_of(m, "retain") == 1,
                                  .dup = flag_of(m, "dup") == 1,
                                  .packet_id = own ? (uint16_t)m->sequence : 0,
                                  .payload = (const char *)m->data,
                                  .payload_bytes = m->bytes};
    c->message.stored_bytes = m->bytes < MESSAGE_PAYLOAD_MAX ? m->bytes : MESSAGE_PAYLOAD_MAX;
    (void)snprintf(c->message.topic, sizeof c->message.topic, "%s", m->topic);
}

static enum status refuse_bag(const char *path, struct err *err)
{
    return err_set(err, STATUS_E_PARSE, FAULT_WRONG_FILE, path,
                   "a ROS 2 bag has no commands and replies of this lab; tandem identify reads "
                   "it");
}

static enum status convert_messages(struct conversion *c, const char *path, struct err *err)
{
    struct mcap_message m;
    char made[8];
    enum status status = STATUS_OK;
    while ((status = mcap_reader_next(c->reader, &m, err)) == STATUS_OK) {
        if (strcmp(m.encoding, "cdr") == 0 || strcmp(m.encoding, "ros1") == 0) {
            return refuse_bag(path, err);
        }
        if (mcap_metadata(&m, "made_by", made, sizeof made)) {
            continue;
        }
        const bool item = flag_of(&m, "list") == 1;
        if (c->list_bytes > 0 &&
            !(item && m.channel == c->list_channel && m.sequence == c->list_number)) {
            end_list(c);
        }
        if (!item) {
            set_message(c, &m);
            write_message(c);
            continue;
        }
        if (c->list_bytes == 0) {
            set_message(c, &m);
            c->message.packet_id = 0;
        }
        c->list_channel = m.channel;
        c->list_number = m.sequence;
        add_item(c, &m);
    }
    end_list(c);
    if (status == STATUS_E_EMPTY && mcap_reader_is_torn(c->reader)) {
        (void)fputs("{\"tst\":", c->to);
    }
    return status == STATUS_E_EMPTY ? STATUS_OK : status;
}

static int open_scratch(void)
{
    const char *folder = getenv("TMPDIR");
    char path[512];
    (void)snprintf(path, sizeof path, "%s/tandem-mcap-XXXXXX", folder ? folder : "/tmp");
    const int fd = mkstemp(path);
    if (fd >= 0) {
        (void)unlink(path);
    }
    return fd;
}

static enum status convert_to(FILE *from, int fd, const char *path, struct err *err)
{
    struct conversion *c = calloc(1, sizeof *c);
    const int copy = dup(fd);
    FILE *to = copy >= 0 ? fdopen(copy, "w") : NULL;
    enum status status = STATUS_OK;
    if (!c || !to) {
        (void)fclose(from);
        status = err_no_memory(err, path, "no memory");
    } else {
        c->to = to;
        status = mcap_reader_open(from, path, &c->reader, err);
        status = status == STATUS_OK ? convert_messages(c, path, err) : status;
        mcap_reader_close(c->reader);
    }
    if (to && (fclose(to) != 0 || lseek(fd, 0, SEEK_SET) < 0) && status == STATUS_OK) {
        status = journal_fail(path, FAULT_FILE_UNWRITABLE,
                              "its lines cannot be written to a temporary file", err);
    }
    free(c);
    return status;
}

enum status mcap_lines_convert(int *fd, const char *path, struct err *err)
{
    const int copy = dup(*fd);
    FILE *from = copy >= 0 && lseek(copy, 0, SEEK_SET) == 0 ? fdopen(copy, "r") : NULL;
    if (!from) {
        (void)close(copy);
        return err_set(err, STATUS_E_IO, FAULT_FILE_UNREADABLE, path,
                       "MCAP is read from a file only, not from a pipe");
    }
    const int scratch = open_scratch();
    if (scratch < 0) {
        (void)fclose(from);
        return journal_fail(path, FAULT_FILE_UNWRITABLE, "a temporary file cannot be made",
                            err);
    }
    const enum status status = convert_to(from, scratch, path, err);
    if (status != STATUS_OK) {
        (void)close(scratch);
        return status;
    }
    (void)close(*fd);
    *fd = scratch;
    return STATUS_OK;
}
