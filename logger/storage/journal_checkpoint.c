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

#include <zlib.h>

#include "logger/storage/file_place.h"
#include "logger/storage/journal_files.h"

enum { FORMAT = 4, MAGIC_BYTES = 8 };
static const char magic[MAGIC_BYTES + 1] = "TANDEMCK";

/* The header in the machine's byte order: a machine with another order refuses the file. */
struct header {
    char magic[MAGIC_BYTES];
    uint32_t format, version;
    uint64_t fingerprint;
    struct journal_position position;
    int64_t t_us;
    struct store_mark store;
    uint64_t bytes, pieces, base;
    char note[JOURNAL_NOTE_MAX];
    uint32_t payload_crc, crc;
};
_Static_assert(sizeof(struct header) == MAGIC_BYTES + 2 * 4 + 10 * 8 + JOURNAL_NOTE_MAX + 2 * 4,
               "no gaps");

static uint32_t head_crc(const struct header *h)
{
    return (uint32_t)crc32_z(0, (const unsigned char *)h, offsetof(struct header, crc));
}

/* Computes the id by which changes refer to a complete checkpoint. */
static uint64_t read_id(const struct header *h)
{
    return (uint64_t)h->payload_crc << 32 | h->crc;
}

/* Names the checkpoint or its changes, or the temporary file of either; false: too long. */
static bool name_file(char out[PATH_MAX], const char *path, bool changes, bool temporary)
{
    const int n = snprintf(out, PATH_MAX, "%s%s%s", path, changes ? ".changes" : "",
                           temporary ? ".new" : "");
    return n >= 0 && n < PATH_MAX;
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
    /* Linux writes at most 2 GiB per call, so a short write is not a failure. */
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

static void add_bytes(struct journal_checkpoint_writer *w, const void *bytes, size_t n)
{
    if (w->error == 0 && !write_all(w->io, w->fd, bytes, n)) {
        w->error = errno;
    }
}

void journal_checkpoint_begin(struct journal_checkpoint_writer *w, const char *path,
                              bool changes, const struct journal_io *io)
{
    enum { FLAGS = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC };
    static const struct header none = {0};
    char temporary[PATH_MAX];
    *w = (struct journal_checkpoint_writer){
        .io = io, .fd = -1, .open = true, .changes = changes};
    if (!name_file(temporary, path, changes, true)) {
        w->error = ENAMETOOLONG;
        return;
    }
    w->fd = open(temporary, FLAGS, 0640);
    if (w->fd < 0 && errno == ENOENT && file_place_make_directory_of(temporary)) {
        w->fd = open(temporary, FLAGS, 0640);
    }
    w->error = w->fd < 0 ? errno : 0;
    add_bytes(w, &none, sizeof none);
}

void journal_checkpoint_add(struct journal_checkpoint_writer *w, const void *pieces, size_t n)
{
    add_bytes(w, pieces, n);
    w->crc = (uint32_t)crc32_z(w->crc, pieces, n);
    w->bytes += n;
}

/* The header is written last: without it the file is not a checkpoint. */
static void write_head(struct journal_checkpoint_writer *w,
                       const struct journal_checkpoint *checkpoint, uint64_t *id)
{
    struct header header = {.format = FORMAT,
                            .version = checkpoint->version,
                            .fingerprint = checkpoint->fingerprint,
                            .position = checkpoint->position,
                            .t_us = checkpoint->t_us,
                            .store = checkpoint->store,
                            .bytes = checkpoint->bytes,
                            .pieces = w->bytes,
                            .base = checkpoint->base,
                            .payload_crc = w->crc};
    memcpy(header.magic, magic, MAGIC_BYTES);
    memcpy(header.note, checkpoint->note, sizeof header.note);
    header.note[sizeof header.note - 1] = '\0';
    header.crc = head_crc(&header);
    *id = read_id(&header);
    if (w->error == 0 && lseek(w->fd, 0, SEEK_SET) != 0) {
        w->error = errno;
    }
    add_bytes(w, &header, sizeof header);
    if (w->error == 0 && do_fsync(w->io, w->fd) != 0) {
        w->error = errno;
    }
}

/* Does the base of these changes exist? Somebody may have removed it. */
static bool has_base(const char *path, uint64_t base)
{
    struct header h;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const bool read_it = fd >= 0 && read(fd, &h, sizeof h) == (ssize_t)sizeof h;
    if (fd >= 0) {
        (void)close(fd);
    }
    return read_it && read_id(&h) == base;
}

static void close_file(struct journal_checkpoint_writer *w)
{
    if (w->fd >= 0 && close(w->fd) != 0 && w->error == 0) {
        w->error = errno;
    }
    w->fd = -1;
    w->open = false;
}

void journal_checkpoint_abandon(struct journal_checkpoint_writer *w, const char *path)
{
    char temporary[PATH_MAX];
    const bool made = w->fd >= 0;
    if (w->open) {
        close_file(w);
        if (made && name_file(temporary, path, w->changes, true)) {
            (void)unlink(temporary);
        }
    }
}

enum status journal_checkpoint_end(struct journal_checkpoint_writer *w, const char *path,
                                   const struct journal_checkpoint *checkpoint, uint64_t *id,
                                   struct err *err)
{
    const struct journal_io *const io = w->io;
    char to[PATH_MAX];
    char temporary[PATH_MAX];
    if (!name_file(to, path, w->changes, false) ||
        !name_file(temporary, path, w->changes, true)) {
        journal_checkpoint_abandon(w, path);
        return err_set(err, STATUS_E_ARG, FAULT_TOO_LONG, path,
                       "the checkpoint's path is too long");
    }
    if (w->changes && !has_base(path, checkpoint->base)) {
        journal_checkpoint_abandon(w, path);
        return err_set(err, STATUS_E_STALE, FAULT_FILE_MISSING, path,
                       "the checkpoint that has changed is gone");
    }
    const bool made = w->fd >= 0;
    write_head(w, checkpoint, id);
    close_file(w);
    if (w->error == 0 && (io && io->rename ? io->rename(io->context, temporary, to)
                                           : rename(temporary, to)) != 0) {
        w->error = errno;
    }
    if (w->error != 0) {
        errno = w->error;
        const enum status status =
            journal_fail(path, FAULT_FILE_UNWRITABLE, "cannot write the checkpoint", err);
        if (made) {
            (void)unlink(temporary);
        }
        return status;
    }
    if (!sync_directory_of(io, path)) {
        return journal_fail(path, FAULT_FILE_UNWRITABLE,
                            "cannot sync the checkpoint's directory", err);
    }
    if (!w->changes && name_file(to, path, true, false)) {
        (void)unlink(to); /* old changes name another base and would be ignored anyway */
    }
    return STATUS_OK;
}

/* --- reading -------------------------------------------------------------------------- */

static enum status report_damage(const char *path, const char *what, struct err *err)
{
    return err_set(
        err, STATUS_E_PARSE, FAULT_FILE_DAMAGED, path,
        "the checkpoint is damaged (%s): remove it, and the journal is read from its "
        "beginning",
        what);
}

/* Can this program read the header? */
static enum status check_head(const char *path, const struct header *h, struct err *err)
{
    if (memcmp(h->magic, magic, MAGIC_BYTES) != 0) {
        return report_damage(path, "it does not begin like one", err);
    }
    if (h->format == __builtin_bswap32(FORMAT)) {
        return err_set(err, STATUS_E_STALE, FAULT_WRONG_FILE, path,
                       "the checkpoint was written by a machine of another byte order");
    }
    if (h->format != FORMAT) {
        return err_set(err, STATUS_E_STALE, FAULT_VERSION_MISMATCH, path,
                       "the checkpoint has format %u, this program reads %d", h->format,
                       FORMAT);
    }
    if (h->crc != head_crc(h)) {
        return report_damage(path, "wrong check sum of its header", err);
    }
    return h->note[sizeof h->note - 1] == '\0' ? STATUS_OK
                                               : report_damage(path, "its note", err);
}

/* Can the caller use this version and fingerprint? */
static enum status check_use(const char *path, const struct header *h,
                             const struct journal_checkpoint *wanted, struct err *err)
{
    if (h->version != wanted->version) {
        return err_set(err, STATUS_E_STALE, FAULT_VERSION_MISMATCH, path,
                       "the checkpoint holds a state of version %u, this program uses %u",
                       h->version, wanted->version);
    }
    return h->fingerprint == wanted->fingerprint
               ? STATUS_OK
               : err_set(err, STATUS_E_STALE, FAULT_WRONG_FILE, path,
                         "the checkpoint belongs to another program or lab file");
}

static enum status fail_read(const char *path, FILE *file, struct err *err)
{
    errno = ferror(file) ? errno : EIO;
    return journal_fail(path, FAULT_FILE_UNREADABLE, "cannot read the checkpoint", err);
}

/* Reads the header and checks it against the file size. */
static enum status read_head(const char *path, FILE *file, struct header *h, struct err *err)
{
    struct stat about;
    if (fstat(fileno(file), &about) != 0) {
        return journal_fail(path, FAULT_FILE_UNREADABLE, "cannot read the checkpoint", err);
    }
    if (!S_ISREG(about.st_mode)) {
        return err_set(err, STATUS_E_IO, FAULT_NOT_A_FILE, path,
                       "the checkpoint is not a file");
    }
    const uint64_t bytes = (uint64_t)about.st_size;
    if (bytes < sizeof *h) {
        return report_damage(path, "it is cut off", err);
    }
    if (fread(h, sizeof *h, 1, file) != 1) {
        return fail_read(path, file, err);
    }
    const enum status status = check_head(path, h, err);
    return status != STATUS_OK || h->pieces == bytes - sizeof *h
               ? status
               : report_damage(
                     path, bytes - sizeof *h < h->pieces ? "it is cut off" : "too long", err);
}

/* Reads the pieces, each to its place in payload[h->bytes]. */
static enum status read_pieces(const char *path, FILE *file, const struct header *h,
                               unsigned char *payload, struct err *err)
{
    struct journal_piece piece;
    uint64_t left = h->pieces;
    uLong crc = 0;
    while (left > 0) {
        if (left < sizeof piece) {
            return report_damage(path, "a piece is cut off", err);
        }
        if (fread(&piece, sizeof piece, 1, file) != 1) {
            return fail_read(path, file, err);
        }
        left -= sizeof piece;
        if (piece.bytes > left || piece.at > h->bytes || piece.bytes > h->bytes - piece.at) {
            return report_damage(path, "a piece is where there is no room", err);
        }
        if (fread(payload + piece.at, 1, piece.bytes, file) != piece.bytes) {
            return fail_read(path, file, err);
        }
        left -= piece.bytes;
        crc = crc32_z(crc, (const unsigned char *)&piece, sizeof piece);
        crc = crc32_z(crc, payload + piece.at, piece.bytes);
    }
    return crc == h->payload_crc ? STATUS_OK : report_damage(path, "wrong check sum", err);
}

/* Grows the payload from `before` to `bytes` bytes, filled with 0. False: no memory. */
static bool grow_payload(struct journal_checkpoint *c, size_t before, size_t bytes)
{
    unsigned char *payload = before == 0 ? calloc(1, bytes > 0 ? bytes : 1)
                                         : realloc(c->payload, bytes > 0 ? bytes : 1);
    if (payload && before > 0 && bytes > before) {
        memset(payload + before, 0, bytes - before);
    }
    c->payload = payload ? payload : c->payload;
    return payload != NULL;
}

/* Applies the file's pieces to *out. */
static enum status read_state(const char *path, FILE *file, const struct header *h,
                              struct journal_checkpoint *out, struct err *err)
{
    enum status status = check_use(path, h, out, err);
    if (status == STATUS_OK && !grow_payload(out, out->bytes, h->bytes)) {
        status = err_no_memory(err, path, "out of memory");
    }
    if (status == STATUS_OK) {
        status = read_pieces(path, file, h, out->payload, err);
    }
    if (status == STATUS_OK) {
        out->position = h->position;
        out->t_us = h->t_us;
        out->store = h->store;
        out->base = h->base;
        out->bytes = h->bytes;
        memcpy(out->note, h->note, sizeof out->note);
    }
    return status;
}

static enum status read_whole(const char *path, struct journal_checkpoint *out, uint64_t *id,
                              struct err *err)
{
    struct header h;
    FILE *file = fopen(path, "re");
    if (!file) {
        return errno == ENOENT ? err_set(err, STATUS_E_EMPTY, FAULT_FILE_MISSING, path,
                                         "there is no checkpoint")
                               : journal_fail(path, FAULT_FILE_UNREADABLE,
                                              "cannot open the checkpoint", err);
    }
    enum status status = read_head(path, file, &h, err);
    if (status == STATUS_OK) {
        *id = read_id(&h);
        status = h.base == 0 ? read_state(path, file, &h, out, err)
                             : report_damage(path, "only what has changed", err);
    }
    (void)fclose(file);
    return status;
}

/* Changes of another checkpoint or program are left over and ignored. */
static enum status read_changes(const char *path, struct journal_checkpoint *out, uint64_t id,
                                struct err *err)
{
    struct header h;
    FILE *file = fopen(path, "re");
    if (!file) {
        return errno == ENOENT ? STATUS_OK
                               : journal_fail(path, FAULT_FILE_UNREADABLE,
                                              "cannot open the checkpoint", err);
    }
    struct err found = {0};
    enum status status = read_head(path, file, &h, &found);
    if (status == STATUS_OK && h.base == id) {
        status = read_state(path, file, &h, out, &found);
    } else if (status == STATUS_E_STALE) {
        status = STATUS_OK;
    }
    (void)fclose(file);
    if (status != STATUS_OK && err) {
        *err = found;
    }
    return status;
}

enum status journal_checkpoint_read_note(const char *path, char note[JOURNAL_NOTE_MAX],
                                         struct err *err)
{
    struct header h;
    FILE *file = fopen(path, "re");
    if (!file) {
        return errno == ENOENT ? STATUS_E_EMPTY
                               : journal_fail(path, FAULT_FILE_UNREADABLE,
                                              "cannot read the checkpoint", err);
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

bool journal_checkpoint_has_changes(const char *path)
{
    char changes[PATH_MAX];
    return name_file(changes, path, true, false) && access(changes, F_OK) == 0;
}

enum status journal_checkpoint_read(const char *path, uint32_t version, uint64_t fingerprint,
                                    bool with_changes, struct journal_checkpoint *out,
                                    struct err *err)
{
    struct journal_checkpoint read = {.version = version, .fingerprint = fingerprint};
    char changes[PATH_MAX];
    uint64_t id = 0;
    enum status status = read_whole(path, &read, &id, err);
    if (status == STATUS_OK && with_changes && name_file(changes, path, true, false)) {
        status = read_changes(changes, &read, id, err);
    }
    if (status == STATUS_OK) {
        *out = read;
    } else {
        free(read.payload);
    }
    return status;
}

void journal_checkpoint_free(struct journal_checkpoint *checkpoint)
{
    free(checkpoint->payload);
    checkpoint->payload = NULL;
    checkpoint->bytes = 0;
}
