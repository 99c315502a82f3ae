#include "logger/storage/journal_checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logger/storage/journal_error.h"

enum {
    FORMAT = 1,
    MAGIC_BYTES = 8,
    HEADER_BYTES = MAGIC_BYTES + 2 * 4 + 5 * 8 + 2 * 4,
    HEADER_CRC_AT = HEADER_BYTES - 4
};
static const char magic[MAGIC_BYTES + 1] = "TANDEMCK";

/* --- CRC-32 (the polynomial of Ethernet, reflected), eight bytes at a time ------------- */

struct crc_tables {
    uint32_t of[8][256];
};

/* Made anew for each file: 10 us, and no shared state. */
static void make_tables(struct crc_tables *tables)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++) {
            crc = crc & 1 ? (crc >> 1) ^ UINT32_C(0xedb88320) : crc >> 1;
        }
        tables->of[0][i] = crc;
    }
    for (size_t k = 1; k < 8; k++) {
        for (size_t i = 0; i < 256; i++) {
            const uint32_t before = tables->of[k - 1][i];
            tables->of[k][i] = (before >> 8) ^ tables->of[0][before & 255];
        }
    }
}

static uint32_t crc32_of(const struct crc_tables *tables, const unsigned char *p, size_t n)
{
    uint32_t crc = UINT32_MAX;
    for (; n >= 8; n -= 8, p += 8) {
        uint32_t next = 0;
        for (size_t i = 0; i < 4; i++) {
            next ^= tables->of[7 - i][((crc >> (8 * i)) ^ p[i]) & 255];
            next ^= tables->of[3 - i][p[4 + i]];
        }
        crc = next;
    }
    for (; n > 0; n--, p++) {
        crc = (crc >> 8) ^ tables->of[0][(crc ^ *p) & 255];
    }
    return ~crc;
}

/* --- the header ----------------------------------------------------------------------- */

static unsigned char *put_number(unsigned char *at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        at[i] = (unsigned char)(value >> (8 * i));
    }
    return at + bytes;
}

static uint64_t get_number(const unsigned char **at, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++) {
        value |= (uint64_t)(*at)[i] << (8 * i);
    }
    *at += bytes;
    return value;
}

static void make_header(const struct crc_tables *tables, const struct journal_checkpoint *c,
                        unsigned char out[HEADER_BYTES])
{
    memcpy(out, magic, MAGIC_BYTES);
    unsigned char *at = out + MAGIC_BYTES;
    at = put_number(at, FORMAT, 4);
    at = put_number(at, c->version, 4);
    at = put_number(at, c->fingerprint, 8);
    at = put_number(at, (uint64_t)c->position.file, 8);
    at = put_number(at, c->position.offset, 8);
    at = put_number(at, (uint64_t)c->t_us, 8);
    at = put_number(at, c->bytes, 8);
    at = put_number(at, crc32_of(tables, c->payload, c->bytes), 4);
    (void)put_number(at, crc32_of(tables, out, HEADER_CRC_AT), 4);
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

static bool write_all(const struct journal_io *io, int fd, const unsigned char *bytes, size_t n)
{
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
    const char *slash = strrchr(path, '/');
    const size_t bytes = slash ? (size_t)(slash - path) : 0;
    (void)snprintf(directory, sizeof directory, "%.*s", (int)bytes, path);
    const char *name = !slash ? "." : bytes == 0 ? "/" : directory;
    const int fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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
    struct crc_tables tables;
    make_tables(&tables);
    unsigned char header[HEADER_BYTES];
    make_header(&tables, checkpoint, header);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    if (fd < 0) {
        return false;
    }
    bool ok = write_all(io, fd, header, sizeof header) &&
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
    if (ok) {
        const int renamed =
            io && io->rename ? io->rename(io->context, beside, path) : rename(beside, path);
        ok = renamed == 0;
    }
    if (!ok) {
        const int error = errno;
        (void)unlink(beside);
        return err_set(err, STATUS_E_IO, path, 0, 0, "cannot write the checkpoint: %s",
                       journal_error_text(error));
    }
    return sync_directory_of(io, path) ? STATUS_OK
                                       : err_set(err, STATUS_E_IO, path, 0, 0,
                                                 "cannot sync the checkpoint's directory: %s",
                                                 journal_error_text(errno));
}

/* --- reading -------------------------------------------------------------------------- */

static bool read_all(int fd, unsigned char *bytes, size_t n)
{
    for (size_t done = 0; done < n;) {
        const ssize_t got = read(fd, bytes + done, n - done);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            errno = got == 0 ? EIO : errno;
            return false;
        }
        done += (size_t)got;
    }
    return true;
}

static enum status report_damage(const char *path, const char *what, struct err *err)
{
    return err_set(
        err, STATUS_E_PARSE, path, 0, 0,
        "the checkpoint is damaged (%s): remove it, and the journal is read from its "
        "beginning",
        what);
}

static enum status parse_header(const char *path, const struct crc_tables *tables,
                                const unsigned char header[HEADER_BYTES], uint64_t file_bytes,
                                struct journal_checkpoint *out, uint32_t *payload_crc,
                                struct err *err)
{
    if (memcmp(header, magic, MAGIC_BYTES) != 0) {
        return report_damage(path, "it does not begin like one", err);
    }
    const unsigned char *at = header + MAGIC_BYTES;
    const uint32_t format = (uint32_t)get_number(&at, 4);
    if (format != FORMAT) {
        return err_set(err, STATUS_E_STALE, path, 0, 0,
                       "the checkpoint has format %u, this program reads %d", format, FORMAT);
    }
    const unsigned char *crc_at = header + HEADER_CRC_AT;
    if (get_number(&crc_at, 4) != crc32_of(tables, header, HEADER_CRC_AT)) {
        return report_damage(path, "wrong check sum of its header", err);
    }
    out->version = (uint32_t)get_number(&at, 4);
    out->fingerprint = get_number(&at, 8);
    out->position.file = (int64_t)get_number(&at, 8);
    out->position.offset = get_number(&at, 8);
    out->t_us = (int64_t)get_number(&at, 8);
    const uint64_t bytes = get_number(&at, 8);
    *payload_crc = (uint32_t)get_number(&at, 4);
    if (bytes != file_bytes - HEADER_BYTES) {
        return report_damage(
            path, file_bytes - HEADER_BYTES < bytes ? "it is cut off" : "too long", err);
    }
    out->bytes = (size_t)bytes;
    return STATUS_OK;
}

static enum status check_use(const char *path, const struct journal_checkpoint *c,
                             uint32_t version, uint64_t fingerprint, struct err *err)
{
    if (c->version != version) {
        return err_set(err, STATUS_E_STALE, path, 0, 0,
                       "the checkpoint holds a state of version %u, this program uses %u",
                       c->version, version);
    }
    if (c->fingerprint != fingerprint) {
        return err_set(err, STATUS_E_STALE, path, 0, 0,
                       "the checkpoint belongs to another program or lab file");
    }
    return STATUS_OK;
}

static enum status read_payload(const char *path, int fd, const struct crc_tables *tables,
                                uint32_t crc, struct journal_checkpoint *c, struct err *err)
{
    unsigned char *payload = malloc(c->bytes > 0 ? c->bytes : 1);
    if (!payload) {
        return err_set(err, STATUS_E_NOMEM, path, 0, 0, "out of memory");
    }
    enum status status = STATUS_OK;
    if (!read_all(fd, payload, c->bytes)) {
        status = err_set(err, STATUS_E_IO, path, 0, 0, "cannot read the checkpoint: %s",
                         journal_error_text(errno));
    } else if (crc32_of(tables, payload, c->bytes) != crc) {
        status = report_damage(path, "wrong check sum", err);
    }
    if (status != STATUS_OK) {
        free(payload);
        return status;
    }
    c->payload = payload;
    return STATUS_OK;
}

static enum status read_file(const char *path, int fd, uint32_t version, uint64_t fingerprint,
                             struct journal_checkpoint *out, struct err *err)
{
    struct crc_tables tables;
    make_tables(&tables);
    struct stat about;
    unsigned char header[HEADER_BYTES];
    if (fstat(fd, &about) != 0) {
        return err_set(err, STATUS_E_IO, path, 0, 0, "cannot read the checkpoint: %s",
                       journal_error_text(errno));
    }
    if (!S_ISREG(about.st_mode)) {
        return err_set(err, STATUS_E_IO, path, 0, 0, "the checkpoint is not a file");
    }
    if (about.st_size < HEADER_BYTES) {
        return report_damage(path, "it is cut off", err);
    }
    if (!read_all(fd, header, sizeof header)) {
        return err_set(err, STATUS_E_IO, path, 0, 0, "cannot read the checkpoint: %s",
                       journal_error_text(errno));
    }
    struct journal_checkpoint c = {0};
    uint32_t crc = 0;
    enum status status =
        parse_header(path, &tables, header, (uint64_t)about.st_size, &c, &crc, err);
    if (status == STATUS_OK) {
        status = check_use(path, &c, version, fingerprint, err);
    }
    if (status == STATUS_OK) {
        status = read_payload(path, fd, &tables, crc, &c, err);
    }
    if (status == STATUS_OK) {
        *out = c;
    }
    return status;
}

enum status journal_checkpoint_read(const char *path, uint32_t version, uint64_t fingerprint,
                                    struct journal_checkpoint *out, struct err *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT
                   ? err_set(err, STATUS_E_EMPTY, path, 0, 0, "there is no checkpoint")
                   : err_set(err, STATUS_E_IO, path, 0, 0, "cannot open the checkpoint: %s",
                             journal_error_text(errno));
    }
    const enum status status = read_file(path, fd, version, fingerprint, out, err);
    (void)close(fd);
    return status;
}

void journal_checkpoint_free(struct journal_checkpoint *checkpoint)
{
    free(checkpoint->payload);
    checkpoint->payload = NULL;
    checkpoint->bytes = 0;
}
