#include "logger/storage/journal_checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logger/storage/file_place.h"
#include "logger/storage/journal_files.h"

enum { FORMAT = 3, MAGIC_BYTES = 8 };
static const char magic[MAGIC_BYTES + 1] = "TANDEMCK";

/* The file's first bytes, as they lie in memory. */
struct header {
    char magic[MAGIC_BYTES];
    uint32_t format, version;
    uint64_t fingerprint;
    struct journal_position position;
    int64_t t_us;
    struct store_mark store;
    uint64_t bytes;
    char note[JOURNAL_NOTE_MAX];
    uint32_t payload_crc, crc;
};
_Static_assert(sizeof(struct header) == MAGIC_BYTES + 2 * 4 + 8 * 8 + JOURNAL_NOTE_MAX + 2 * 4,
               "no gaps");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers in the file's byte order");

/* CRC-32, the polynomial of Ethernet, reflected. Eight bytes at a time, a payload has hundreds
 * of megabytes: table k is what a byte does with k more behind it. Made anew each time, in 10
 * us. */
static uint32_t crc32_of(const void *bytes, size_t n)
{
    uint32_t table[8][256] = {0};
    for (uint32_t i = 0; i < 8 * 256; i++) {
        uint32_t crc = i < 256 ? i : table[i / 256 - 1][i % 256];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc & 1 ? (crc >> 1) ^ UINT32_C(0xedb88320) : crc >> 1;
        }
        table[i / 256][i % 256] = crc;
    }
    const unsigned char *p = bytes;
    uint32_t crc = UINT32_MAX;
    for (; n >= 8; n -= 8, p += 8) {
        uint64_t word = 0;
        memcpy(&word, p, sizeof word);
        word ^= crc;
        crc = 0;
        for (unsigned k = 0; k < 8; k++) {
            crc ^= table[7 - k][(word >> (8 * k)) & 255];
        }
    }
    for (; n > 0; n--, p++) {
        crc = (crc >> 8) ^ table[0][(crc ^ *p) & 255];
    }
    return ~crc;
}

/* --- writing -------------------------------------------------------------------------- */

static ssize_t do_write(const struct journal_io *io, int fd, const void *bytes, size_t n)
{
    return io && io->write ? io->write(io->context, fd, bytes, n) : write(fd, bytes, n);
}

static int do_fsync(const struct journal_io *io, int fd)
{
    return io && io->fsync ? io->fsync(io->context, fd) : fsync(fd);
}

static bool write_all(const struct journal_io *io, int fd, const void *from, size_t n)
{
    const unsigned char *bytes = from;
    /* Linux writes at most 2 GiB a call: a short write is no failure by itself. */
    for (size_t done = 0; done < n;) {
        const ssize_t wrote = do_write(io, fd, bytes + done, n - done);
        if (wrote < 0 && errno == EINTR) {
            continue;
        }
        if (wrote <= 0) {
            errno = wrote == 0 ? ENOSPC : errno;
            return false;
        }
        done += (size_t)wrote;
    }
    return true;
}

static bool sync_directory_of(const struct journal_io *io, const char *path)
{
    char directory[PATH_MAX];
    (void)snprintf(directory, sizeof directory, "%s", path);
    const int fd = open(dirname(directory), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    const bool ok = do_fsync(io, fd) == 0;
    const int error = errno;
    (void)close(fd);
    errno = error;
    return ok;
}

static bool write_file(const char *path, const struct journal_checkpoint *checkpoint,
                       const struct journal_io *io)
{
    struct header header = {.format = FORMAT,
                            .version = checkpoint->version,
                            .fingerprint = checkpoint->fingerprint,
                            .position = checkpoint->position,
                            .t_us = checkpoint->t_us,
                            .store = checkpoint->store,
                            .bytes = checkpoint->bytes};
    memcpy(header.magic, magic, MAGIC_BYTES);
    memcpy(header.note, checkpoint->note, sizeof header.note);
    header.note[sizeof header.note - 1] = '\0';
    header.payload_crc = crc32_of(checkpoint->payload, checkpoint->bytes);
    header.crc = crc32_of(&header, offsetof(struct header, crc));
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    if (fd < 0) {
        return false;
    }
    bool ok = write_all(io, fd, &header, sizeof header) &&
              write_all(io, fd, checkpoint->payload, checkpoint->bytes) &&
              do_fsync(io, fd) == 0;
    const int error = errno;
    ok = close(fd) == 0 && ok;
    errno = ok ? errno : error;
    return ok;
}

enum status journal_checkpoint_write(const char *path,
                                     const struct journal_checkpoint *checkpoint,
                                     const struct journal_io *io, struct err *err)
{
    char beside[PATH_MAX];
    const int n = snprintf(beside, sizeof beside, "%s.new", path);
    if (n < 0 || (size_t)n >= sizeof beside) {
        return err_set(err, STATUS_E_ARG, path, 0, 0, "the checkpoint's path is too long");
    }
    bool ok = write_file(beside, checkpoint, io);
    if (!ok && errno == ENOENT && file_place_make_directory_of(beside)) {
        ok = write_file(beside, checkpoint, io);
    }
    if (ok) {
        const int renamed =
            io && io->rename ? io->rename(io->context, beside, path) : rename(beside, path);
        ok = renamed == 0;
    }
    if (!ok) {
        const enum status status = journal_fail(path, "cannot write the checkpoint", err);
        (void)unlink(beside);
        return status;
    }
    return sync_directory_of(io, path)
               ? STATUS_OK
               : journal_fail(path, "cannot sync the checkpoint's directory", err);
}

/* --- reading -------------------------------------------------------------------------- */

static enum status report_damage(const char *path, const char *what, struct err *err)
{
    return err_set(
        err, STATUS_E_PARSE, path, 0, 0,
        "the checkpoint is damaged (%s): remove it, and the journal is read from its "
        "beginning",
        what);
}

/* Is it a header that this program can read? */
static enum status check_head(const char *path, const struct header *h, struct err *err)
{
    if (memcmp(h->magic, magic, MAGIC_BYTES) != 0) {
        return report_damage(path, "it does not begin like one", err);
    }
    if (h->format != FORMAT) {
        return err_set(err, STATUS_E_STALE, path, 0, 0,
                       "the checkpoint has format %u, this program reads %d", h->format,
                       FORMAT);
    }
    if (h->crc != crc32_of(h, offsetof(struct header, crc))) {
        return report_damage(path, "wrong check sum of its header", err);
    }
    return h->note[sizeof h->note - 1] == '\0' ? STATUS_OK
                                               : report_damage(path, "its note", err);
}

/* Is it a header of a file of so many bytes, and of what the caller can use? */
static enum status check_header(const char *path, const struct header *h, uint64_t file_bytes,
                                uint32_t version, uint64_t fingerprint, struct err *err)
{
    const enum status status = check_head(path, h, err);
    if (status != STATUS_OK) {
        return status;
    }
    if (h->bytes != file_bytes - sizeof *h) {
        return report_damage(
            path, file_bytes - sizeof *h < h->bytes ? "it is cut off" : "too long", err);
    }
    if (h->version != version) {
        return err_set(err, STATUS_E_STALE, path, 0, 0,
                       "the checkpoint holds a state of version %u, this program uses %u",
                       h->version, version);
    }
    return h->fingerprint == fingerprint
               ? STATUS_OK
               : err_set(err, STATUS_E_STALE, path, 0, 0,
                         "the checkpoint belongs to another program or lab file");
}

static enum status fail_read(const char *path, FILE *file, struct err *err)
{
    errno = ferror(file) ? errno : EIO;
    return journal_fail(path, "cannot read the checkpoint", err);
}

static enum status read_file(const char *path, FILE *file, uint32_t version,
                             uint64_t fingerprint, struct journal_checkpoint *out,
                             struct err *err)
{
    struct stat about;
    struct header h;
    if (fstat(fileno(file), &about) != 0) {
        return journal_fail(path, "cannot read the checkpoint", err);
    }
    if (!S_ISREG(about.st_mode)) {
        return err_set(err, STATUS_E_IO, path, 0, 0, "the checkpoint is not a file");
    }
    if ((uint64_t)about.st_size < sizeof h) {
        return report_damage(path, "it is cut off", err);
    }
    if (fread(&h, sizeof h, 1, file) != 1) {
        return fail_read(path, file, err);
    }
    enum status status =
        check_header(path, &h, (uint64_t)about.st_size, version, fingerprint, err);
    if (status != STATUS_OK) {
        return status;
    }
    void *payload = malloc(h.bytes > 0 ? h.bytes : 1);
    if (!payload) {
        return err_set(err, STATUS_E_NOMEM, path, 0, 0, "out of memory");
    }
    if (fread(payload, 1, h.bytes, file) != h.bytes) {
        status = fail_read(path, file, err);
    } else if (crc32_of(payload, h.bytes) != h.payload_crc) {
        status = report_damage(path, "wrong check sum", err);
    }
    if (status != STATUS_OK) {
        free(payload);
        return status;
    }
    *out = (struct journal_checkpoint){.version = h.version,
                                       .fingerprint = h.fingerprint,
                                       .position = h.position,
                                       .t_us = h.t_us,
                                       .store = h.store,
                                       .bytes = h.bytes,
                                       .payload = payload};
    memcpy(out->note, h.note, sizeof out->note);
    return STATUS_OK;
}

enum status journal_checkpoint_note(const char *path, char note[JOURNAL_NOTE_MAX],
                                    struct err *err)
{
    struct header h;
    FILE *file = fopen(path, "re");
    if (!file) {
        return errno == ENOENT ? STATUS_E_EMPTY
                               : journal_fail(path, "cannot read the checkpoint", err);
    }
    enum status status = fread(&h, sizeof h, 1, file) == 1
                             ? check_head(path, &h, err)
                             : report_damage(path, "it is cut off", err);
    (void)fclose(file);
    if (status == STATUS_OK) {
        memcpy(note, h.note, sizeof h.note);
    }
    return status;
}

enum status journal_checkpoint_read(const char *path, uint32_t version, uint64_t fingerprint,
                                    struct journal_checkpoint *out, struct err *err)
{
    FILE *file = fopen(path, "re");
    if (!file) {
        return errno == ENOENT
                   ? err_set(err, STATUS_E_EMPTY, path, 0, 0, "there is no checkpoint")
                   : journal_fail(path, "cannot open the checkpoint", err);
    }
    const enum status status = read_file(path, file, version, fingerprint, out, err);
    (void)fclose(file);
    return status;
}

void journal_checkpoint_free(struct journal_checkpoint *checkpoint)
{
    free(checkpoint->payload);
    checkpoint->payload = NULL;
    checkpoint->bytes = 0;
}
