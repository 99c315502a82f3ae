/* tests/unit/test_option_items.c - lists, and maps from names, as rows of an option table: what
 * is stored, in which order, and each fault with its place. */
#include <string.h>

#include "config/options/option_file.h"
#include "tests/support/check.h"

enum { LIST_MAX = 3 };

struct thing {
    char name[OPTION_NAME_MAX + 1];
    double x_m, y_m;
};

struct values {
    size_t count;
    double list[LIST_MAX];
    double pair[2];
    double table[LIST_MAX][2];
    size_t rows;
    bool first; /* a plain value that things need */
    size_t things, words, late;
    struct thing thing[LIST_MAX];
    char word[LIST_MAX][OPTION_NAME_MAX + 1];
    bool seen_first;
    char tag[4];
};

static void add_thing(const struct option_reading *item, void *value, void *owner)
{
    struct values *v = owner;
    struct thing *thing = value;
    v->seen_first = v->first; /* values are read before items, wherever they are */
    if (v->things < LIST_MAX && !item->failed) {
        (void)snprintf(thing->name, sizeof thing->name, "%s", option_name(item));
        v->thing[v->things++] = *thing;
    }
}

static void add_word(const struct option_reading *item, void *value, void *owner)
{
    struct values *v = owner;
    if (!item->failed && item->index == v->words) {
        memcpy(v->word[v->words++], value, sizeof v->word[0]);
    }
}

static void count_late(const struct option_reading *item, void *value, void *owner)
{
    (void)item;
    (void)value;
    ((struct values *)owner)->late++;
}

/* No more than two steps are allowed. */
static void start_step(const struct option_reading *item, void *value, void *owner)
{
    (void)owner;
    option_defaults(item->table, value);
    if (item->index == 2) {
        option_fault_at(item, "", FAULT_TOO_MANY, "two at most");
    }
}

/* clang-format off */
#define AT(m) OPTION_AT(struct values, m), ""
static const struct option_row number = {.type = OPTION_REAL, .min = 0.0, .max = 9.0, .unit = "", .size = sizeof(double)};
static const struct option_items list_items = {
    .shape = OPTION_LIST, .value = &number, .least = 1, .most = LIST_MAX, .bytes = sizeof(double),
    .count_at = offsetof(struct values, count), .example = "[0.5, 1]"};
static const struct option_items pair_items = {
    .shape = OPTION_LIST, .value = &number, .least = 2, .most = 2, .bytes = sizeof(double),
    .fault = FAULT_NUMBERS_EXPECTED};
static const struct option_row pair = {.type = OPTION_ITEMS, .size = sizeof(double[2]), .items = &pair_items};
static const struct option_items table_items = {
    .shape = OPTION_LIST, .value = &pair, .most = LIST_MAX, .bytes = sizeof(double[2]),
    .count_at = offsetof(struct values, rows)};
static const struct option_row thing_rows[] = {
    {"x_m", OPTION_REAL, "m", "1", 0.0, 9.0, "", OPTION_AT(struct thing, x_m), ""},
    {"y_m", OPTION_REAL, "m", "2", 0.0, 9.0, "", OPTION_AT(struct thing, y_m), ""},
};
static const struct option_table thing_table = {thing_rows, COUNT(thing_rows)};
static const struct option_items thing_items = {
    .shape = OPTION_NAMED, .names = OPTION_ID, .table = &thing_table, .required = "x_m", .short_form = true,
    .bytes = sizeof(struct thing), .add = add_thing};
static const struct option_row word = {.type = OPTION_NAME, .size = OPTION_NAME_MAX + 1};
static const struct option_items word_items = {
    .shape = OPTION_LIST_OR_ONE, .value = &word, .bytes = OPTION_NAME_MAX + 1, .add = add_word};
static const struct option_items step_items = {
    .shape = OPTION_LIST, .table = &thing_table, .required = "x_m y_m", .bytes = sizeof(struct thing),
    .start = start_step};
static const struct option_items late_items = {.shape = OPTION_NAMED, .later = true, .add = count_late};
static const struct option_row rows[] = {
    {"list", OPTION_ARRAY(list_items, struct values, list), ""},
    {"in.pair", OPTION_ARRAY(pair_items, struct values, pair), ""},
    {"table", OPTION_ARRAY(table_items, struct values, table), ""},
    {"things", OPTION_EACH(thing_items), ""},
    {"words", OPTION_EACH(word_items), ""},
    {"late", OPTION_EACH(late_items), ""},
    {"first", OPTION_BOOL, "", "false", OPTION_NO_RANGE, AT(first)},
    {"tag", OPTION_WORD, "", "", 1.0, 0.0, "", AT(tag)},
    {"steps", OPTION_EACH(step_items), ""},
};
/* clang-format on */
static const struct option_table table = {rows, COUNT(rows)};

static void finish_file(const struct option_reading *reading, void *values)
{
    struct values *v = values;
    CHECK_INT("later", v->late, 0);
    option_read_items(reading, "late", v);
}

static const struct option_file file = {.what = "a test",
                                        .table = &table,
                                        .required = "list",
                                        .bytes = sizeof(struct values),
                                        .out_bytes = sizeof(struct values),
                                        .finish = finish_file};

static enum status parse_text(const char *text, struct values *v, struct err_list *errors)
{
    *errors = (struct err_list){0};
    return option_file_parse(&file, text, strlen(text), "t.yaml", v, errors);
}

static void test_values(void)
{
    struct values v;
    struct err_list errors;
    CHECK_INT(
        "",
        parse_text("things: {a: 3, b: {y_m: 5, x_m: 4}}\nlist: [1, 2.5]\nwords: [7, b.c]\n"
                   "table: [[1, 2], [3, 4]]\nin: {pair: [5, 6]}\nlate: {x: , y: [1]}\n"
                   "first: true\n",
                   &v, &errors),
        STATUS_OK);
    CHECK_INT("list", v.count, 2);
    CHECK_NEAR("list", v.list[1], 2.5, 0.0, 0.0);
    CHECK_NEAR("of a section", v.pair[1], 6.0, 0.0, 0.0);
    CHECK_INT("list of lists", v.rows, 2);
    CHECK_NEAR("list of lists", v.table[1][0], 3.0, 0.0, 0.0);
    CHECK_INT("map", v.things, 2);
    CHECK_TEXT("map", v.thing[1].name, "b");
    CHECK_NEAR("short form", v.thing[0].x_m, 3.0, 0.0, 0.0);
    CHECK_NEAR("default", v.thing[0].y_m, 2.0, 0.0, 0.0);
    CHECK_NEAR("map", v.thing[1].y_m, 5.0, 0.0, 0.0);
    CHECK("values come first", v.seen_first);
    CHECK_INT("words", v.words, 2);
    CHECK_TEXT("a number is a name", v.word[0], "7");
    CHECK_INT("later", v.late, 2);
    CHECK_INT("one word", parse_text("list: [1]\nwords: a\n", &v, &errors), STATUS_OK);
    CHECK_TEXT("one word", v.word[0], "a");
    CHECK_INT("nothing in a map", parse_text("list: [1]\nthings:\n", &v, &errors), STATUS_OK);
    CHECK_INT("nothing in a map", v.things, 0);
}

static void test_faults(void)
{
    static const struct {
        const char *text, *code;
        unsigned line, column;
    } cases[] = {
        {"first: true\n", "missing_key", 1, 1},
        {"list: 3\n", "list_expected", 1, 7},
        {"list: {a: 3}\n", "list_expected", 1, 7},
        {"list:\n", "list_expected", 1, 6},
        {"list: []\n", "wrong_count", 1, 7},
        {"list: [1, 2, 3, 4]\n", "wrong_count", 1, 7},
        {"list: [1, 10]\n", "out_of_range", 1, 11},
        {"list: [1, x]\n", "not_a_number", 1, 11},
        {"list: [1, [2]]\n", "not_a_number", 1, 11},
        {"list: [1, ~]\n", "not_a_number", 1, 11},
        {"list: [1]\nin: {pair: [1]}\n", "numbers_expected", 2, 12},
        {"list: [1]\ntable: [[1, 2], [3]]\n", "numbers_expected", 2, 17},
        {"list: [1]\nthings: [a]\n", "object_expected", 2, 9},
        {"list: [1]\nthings: {a.b: 1}\n", "bad_name", 2, 10},
        {"list: [1]\nthings: {a: {y_m: 1}}\n", "missing_key", 2, 13},
        {"list: [1]\nthings: {a: {x_m: 1, z_m: 1}}\n", "unknown_key", 2, 22},
        {"list: [1]\nthings: {a: [1]}\n", "object_expected", 2, 13},
        {"list: [1]\nwords: {a: b}\n", "list_expected", 2, 8},
        {"list: [1]\nwords: [a, b c]\n", "bad_name", 2, 12},
        {"list: [1]\nwords: [[a]]\n", "bad_name", 2, 9},
        {"list: [1]\ntag: ''\n", "missing_value", 2, 6},
        {"list: [1]\ntag: abcd\n", "too_long", 2, 6},
        {"list: [1]\nsteps: [~]\n", "missing_key", 2, 9},
        {"list: [1]\nsteps: [{x_m: 1, y_m: 1}, {x_m: 1, y_m: 1}, {z_m: 1}]\n", "too_many", 2,
         45},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct values v = {.count = 77};
        struct err_list errors;
        CHECK_INT(cases[i].text, parse_text(cases[i].text, &v, &errors), STATUS_E_PARSE);
        CHECK_INT(cases[i].text, errors.count, 1);
        CHECK_TEXT(cases[i].text, fault_name(errors.items[0].fault), cases[i].code);
        CHECK_INT(cases[i].text, errors.items[0].line, cases[i].line);
        CHECK_INT(cases[i].text, errors.items[0].column, cases[i].column);
        CHECK_INT("nothing is written", v.count, 77);
    }
}

/* A fault begins with the path of its key, and a key's example says how to give it. */
static void test_names(void)
{
    static const struct {
        const char *text, *begin;
    } cases[] = {
        {"list: [1, 10]\n", "list[1]: "},
        {"list: [1]\nthings: {a: 10}\n", "things.a: "},
        {"list: [1]\nthings: {a: {x_m: 10}}\n", "things.a.x_m: "},
        {"list: [1]\nsteps: [~]\n", "steps[0]: "},
        {"list: [1]\nsteps: [{x_m: 1}]\n", "steps[0].y_m "},
    };
    struct values v;
    struct err_list errors;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *begin = cases[i].begin;
        CHECK_INT(cases[i].text, parse_text(cases[i].text, &v, &errors), STATUS_E_PARSE);
        CHECK(cases[i].text, strncmp(errors.items[0].text, begin, strlen(begin)) == 0);
    }
    CHECK_INT("missing", parse_text("first: true\n", &v, &errors), STATUS_E_PARSE);
    CHECK("missing", strstr(errors.items[0].text, list_items.example) != NULL);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("option items", NULL, NULL);
    CU_add_test(suite, "values", test_values);
    CU_add_test(suite, "faults", test_faults);
    CU_add_test(suite, "names", test_names);
    return check_run();
}
