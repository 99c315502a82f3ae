/* cmake/page_table.c - build tool: writes the files of the dashboard as a C table.
 *
 *     page_table OUT.c FILE...
 *
 * OUT.c defines what web/resource/page.h declares. Each FILE is in the table under the last
 * part of its path. Its compressed form is read from a file of that name with .gz, in the
 * folder of OUT.c.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/hash.h"

enum { PATH_BYTES_MAX = 1024, NAME_BYTES_MAX = 31 /* the limits of web/http/routes.h */ };

static const struct {
    const char *ending, *media_type;
} MEDIA_TYPES[] = {
    {".html", "text/html; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".svg", "image/svg+xml"},
};

enum { MEDIA_TYPE_COUNT = sizeof MEDIA_TYPES / sizeof MEDIA_TYPES[0] };

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *media_type_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < MEDIA_TYPE_COUNT; i++) {
        if (strcmp(dot, MEDIA_TYPES[i].ending) == 0) {
            return MEDIA_TYPES[i].media_type;
        }
    }
    return NULL;
}

/* Writes `static const unsigned char KIND_INDEX[] = {…};`. False: the file cannot be read. */
static bool write_bytes(FILE *out, const char *path, const char *kind, int index,
                        uint64_t *hash)
{
    FILE *in = fopen(path, "rb");
    unsigned char buffer[4096];
    size_t n = 0;
    if (!in) {
        return false;
    }
    *hash = HASH_START;
    (void)fprintf(out, "\nstatic const unsigned char %s_%d[] = {", kind, index);
    while ((n = fread(buffer, 1, sizeof buffer, in)) > 0) {
        *hash = hash_bytes(*hash, buffer, n);
        for (size_t i = 0; i < n; i++) {
            (void)fprintf(out, "%s%u,", i % 32 == 0 ? "\n    " : "", (unsigned)buffer[i]);
        }
    }
    (void)fprintf(out, "\n};\n");
    const bool ok = !ferror(in);
    return fclose(in) == 0 && ok;
}

struct row {
    const char *name, *media_type;
    uint64_t hash, gzip_hash;
};

static bool write_file(FILE *out, const char *folder, const char *path, int index,
                       struct row *row)
{
    char gzip_path[PATH_BYTES_MAX];
    *row = (struct row){.name = name_of(path), .media_type = media_type_of(name_of(path))};
    if (!row->media_type || strlen(row->name) > NAME_BYTES_MAX) {
        (void)fprintf(stderr,
                      "%s: a name of at most %d characters that ends in .html, .css, .js or "
                      ".svg would be right\n",
                      path, (int)NAME_BYTES_MAX);
        return false;
    }
    const int n = snprintf(gzip_path, sizeof gzip_path, "%s/%s.gz", folder, row->name);
    if (n >= (int)sizeof gzip_path || !write_bytes(out, path, "bytes", index, &row->hash) ||
        !write_bytes(out, gzip_path, "gzip", index, &row->gzip_hash)) {
        (void)fprintf(stderr, "%s: it or %s cannot be read\n", path, gzip_path);
        return false;
    }
    return true;
}

static void write_table(FILE *out, const struct row *rows, int count)
{
    (void)fprintf(out, "\nconst struct page_file page_files[] = {\n");
    for (int i = 0; i < count; i++) {
        (void)fprintf(
            out,
            "    {\"%s\", \"%s\", bytes_%d, gzip_%d, sizeof bytes_%d, sizeof gzip_%d, "
            "\"\\\"%016" PRIx64 "\\\"\", \"\\\"%016" PRIx64 "\\\"\"},\n",
            rows[i].name, rows[i].media_type, i, i, i, i, rows[i].hash, rows[i].gzip_hash);
    }
    (void)fprintf(out, "};\n\nconst size_t page_file_count = %d;\n", count);
}

static bool write_all(FILE *out, const char *folder, char **paths, int count)
{
    struct row *rows = calloc((size_t)count, sizeof *rows);
    bool ok = rows != NULL;
    (void)fprintf(out, "/* Made by cmake/page_table.c. */\n#include \"web/resource/page.h\"\n");
    for (int i = 0; ok && i < count; i++) {
        ok = write_file(out, folder, paths[i], i, &rows[i]);
    }
    if (ok) {
        write_table(out, rows, count);
    }
    free(rows);
    return ok && !ferror(out);
}

int main(int argc, char **argv)
{
    char folder[PATH_BYTES_MAX];
    if (argc < 3) {
        (void)fprintf(stderr, "usage: page_table OUT.c FILE...\n");
        return 2;
    }
    (void)snprintf(folder, sizeof folder, "%.*s", (int)(name_of(argv[1]) - argv[1]), argv[1]);
    FILE *out = fopen(argv[1], "wb");
    if (!out) {
        (void)fprintf(stderr, "%s: cannot be written\n", argv[1]);
        return 1;
    }
    bool ok = write_all(out, folder, argv + 2, argc - 2);
    if (fclose(out) != 0) {
        ok = false;
    }
    if (!ok) {
        (void)remove(argv[1]);
    }
    return ok ? 0 : 1;
}
