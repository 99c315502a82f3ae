/* Labs of one lab file are the same bytes, whatever their memory held before: new objects rely
 * on zeros, and checkpoints are compared and stored as bytes. */
#include "tests/support/check.h"

#include "config/labfile/lab_file.h"
#include "twin/lab_parts.h"

enum { LINE = 64 };

/* The lab's state, of a lab made in memory that was full of this byte. */
static char *make_state(const struct lab_params *p, int filling, size_t *bytes)
{
    const size_t whole = (lab_bytes(p) + LINE - 1) / LINE * LINE;
    void *const memory = aligned_alloc(LINE, whole);
    CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
    memset(memory, filling, whole);
    const struct lab *const lab = lab_init(memory, p);
    *bytes = lab->state_bytes;
    char *const state = malloc(*bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(state);
    memcpy(state, lab->state, *bytes);
    free(memory);
    return state;
}

static void check_lab(const char *what, const struct lab_file *file)
{
    const struct lab_params p = lab_file_params(file);
    size_t bytes[2] = {0};
    char *const one = make_state(&p, 0xaa, &bytes[0]);
    char *const two = make_state(&p, 0x55, &bytes[1]);
    CHECK_INT(what, bytes[0], bytes[1]);
    size_t same = 0;
    while (same < bytes[0] && one[same] == two[same]) {
        same++;
    }
    CHECK_INT(what, same, bytes[0]);
    free(one);
    free(two);
}

/* Pairs of all sorts, and what only some of them have. */
static void test_sorts(void)
{
    static const char text[] =
        "pairs:\n"
        "  r1: {}\n"
        "  r2: {mode: link, queue_max: 3, outstanding_max: 5}\n"
        "  r3: {following: {model: usv3, real: iacquabot}}\n"
        "  r4: {dynamics: {model: usv3}}\n"
        "  r5: {codec: vda5050, real: acme/amr-real, virtual: acme/amr-virtual}\n";
    static struct lab_file lab;
    struct err_list errors = {0};
    const enum status read = lab_file_parse(text, sizeof text - 1, "lab", &lab, &errors);
    err_list_print(&errors, stdout);
    CU_ASSERT_EQUAL_FATAL(read, STATUS_OK);
    check_lab("all sorts", &lab);
    lab_file_free(&lab);
}

static void test_examples(void)
{
    static const char *const names[] = {"lab", "link", "dynamics", "vda5050", "class4"};
    for (size_t i = 0; i < COUNT(names); i++) {
        static struct lab_file lab;
        struct err_list errors = {0};
        char path[256];
        (void)snprintf(path, sizeof path, TANDEM_SOURCE_DIR "/config/examples/%s.yaml",
                       names[i]);
        CU_ASSERT_EQUAL_FATAL(lab_file_load(path, &lab, &errors), STATUS_OK);
        check_lab(names[i], &lab);
        lab_file_free(&lab);
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("lab_memory", NULL, NULL);
    CU_add_test(suite, "pairs of all sorts", test_sorts);
    CU_add_test(suite, "the examples", test_examples);
    return check_run();
}
