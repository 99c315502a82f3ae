#include "service/evidence/report_inputs.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "logger/storage/journal_files.h"
#include "service/tool/array.h"

enum { SHA256_BYTES = 32 };

/* Computes length and SHA-256. */
static bool hash_file(FILE *file, struct report_input *out)
{
    static const char digits[] = "0123456789abcdef";
    char buffer[65536];
    unsigned char hash[SHA256_BYTES];
    gnutls_hash_hd_t state = NULL;
    size_t n = 0;
    if (gnutls_hash_init(&state, GNUTLS_DIG_SHA256) != 0) {
        return false;
    }
    while ((n = fread(buffer, 1, sizeof buffer, file)) > 0) {
        (void)gnutls_hash(state, buffer, n);
        out->bytes += n;
    }
    gnutls_hash_deinit(state, hash);
    for (size_t k = 0; k < sizeof hash; k++) {
        out->sha256[2 * k] = digits[hash[k] >> 4];
        out->sha256[2 * k + 1] = digits[hash[k] & 15];
    }
    return ferror(file) == 0;
}

static enum status add_file(struct report_inputs *inputs, const char *path, struct err *err)
{
    struct report_input input = {.bytes = 0};
    (void)snprintf(input.name, sizeof input.name, "%s", basename(path));
    FILE *file = fopen(path, "rbe");
    const bool good = file && hash_file(file, &input);
    const int error = errno;
    if (file) {
        (void)fclose(file);
    }
    if (!good) {
        return err_set(err, STATUS_E_IO, FAULT_FILE_UNREADABLE, path, "cannot be read: %s",
                       strerrordesc_np(error));
    }
    return array_append((void **)&inputs->list, &inputs->count, &inputs->room, &input,
                        sizeof input)
               ? STATUS_OK
               : err_no_memory(err, path, "out of memory");
}

static enum status add_journal(struct report_inputs *inputs, const char *directory,
                               struct err *err)
{
    int64_t *starts_us = NULL;
    size_t n = 0;
    enum status status = journal_files_list(directory, &starts_us, &n, err);
    for (size_t k = 0; k < n && status == STATUS_OK; k++) {
        char *path = journal_file_path(directory, starts_us[k]);
        status =
            path ? add_file(inputs, path, err) : err_no_memory(err, directory, "out of memory");
        free(path);
    }
    free(starts_us);
    return status;
}

enum status report_inputs_add(struct report_inputs *inputs, const char *path, struct err *err)
{
    struct stat about;
    if (strcmp(path, "-") == 0) {
        return STATUS_OK;
    }
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode) ? add_journal(inputs, path, err)
                                                             : add_file(inputs, path, err);
}

void report_inputs_free(struct report_inputs *inputs)
{
    free(inputs->list);
}
