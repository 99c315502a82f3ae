/* Lab files of the tree: the examples, the corpus, what is made of the tables, the command. */
#include "config/labfile/lab_file.h"

#include "tests/support/check.h"

#include <dirent.h>

#include "config/options/option_file.h"
#include "service/tool/commands.h"
/* Its round trip is ours, and its corpus runs here. */
#include "tests/fuzz/fuzz_lab_file.c" // NOLINT(bugprone-suspicious-include)

enum { FILE_MAX = 1 << 18 };

static char *read_whole(const char *path, size_t *bytes)
{
    FILE *in = fopen(path, "rb");
    if (!in) {
        return NULL;
    }
    char *text = calloc(1, FILE_MAX);
    *bytes = text ? fread(text, 1, FILE_MAX - 1, in) : 0;
    (void)fclose(in);
    return text;
}

/* Every file of a folder through check; returns how many there were. */
static size_t each_file(const char *folder, void (*check)(const char *path, const char *name))
{
    size_t n = 0;
    DIR *dir = opendir(folder);
    CU_ASSERT_FATAL(dir != NULL);
    for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        if (entry->d_name[0] != '.') {
            char path[1024];
            (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            check(path, entry->d_name);
            n++;
        }
    }
    (void)closedir(dir);
    return n;
}

static void check_example(const char *path, const char *name)
{
    struct lab_file lab = {0};
    struct err_list errors = {0};
    CHECK_INT(name, lab_file_load(path, &lab, &errors), STATUS_OK);
    err_list_print(&errors, stdout);
    if (errors.count == 0) {
        fuzz_round_trip(&lab);
    }
    lab_file_free(&lab);
}

static void check_corpus(const char *path, const char *name)
{
    size_t bytes = 0;
    char *text = read_whole(path, &bytes);
    CHECK(name, text != NULL);
    if (text) {
        (void)LLVMFuzzerTestOneInput((const uint8_t *)text, bytes);
    }
    free(text);
}

static void test_examples(void)
{
    CHECK("", each_file(TANDEM_SOURCE_DIR "/config/examples", check_example) >= 3);
}

static void test_corpus(void)
{
    CHECK("", each_file(TANDEM_SOURCE_DIR "/tests/fuzz/corpus/lab_file", check_corpus) >= 10);
}

static void check_same(const char *path, const char *printed, size_t printed_bytes)
{
    size_t bytes = 0;
    char *text = read_whole(path, &bytes);
    CHECK(path, text != NULL);
    CHECK(path, text && bytes == printed_bytes && memcmp(text, printed, bytes) == 0);
    free(text);
}

/* docs/config.md and the schema are those of the tables: write them again when this fails
 * (`tandem config --docs`, `tandem config --schema`). */
static void test_generated(void)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    lab_file_print_docs(out);
    (void)fclose(out);
    check_same(TANDEM_SOURCE_DIR "/docs/config.md", text, bytes);
    free(text);
    text = NULL;
    out = open_memstream(&text, &bytes);
    CHECK_INT("", lab_file_print_schema(out), STATUS_OK);
    (void)fclose(out);
    check_same(TANDEM_SOURCE_DIR "/config/lab.schema.json", text, bytes);
    free(text);
}

static int run_command(int argc, const char *a, const char *b)
{
    char name[] = "config";
    char first[256];
    char second[256];
    (void)snprintf(first, sizeof first, "%s", a);
    (void)snprintf(second, sizeof second, "%s", b);
    char *argv[] = {name, first, second, NULL};
    argv[argc] = NULL;
    return command_config(argc, argv);
}

static void test_command(void)
{
    CHECK_INT("", run_command(1, "", ""), EXIT_USAGE);
    CHECK_INT("", run_command(2, "--nope", ""), EXIT_USAGE);
    CHECK_INT("", run_command(2, "/no/such", ""), EXIT_USAGE);
    CHECK_INT("", run_command(3, "a", "b"), EXIT_USAGE);
    CHECK_INT("", run_command(2, "--help", ""), EXIT_FINE);
    CHECK_INT("", run_command(2, TANDEM_SOURCE_DIR "/config/examples/lab.yaml", ""), EXIT_FINE);
}

/* A pair's tolerances add to those of all pairs, sorted by name. */
static void test_tolerances(void)
{
    static const char text[] =
        "defaults: {tolerances: {_rad: 0.05, z_m: 3}}\n"
        "pairs: {r1: {tolerances: {z_m: 4, _m: 0.02}}, r2: {tolerances: "
        "{a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1, i: 1, j: 1}}}\n";
    static const char *const wrong[] = {"[1]",      "{\"\": 1}",      "{_m: x}",
                                        "{_m: -1}", "{_m: 1, _m: 2}", "{_m: [1]}"};
    static const struct named_number want[] = {{"_m", 0.02}, {"_rad", 0.05}, {"z_m", 4.0}};
    static struct lab_file lab;
    struct err_list errors = {0};
    CU_ASSERT_EQUAL_FATAL(lab_file_parse(text, strlen(text), "t", &lab, &errors), STATUS_OK);
    for (size_t i = 0; i < COUNT(want); i++) {
        CHECK_TEXT("sorted", lab.pairs[0].tolerances[i].name, want[i].name);
        CHECK_NEAR(want[i].name, lab.pairs[0].tolerances[i].value, want[i].value, 0, 0);
    }
    CHECK_TEXT("no more", lab.pairs[0].tolerances[COUNT(want)].name, "");
    CHECK_TEXT("full", lab.pairs[1].tolerances[PAIR_TOLERANCES_MAX - 1].name, "z_m");
    lab_file_free(&lab);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        char bad[128];
        const int n = snprintf(bad, sizeof bad, "pairs: {r1: {tolerances: %s}}\n", wrong[i]);
        errors = (struct err_list){0};
        CHECK_INT(bad, lab_file_parse(bad, (size_t)n, "t", &lab, &errors) != STATUS_OK, 1);
        lab_file_free(&lab);
    }
}

static const CU_TestInfo tests[] = {
    {"tolerances", test_tolerances},     {"examples", test_examples}, {"corpus", test_corpus},
    {"generated files", test_generated}, {"command", test_command},
};

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("lab_file_tree", NULL, NULL);
    for (size_t i = 0; i < COUNT(tests); i++) {
        if (!suite || !CU_add_test(suite, tests[i].pName, tests[i].pTestFunc)) {
            return EXIT_FAILURE;
        }
    }
    return check_run();
}
