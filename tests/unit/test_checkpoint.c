#include "tests/support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/checkpoint_file.h"
#include "tests/support/scratch.h"

static char dir[SCRATCH_MAX];
static char path[128];

static const struct journal_position here = {INT64_C(1795153555599953), 123456789012};

static unsigned char sample_payload[100003];

static struct journal_checkpoint make_checkpoint(const void *payload, size_t bytes)
{
    memcpy(sample_payload, payload, bytes);
    return (struct journal_checkpoint){.version = 3,
                                       .fingerprint = UINT64_C(0xfeedfacecafebeef),
                                       .position = here,
                                       .t_us = INT64_C(1795153555600000),
                                       .bytes = bytes,
                                       .payload = sample_payload};
}

static enum status write_file(const struct journal_checkpoint *checkpoint,
                              const struct journal_io *io, struct err *err)
{
    uint64_t id = 0;
    return checkpoint_write(path, checkpoint, io, &id, err);
}

static enum status read_back(struct journal_checkpoint *out, struct err *err)
{
    return journal_checkpoint_read(path, 3, UINT64_C(0xfeedfacecafebeef), true, out, err);
}

static size_t read_all(unsigned char *out, size_t capacity)
{
    const int fd = open(path, O_RDONLY);
    const ssize_t n = fd >= 0 ? read(fd, out, capacity) : -1;
    if (fd >= 0) {
        (void)close(fd);
    }
    return n > 0 ? (size_t)n : 0;
}

static void write_all(const unsigned char *bytes, size_t n)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK("spill", fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    (void)close(fd);
}

static void round_trip(void)
{
    static unsigned char payload[100003];
    for (size_t i = 0; i < sizeof payload; i++) {
        payload[i] = (unsigned char)(i * 7 + i / 255);
    }
    static const size_t sizes[] = {0, 1, 7, 8, 9, 4096, sizeof payload};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        const struct journal_checkpoint in = make_checkpoint(payload, sizes[i]);
        struct journal_checkpoint out = {0};
        struct err err = {0};
        CHECK_INT("write", write_file(&in, NULL, &err), STATUS_OK);
        CHECK_INT("read", read_back(&out, &err), STATUS_OK);
        CHECK_INT("bytes", out.bytes, sizes[i]);
        CHECK_INT("file", out.position.file, here.file);
        CHECK_INT("offset", out.position.offset, here.offset);
        CHECK_INT("t_us", out.t_us, in.t_us);
        CHECK("payload", out.payload && memcmp(out.payload, payload, sizes[i]) == 0);
        journal_checkpoint_free(&out);
    }
}

enum { HEAD_BYTES = 104 + JOURNAL_NOTE_MAX, PIECE_BYTES = 16 };

/* Does the file have this number, in the byte order of this machine? */
static bool has_number(const unsigned char *at, uint64_t want, size_t bytes)
{
    uint64_t got = 0;
    for (size_t i = 0; i < bytes; i++) {
        const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
        got = got << 8 | at[little ? bytes - 1 - i : i];
    }
    return got == want;
}

/* The file is a contract between versions: fixed bytes. The pieces are
 * "123456789" alone, which they could not be: its CRC-32 as published (cbf43926). */
static void test_layout(void)
{
    struct journal_checkpoint in = make_checkpoint("123456789", 9);
    (void)snprintf(in.note, sizeof in.note, "made with this");
    struct journal_checkpoint_writer w;
    uint64_t id = 0;
    journal_checkpoint_begin(&w, path, false, NULL);
    journal_checkpoint_add(&w, "12345", 5);
    journal_checkpoint_add(&w, "6789", 4);
    CHECK_INT("write", journal_checkpoint_end(&w, path, &in, &id, NULL), STATUS_OK);
    unsigned char got[2048];
    CHECK_INT("size", read_all(got, sizeof got), HEAD_BYTES + 9);
    CHECK("magic", memcmp(got, "TANDEMCK", 8) == 0);
    CHECK("format", has_number(got + 8, 4, 4));
    CHECK("version", has_number(got + 12, 3, 4));
    CHECK("fingerprint", has_number(got + 16, UINT64_C(0xfeedfacecafebeef), 8));
    CHECK("note", memcmp(got + 96, "made with this", 15) == 0);
    CHECK("crc", has_number(got + HEAD_BYTES - 8, 0xcbf43926, 4));
}

/* A checkpoint that came with a data directory from a machine of the other byte order. */
static void other_byte_order(void)
{
    static unsigned char bytes[2048];
    const struct journal_checkpoint in = make_checkpoint("some state", 10);
    struct journal_checkpoint out = {0};
    struct err err = {0};
    CHECK_INT("write", write_file(&in, NULL, NULL), STATUS_OK);
    const size_t n = read_all(bytes, sizeof bytes);
    for (size_t i = 0; i < 2; i++) {
        const unsigned char byte = bytes[8 + i];
        bytes[8 + i] = bytes[11 - i];
        bytes[11 - i] = byte;
    }
    write_all(bytes, n);
    CHECK_INT("refused", read_back(&out, &err), STATUS_E_STALE);
    CHECK_TEXT("reports it", fault_name(err.fault), "wrong_file");
    CHECK("untouched", out.payload == NULL);
}

static void test_refusals(void)
{
    struct journal_checkpoint out = {0};
    struct err err = {0};
    (void)unlink(path);
    CHECK_INT("missing", read_back(&out, &err), STATUS_E_EMPTY);
    CHECK("untouched", out.payload == NULL);

    struct journal_checkpoint in = make_checkpoint("some state", 10);
    (void)snprintf(in.note, sizeof in.note, "motor=1f");
    CHECK_INT("write", write_file(&in, NULL, NULL), STATUS_OK);
    err = (struct err){0};
    CHECK_INT("version", journal_checkpoint_read(path, 4, in.fingerprint, true, &out, &err),
              STATUS_E_STALE);
    CHECK_TEXT("names both", fault_name(err.fault), "version_mismatch");
    CHECK(err.text, strstr(err.text, " 3") && strstr(err.text, " 4"));
    err = (struct err){0};
    CHECK_INT("fingerprint", journal_checkpoint_read(path, 3, 1, true, &out, &err),
              STATUS_E_STALE);
    CHECK_TEXT("names the lab file", fault_name(err.fault), "wrong_file");
    char note[JOURNAL_NOTE_MAX] = "";
    CHECK_INT("note", journal_checkpoint_read_note(path, note, &err), STATUS_OK);
    CHECK_TEXT("note", note, in.note);
    CHECK_INT("no note", journal_checkpoint_read_note("none.checkpoint", note, &err),
              STATUS_E_EMPTY);
    err = (struct err){0};
    CHECK_INT("directory", journal_checkpoint_read(dir, 3, 1, true, &out, &err), STATUS_E_IO);
}

/* Every cut and every flipped bit is found. */
static void test_damage(void)
{
    const struct journal_checkpoint in = make_checkpoint("the state of a lab", 18);
    CHECK_INT("write", write_file(&in, NULL, NULL), STATUS_OK);
    unsigned char whole[2048];
    const size_t n = read_all(whole, sizeof whole);
    CHECK_INT("size", n, HEAD_BYTES + PIECE_BYTES + 18);
    struct journal_checkpoint out = {0};
    for (size_t cut = 0; cut < n; cut++) {
        struct err err = {0};
        write_all(whole, cut);
        CHECK_INT("cut", read_back(&out, &err), STATUS_E_PARSE);
        CHECK_TEXT("reports damage", fault_name(err.fault), "file_damaged");
    }
    for (size_t bit = 0; bit < 8 * n; bit++) {
        struct err err = {0};
        unsigned char flipped[2048];
        memcpy(flipped, whole, n);
        flipped[bit / 8] ^= (unsigned char)(1U << (bit % 8));
        write_all(flipped, n);
        const enum status status = read_back(&out, &err);
        /* A flip in the format number reads as another format. */
        const bool in_format = bit / 8 >= 8 && bit / 8 < 12;
        CHECK_INT("flip", status, in_format ? STATUS_E_STALE : STATUS_E_PARSE);
    }
    unsigned char longer[2048] = {0};
    memcpy(longer, whole, n);
    write_all(longer, n + 1);
    CHECK_INT("longer", read_back(&out, NULL), STATUS_E_PARSE);
    CHECK("untouched", out.payload == NULL);
}

/* Pieces go where they belong, in any order; bytes without a piece are 0. */
static void test_pieces(void)
{
    static const unsigned char want[] = {0, 0, 'a', 'b', 0, 'c', 'e', 'f', 0};
    static const struct {
        struct journal_piece piece;
        const char *bytes;
    } rows[] = {{{5, 2}, "cd"}, {{2, 2}, "ab"}, {{6, 2}, "ef"}, {{9, 0}, ""}};
    struct journal_checkpoint out = {0};
    struct journal_checkpoint in = make_checkpoint("", 0);
    struct journal_checkpoint_writer w;
    uint64_t id = 0;
    in.bytes = sizeof want;
    for (size_t wrong = 0; wrong < 2; wrong++) {
        journal_checkpoint_begin(&w, path, false, NULL);
        for (size_t i = 0; i < COUNT(rows); i++) {
            journal_checkpoint_add(&w, &rows[i].piece, sizeof rows[i].piece);
            journal_checkpoint_add(&w, rows[i].bytes, rows[i].piece.bytes);
        }
        if (wrong) {
            const struct journal_piece beyond = {8, 2};
            journal_checkpoint_add(&w, &beyond, sizeof beyond);
            journal_checkpoint_add(&w, "no", 2);
        }
        CHECK_INT("write", journal_checkpoint_end(&w, path, &in, &id, NULL), STATUS_OK);
        CHECK_INT("read", read_back(&out, NULL), wrong ? STATUS_E_PARSE : STATUS_OK);
    }
    CHECK("where they belong", memcmp(out.payload, want, sizeof want) == 0);
    journal_checkpoint_free(&out);
}

static enum status write_changes(struct journal_checkpoint *c, uint64_t base,
                                 const struct journal_piece *piece, const char *bytes,
                                 const struct journal_io *io)
{
    struct journal_checkpoint_writer w;
    uint64_t id = 0;
    c->base = base;
    journal_checkpoint_begin(&w, path, true, io);
    journal_checkpoint_add(&w, piece, sizeof *piece);
    journal_checkpoint_add(&w, bytes, piece->bytes);
    return journal_checkpoint_end(&w, path, c, &id, NULL);
}

static bool has_state(const char *state, int64_t t_us)
{
    struct journal_checkpoint out = {0};
    const bool is = read_back(&out, NULL) == STATUS_OK && out.bytes == strlen(state) &&
                    memcmp(out.payload, state, out.bytes) == 0 && out.t_us == t_us;
    journal_checkpoint_free(&out);
    return is;
}

/* A partial checkpoint is applied to its whole one and to no other. */
static void test_changes(void)
{
    char extra[160];
    char retained[160];
    uint64_t id = 0;
    uint64_t next = 0;
    struct journal_checkpoint in = make_checkpoint("first state", 11);
    struct journal_checkpoint later = make_checkpoint("", 0);
    const int64_t t_us = in.t_us;
    (void)snprintf(extra, sizeof extra, "%s.changes", path);
    (void)snprintf(retained, sizeof retained, "%s.kept", path);
    in = make_checkpoint("first state", 11);
    CHECK_INT("whole", checkpoint_write(path, &in, NULL, &id, NULL), STATUS_OK);
    later.t_us = t_us + 1;
    later.bytes = 13; /* it has grown */
    const struct journal_piece piece = {6, 7};
    CHECK_INT("changes", write_changes(&later, id, &piece, "changes", NULL), STATUS_OK);
    CHECK("both", has_state("first changes", t_us + 1));
    later.bytes = 8; /* it has shrunk */
    later.t_us = t_us + 2;
    const struct journal_piece less = {6, 2};
    CHECK_INT("others", write_changes(&later, id, &less, "ok", NULL), STATUS_OK);
    CHECK("both", has_state("first ok", t_us + 2));
    CHECK_INT("kept", link(extra, retained), 0);
    in = make_checkpoint("another", 7);
    CHECK_INT("whole", checkpoint_write(path, &in, NULL, &next, NULL), STATUS_OK);
    CHECK("no changes", access(extra, F_OK) != 0 && has_state("another", t_us));
    /* The same as after a crash in between. */
    CHECK_INT("back", rename(retained, extra), 0);
    CHECK("not its own", next != id && has_state("another", t_us));
    later.version = 2;
    CHECK_INT("of another program", write_changes(&later, next, &less, "ok", NULL), STATUS_OK);
    CHECK_INT("stale", read_back(&in, NULL), STATUS_E_STALE);
    later.version = 3;
    CHECK_INT("changes", write_changes(&later, next, &less, "ok", NULL), STATUS_OK);
    CHECK("both", has_state("anotheok", t_us + 2));
    const int fd = open(extra, O_WRONLY);
    CHECK("damage", fd >= 0 && pwrite(fd, "x", 1, HEAD_BYTES + PIECE_BYTES) == 1);
    (void)close(fd);
    CHECK_INT("damaged", read_back(&in, NULL), STATUS_E_PARSE);
    CHECK("told", journal_checkpoint_has_changes(path));
    in = (struct journal_checkpoint){0};
    CHECK_INT("the whole one is good",
              journal_checkpoint_read(path, 3, UINT64_C(0xfeedfacecafebeef), false, &in, NULL),
              STATUS_OK);
    CHECK("as it was", in.bytes == 7 && memcmp(in.payload, "another", 7) == 0);
    journal_checkpoint_free(&in);
    CHECK_INT("removed", unlink(path), 0);
    CHECK_INT("gone", write_changes(&later, next, &less, "ok", NULL), STATUS_E_STALE);
    CHECK_INT("none", read_back(&in, NULL), STATUS_E_EMPTY);
    CHECK_INT("alone", rename(extra, path), 0);
    CHECK_INT("not whole", read_back(&in, NULL), STATUS_E_PARSE);
    (void)unlink(path);
}

/* --- the n-th call fails -------------------------------------------------------------- */

struct chaos {
    int calls;
    int fail_at;
    bool torn; /* the failing write writes a part first */
};

static bool chaos_now(struct chaos *chaos)
{
    errno = ENOSPC;
    return chaos->calls++ == chaos->fail_at;
}

static ssize_t chaos_write(void *context, int fd, const void *bytes, size_t n)
{
    struct chaos *chaos = context;
    if (!chaos_now(chaos)) {
        return write(fd, bytes, n);
    }
    if (chaos->torn && n > 1) {
        chaos->fail_at++;
        return write(fd, bytes, n / 2);
    }
    return -1;
}

static int chaos_fsync(void *context, int fd)
{
    return chaos_now(context) ? -1 : fsync(fd);
}

static int chaos_rename(void *context, const char *from, const char *to)
{
    return chaos_now(context) ? -1 : rename(from, to);
}

/* A partial checkpoint that cannot be written leaves the previous one. */
static void chaos_of_changes(void)
{
    struct journal_checkpoint in = make_checkpoint("state", 5);
    struct journal_checkpoint later = make_checkpoint("", 0);
    const struct journal_piece piece = {0, 5};
    uint64_t id = 0;
    bool failed = true;
    int n = 0;
    in = make_checkpoint("state", 5);
    CHECK_INT("whole", checkpoint_write(path, &in, NULL, &id, NULL), STATUS_OK);
    later.bytes = 5;
    for (; failed && n < 50; n++) {
        struct chaos state = {.fail_at = n};
        const struct journal_io io = {&state, chaos_write, chaos_fsync, chaos_rename};
        CHECK_INT("old", write_changes(&later, id, &piece, "older", NULL), STATUS_OK);
        failed = write_changes(&later, id, &piece, "newer", &io) != STATUS_OK;
        const bool is_new = has_state("newer", in.t_us);
        CHECK("one of them", is_new || has_state("older", in.t_us));
        CHECK("new on request", failed || is_new);
    }
    CHECK("every call failed once", n >= 5 && n < 50);
    char extra[160];
    (void)snprintf(extra, sizeof extra, "%s.changes", path);
    (void)unlink(extra);
}

static void test_chaos(void)
{
    for (int torn = 0; torn < 2; torn++) {
        bool failed = true;
        int n = 0;
        for (; failed && n < 50; n++) {
            struct chaos state = {.fail_at = n, .torn = torn};
            const struct journal_io io = {&state, chaos_write, chaos_fsync, chaos_rename};
            const struct journal_checkpoint old = make_checkpoint("old", 3);
            CHECK_INT("old", write_file(&old, NULL, NULL), STATUS_OK);
            struct err err = {0};
            const struct journal_checkpoint new = make_checkpoint("newer", 5);
            const enum status status = write_file(&new, &io, &err);
            failed = status != STATUS_OK;
            CHECK("status", status == STATUS_OK || status == STATUS_E_IO);
            CHECK("code", !failed || err.fault == FAULT_FILE_UNWRITABLE);
            struct journal_checkpoint out = {0};
            CHECK_INT("still whole", read_back(&out, NULL), STATUS_OK);
            const bool is_old = out.bytes == 3 && memcmp(out.payload, "old", 3) == 0;
            const bool is_new = out.bytes == 5 && memcmp(out.payload, "newer", 5) == 0;
            CHECK("one of them", is_old || is_new);
            CHECK("new on request", failed || is_new);
            journal_checkpoint_free(&out);
        }
        CHECK("every call failed once", n >= 5 && n < 50);
    }
    struct stat about;
    char extra[160];
    (void)snprintf(extra, sizeof extra, "%s.new", path);
    CHECK("nothing left behind", stat(extra, &about) != 0);
}

int main(void)
{
    if (!mkdtemp(scratch_template(dir, "test_checkpoint")) ||
        CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    (void)snprintf(path, sizeof path, "%s/lab.checkpoint", dir);
    CU_pSuite suite = CU_add_suite("checkpoint", NULL, NULL);
    CU_add_test(suite, "round trip", round_trip);
    CU_add_test(suite, "layout", test_layout);
    CU_add_test(suite, "other byte order", other_byte_order);
    CU_add_test(suite, "refusals", test_refusals);
    CU_add_test(suite, "damage", test_damage);
    CU_add_test(suite, "pieces", test_pieces);
    CU_add_test(suite, "changes", test_changes);
    CU_add_test(suite, "chaos", test_chaos);
    CU_add_test(suite, "chaos of changes", chaos_of_changes);
    const int result = check_run();
    (void)unlink(path);
    (void)rmdir(dir);
    return result;
}
