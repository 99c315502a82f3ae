/* Runs every file of the folders named on the command line through a fuzz target: the corpus as
 * a test, without libFuzzer. A folder without files is a failure: nothing would be tested. */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1 << 20 };

static bool run_file(const char *path)
{
    FILE *in = fopen(path, "rb");
    if (!in) {
        perror(path);
        return false;
    }
    /* Sized to the content, so that a sanitizer sees every step beyond its end. */
    uint8_t *whole = malloc(INPUT_MAX);
    const size_t size = whole ? fread(whole, 1, INPUT_MAX, in) : 0;
    uint8_t *exact = whole ? realloc(whole, size > 0 ? size : 1) : NULL;
    (void)fclose(in);
    if (!exact) {
        free(whole);
        return false;
    }
    (void)fprintf(stderr, "%s\n", path);
    (void)LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    return true;
}

static size_t run_folder(const char *folder)
{
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, NULL, alphasort);
    size_t files = 0;
    for (int i = 0; i < count; i++) {
        char path[4096];
        if (entries[i]->d_name[0] != '.') {
            (void)snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
            files += run_file(path);
        }
        free(entries[i]);
    }
    free(entries);
    return files;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const size_t files = run_folder(argv[i]);
        if (files == 0) {
            (void)fprintf(stderr, "%s: no file could be read there\n", argv[i]);
            return EXIT_FAILURE;
        }
        (void)printf("%s: %zu files\n", argv[i], files);
    }
    return EXIT_SUCCESS;
}
