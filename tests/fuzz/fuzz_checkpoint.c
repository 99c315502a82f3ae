/* Any bytes as a checkpoint: only a whole one is accepted. The first byte chooses the meaning
 * of the rest: 0, the file as it is on the disk; else a payload, which reads back unchanged,
 * and is refused after any one bit of its file has changed. */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/checkpoint_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { VERSION = 7, HEADER = 104 + JOURNAL_NOTE_MAX, PIECE = 16 };
static const uint64_t fingerprint = UINT64_C(0x1122334455667788);

/* A file in memory of these bytes, by a name that it can be opened with. */
static int fuzz_file(const uint8_t *data, size_t size, char path[32])
{
    const int fd = memfd_create("checkpoint", MFD_CLOEXEC);
    assert(fd >= 0);
    const ssize_t wrote = size > 0 ? write(fd, data, size) : 0;
    assert(wrote == (ssize_t)size);
    (void)snprintf(path, 32, "/proc/self/fd/%d", fd);
    return fd;
}

static bool fuzz_is_accepted(const uint8_t *data, size_t size, struct journal_checkpoint *out)
{
    char path[32];
    struct err err = {0};
    const int fd = fuzz_file(data, size, path);
    const enum status status =
        journal_checkpoint_read(path, VERSION, fingerprint, true, out, &err);
    (void)close(fd);
    assert(status == STATUS_OK || status == STATUS_E_STALE || status == STATUS_E_PARSE ||
           status == STATUS_E_EMPTY);
    assert(status == STATUS_OK || err.text[0] != '\0');
    return status == STATUS_OK;
}

/* Bytes from the disk: an accepted checkpoint has the pieces of the file. */
static void fuzz_disk(const uint8_t *data, size_t size)
{
    struct journal_checkpoint read = {0};
    if (fuzz_is_accepted(data, size, &read)) {
        assert(read.version == VERSION && read.fingerprint == fingerprint);
        assert(size >= HEADER && read.payload && read.base == 0);
        journal_checkpoint_free(&read);
    }
}

static uint8_t *fuzz_written(const struct journal_checkpoint *c, size_t *size)
{
    static char folder[] = "/tmp/tandem-fuzz.XXXXXX";
    static char path[64];
    if (!path[0]) {
        assert(mkdtemp(folder));
        (void)snprintf(path, sizeof path, "%s/checkpoint", folder);
    }
    uint64_t id = 0;
    const enum status status = checkpoint_write(path, c, NULL, &id, NULL);
    assert(status == STATUS_OK);
    FILE *in = fopen(path, "rb");
    uint8_t *file = malloc(HEADER + PIECE + c->bytes + 1);
    assert(in && file);
    *size = fread(file, 1, HEADER + PIECE + c->bytes + 1, in);
    assert(*size == HEADER + PIECE + c->bytes);
    (void)fclose(in);
    (void)unlink(path);
    return file;
}

static void fuzz_payload(const uint8_t *data, size_t size)
{
    struct journal_checkpoint wrote = {.version = VERSION,
                                       .fingerprint = fingerprint,
                                       .position = {(int64_t)size, size},
                                       .t_us = (int64_t)size,
                                       .bytes = size};
    uint64_t place = size;
    wrote.payload = malloc(size + 1);
    assert(wrote.payload);
    memcpy(wrote.payload, data, size);
    size_t whole = 0;
    uint8_t *file = fuzz_written(&wrote, &whole);
    struct journal_checkpoint read = {0};
    assert(fuzz_is_accepted(file, whole, &read));
    assert(read.bytes == size && memcmp(read.payload, data, size) == 0);
    journal_checkpoint_free(&read);
    for (size_t i = 0; i < size; i++) {
        place = place * 31 + data[i];
    }
    file[place / 8 % whole] ^= (uint8_t)(1U << place % 8);
    assert(!fuzz_is_accepted(file, whole, &read));
    free(file);
    free(wrote.payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && data[0] == 0) {
        fuzz_disk(data + 1, size - 1);
    } else if (size > 1) {
        fuzz_payload(data + 1, size - 1);
    }
    return 0;
}
