/* Any bytes as a journal: every line comes out once, whole and in order, and what is a message
 * can be written and read again; in one go is read what is read in two. The first byte chooses:
 * one file, or two that are merged, cut at a place it names. Also run over the corpus by
 * test_journal_reader. */
#undef NDEBUG /* its checks are asserts, in every build */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "logger/message/message.h"
#include "logger/storage/journal_reader.h"
#include "logger/mcap/mcap_reader.h"
#include "tests/support/plain_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_file {
    int fd;
    char path[32];
    const char *bytes;
    size_t size;
    size_t at; /* everything before has come out */
};

static void fuzz_fill(struct fuzz_file *file, const char *name, const uint8_t *data,
                      size_t size)
{
    file->fd = memfd_create(name, 0);
    assert(file->fd >= 0);
    (void)snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->fd);
    const ssize_t wrote = write(file->fd, data, size);
    assert(wrote == (ssize_t)size);
    file->bytes = (const char *)data;
    file->size = size;
    file->at = 0;
}

/* A message that was read is written as a line that reads as the same message. */
static void fuzz_message(const struct journal_line *line)
{
    static char scratch[MESSAGE_PAYLOAD_MAX + 1];
    static char scratch_again[MESSAGE_PAYLOAD_MAX + 1];
    static char text[MESSAGE_LINE_MAX];
    struct message message;
    struct message again;
    struct err err = {0};
    const enum status status = message_parse(line->text, line->bytes, scratch, &message, &err);
    if (status != STATUS_OK) {
        assert(status == STATUS_E_EMPTY || err.text[0] != '\0');
        return;
    }
    const size_t bytes = message_format(&message, text, sizeof text);
    assert(bytes > 1 && bytes <= sizeof text && text[bytes - 1] == '\n');
    assert(!memchr(text, '\n', bytes - 1));
    const enum status status_again = message_parse(text, bytes, scratch_again, &again, NULL);
    assert(status_again == STATUS_OK);
    /* Lines are written with times of the years 1970 to 9999. */
    assert(again.t_us == message.t_us || message.t_us < 0 ||
           message.t_us > INT64_C(253402300799999999));
    assert(again.qos == message.qos);
    assert(again.dup == message.dup && again.retained == message.retained);
    assert(strcmp(again.topic, message.topic) == 0);
    assert(again.stored_bytes == message.stored_bytes);
    assert(again.payload_bytes == message.payload_bytes);
}

/* The line is the next one of its file. */
static void fuzz_place(struct fuzz_file *file, const struct journal_line *line)
{
    assert(line->start.offset == file->at);
    assert(line->bytes <= file->size - file->at);
    assert(memcmp(line->text, file->bytes + file->at, line->bytes) == 0);
    assert(!memchr(line->text, '\n', line->bytes));
    file->at += line->bytes;
    if (line->torn) {
        assert(file->at == file->size);
    } else {
        assert(file->bytes[file->at] == '\n');
        file->at++;
    }
    assert(line->after.offset == file->at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > MESSAGE_LINE_MAX) {
        return 0;
    }
    const size_t cut = data[0] == 0 ? size : 1 + (size - 1) * data[0] / 256;
    if (mcap_is_magic(data + 1, size - 1) || mcap_is_magic(data + cut, size - cut)) {
        return 0; /* fuzz_mcap reads such files */
    }
    struct fuzz_file files[2];
    fuzz_fill(&files[0], "a", data + 1, cut - 1);
    fuzz_fill(&files[1], "b", data + cut, size - cut);
    const char *paths[2] = {files[0].path, files[1].path};
    struct journal_reader *reader = NULL;
    struct err err = {0};
    enum status status = journal_reader_open_files(paths, data[0] == 0 ? 1 : 2, &reader, &err);
    assert(status == STATUS_OK);
    bool given_up = false;
    for (;;) {
        struct journal_line line;
        status = journal_reader_next(reader, &line, &err);
        if (status == STATUS_E_EMPTY) {
            break;
        }
        if (status != STATUS_OK) {
            assert(status == STATUS_E_PARSE && err.text[0] != '\0'); /* compressed */
            given_up = true;
            continue;
        }
        fuzz_place(&files[line.start.file], &line);
        fuzz_message(&line);
        const enum plain_line plain = plain_line_read(line.text, line.bytes);
        assert(plain != PLAIN_DIFFERS);
    }
    for (size_t i = 0; i < 2; i++) {
        assert(given_up || files[i].at == files[i].size);
        (void)close(files[i].fd);
    }
    journal_reader_close(reader);
    return 0;
}
