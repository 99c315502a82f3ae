/* The CSV reader: every way to write a table, and every fault with its place. */
#include "tests/support/check.h"

#include <math.h>

#include "logger/message/csv.h"
#include "tests/support/text_pieces.h"

static struct csv csv;

/* Data that a callback saw: names and fields joined by '|', rows by '/'. */
struct seen {
    char header[512];
    char rows[2048];
    uint64_t count;
    const char *number; /* column to read as a number in every row */
    double sum;
    enum status stop; /* what on_row returns */
};

static void join_columns(char *out, size_t room, const char *end, size_t count,
                         const char *(*get)(const struct csv *csv, size_t column))
{
    size_t used = strlen(out);
    for (size_t i = 0; i < count && used < room; i++) {
        used += (size_t)snprintf(out + used, room - used, "%s%s", i ? "|" : "", get(&csv, i));
    }
    if (used < room) {
        (void)snprintf(out + used, room - used, "%s", end);
    }
}

static enum status on_header(void *context, const struct csv *at, struct err *err)
{
    struct seen *seen = context;
    (void)err;
    join_columns(seen->header, sizeof seen->header, "", at->names.count, csv_name);
    return STATUS_OK;
}

static enum status on_row(void *context, const struct csv *at, struct err *err)
{
    struct seen *seen = context;
    join_columns(seen->rows, sizeof seen->rows, "/", at->fields.count, csv_text);
    seen->count++;
    if (seen->number) {
        size_t column = 0;
        double value = 0.0;
        enum status st = csv_require(at, seen->number, &column, err);
        st = st == STATUS_OK ? csv_number(at, column, &value, err) : st;
        seen->sum += value;
        return st;
    }
    return seen->stop;
}

/* Reads text in pieces of `piece` bytes. */
static enum status read_text(const char *text, size_t n, size_t piece, struct seen *seen,
                             struct err *err)
{
    struct text_pieces pieces = {.text = text, .n = n, .piece = piece};
    const struct csv_input input = {"t.csv", next_text_piece, &pieces, on_header, on_row, seen};
    return csv_read(&csv, &input, err);
}

static void test_tables(void)
{
    static const struct {
        const char *row, *text, *header, *rows;
    } rows[] = {
        {"plain", "a,b\n1,2\n3,4\n", "a|b", "1|2/3|4/"},
        {"no last line break", "a,b\n1,2", "a|b", "1|2/"},
        {"crlf", "a,b\r\n1,2\r\n", "a|b", "1|2/"},
        {"blank lines", "\n  \n\r\na,b\n\n1,2\n \t\n\n", "a|b", "1|2/"},
        {"byte order mark",
         "\xEF\xBB\xBF"
         "a,b\n1,2\n",
         "a|b", "1|2/"},
        {"byte order mark alone", "\xEF\xBB\xBF\na\n1\n", "a", "1/"},
        {"a mark in a row is text",
         "a\n\xEF\xBB\xBF"
         "1\n",
         "a",
         "\xEF\xBB\xBF"
         "1/"},
        {"short lines", "a\n1\n", "a", "1/"},
        {"blanks", " a , b\t\n 1 ,  2 \n", "a|b", "1|2/"},
        {"quotes", "\"a\",\"b c\"\n\"1\", \"2\" \n", "a|b c", "1|2/"},
        {"quoted comma", "a,b\n\"x,y\",2\n", "a|b", "x,y|2/"},
        {"quoted quote", "a,b\n\"x\"\"y\",\"\"\"\"\n", "a|b", "x\"y|\"/"},
        {"quoted line break", "a,b\n\"x\ny\",2\n3,4\n", "a|b", "x\ny|2/3|4/"},
        {"quote inside", "a,b\n5\" pipe,2\n", "a|b", "5\" pipe|2/"},
        {"empty quotes", "a,b\n\"\",2\n", "a|b", "|2/"},
        {"empty fields", "a,b,c\n,,\n1,,3\n", "a|b|c", "||/1||3/"},
        {"nameless column", ",a\n0,1\n", "|a", "0|1/"},
        {"remarks", "# by a robot\na,b\n# \"half a quote\n1,2\n  # more\n3,4\n", "a|b",
         "1|2/3|4/"},
        {"remark header", "# a,b\n1,2\n", "a|b", "1|2/"},
        {"remark header, remark", "# other\n# t[s],x  (one, two, \"three\")\n1,2\n", "t[s]|x",
         "1|2/"},
        {"header only", "a,b\n", "a|b", ""},
        {"one column", "a\n1\n2\n", "a", "1/2/"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const size_t n = strlen(rows[i].text);
        for (size_t piece = 1; piece <= n; piece++) {
            struct seen seen = {.count = 0};
            struct err err = {.code = STATUS_OK};
            CHECK_INT(rows[i].row, read_text(rows[i].text, n, piece, &seen, &err), STATUS_OK);
            CHECK_TEXT(rows[i].row, seen.header, rows[i].header);
            CHECK_TEXT(rows[i].row, seen.rows, rows[i].rows);
            CHECK_TEXT(rows[i].row, err.text, "");
        }
    }
}

static void test_faults(void)
{
    static const struct {
        const char *row, *text;
        unsigned line, column;
        const char *code;
    } rows[] = {
        {"empty", "", 1, 0, "missing_header"},
        {"blank", "\n\n", 3, 0, "missing_header"},
        {"remarks only", "# a,b\n", 2, 0, "missing_header"},
        {"too many", "x,y\n1,2\n1,2,3\n", 3, 5, "wrong_count"},
        {"too few", "x,y\n1\n", 2, 0, "wrong_count"},
        {"bare decimal comma", "y,x\n1,0,05\n", 2, 5, "wrong_count"},
        {"decimal comma", "y,x\n1,\"0,05\"\n", 2, 3, "not_a_number"},
        {"semicolons", "x;y\n1;2\n", 1, 1, "bad_syntax"},
        {"tabs", "x\ty\n1\t2\n", 1, 1, "bad_syntax"},
        {"nan", "y,x\n1,2\n1,nan\n", 3, 3, "not_a_number"},
        {"inf", "x\n-inf\n", 2, 1, "not_a_number"},
        {"too large", "x\n1e999\n", 2, 1, "not_a_number"},
        {"hexadecimal", "x\n0x10\n", 2, 1, "not_a_number"},
        {"text", "x\nabc\n", 2, 1, "not_a_number"},
        {"trailing text", "x\n1.5s\n", 2, 1, "not_a_number"},
        {"two points", "y,x\n1,1.2.3\n", 2, 3, "not_a_number"},
        {"sign alone", "y,x\n1,-\n", 2, 3, "not_a_number"},
        {"empty number", "y,x\n1,\n", 2, 3, "not_a_number"},
        {"missing column", "y,z\n1,2\n", 2, 0, "missing_column"},
        {"same name", "x,x\n1,2\n", 1, 3, "duplicate_name"},
        {"no header", "1,2\n3,4\n", 1, 1, "missing_header"},
        {"open quote", "x\n\"1\n2\n", 2, 0, "bad_syntax"},
        {"text after a quote", "x\n\"1\" 2\n", 2, 1, "bad_syntax"},
        {"after a long record", "y,x\n\"a\nb\nc\",1\n1,z\n", 5, 3, "not_a_number"},
        {"remark header too short", "# x\n1,2\n", 2, 3, "wrong_count"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const size_t n = strlen(rows[i].text);
        for (size_t piece = 1; piece <= n + 1; piece++) {
            struct seen seen = {.number = "x"};
            struct err err = {.code = STATUS_OK};
            CHECK_INT(rows[i].row, read_text(rows[i].text, n, piece, &seen, &err),
                      STATUS_E_PARSE);
            CHECK_TEXT(rows[i].row, err.where, "t.csv");
            CHECK_INT(rows[i].row, err.line, rows[i].line);
            CHECK_INT(rows[i].row, err.column, rows[i].column);
            CHECK_TEXT(rows[i].row, fault_name(err.fault), rows[i].code);
        }
    }
}

static void test_zero_byte(void)
{
    struct seen seen = {.count = 0};
    struct err err = {.code = STATUS_OK};
    CHECK_INT("zero", read_text("a\n1\0\n", 5, 2, &seen, &err), STATUS_E_PARSE);
    CHECK_TEXT("zero", fault_name(err.fault), "bad_encoding");
}

static void test_limits(void)
{
    static char text[2 * CSV_LINE_MAX];
    struct seen seen = {.count = 0};
    struct err err = {.code = STATUS_OK};

    memset(text, 'x', sizeof text);
    text[1] = text[3 + CSV_LINE_MAX] = '\n';
    text[0] = 'a';
    CHECK_INT("long", read_text(text, 4 + CSV_LINE_MAX, 999, &seen, &err), STATUS_E_PARSE);
    CHECK_INT("long", err.line, 2);
    CHECK_TEXT("long", fault_name(err.fault), "too_long");

    err = (struct err){.code = STATUS_OK};
    text[2 + CSV_LINE_MAX] = '\n';
    CHECK_INT("just fits", read_text(text, 3 + CSV_LINE_MAX, 999, &seen, &err), STATUS_OK);

    err = (struct err){.code = STATUS_OK};
    memset(text, ',', CSV_COLUMNS_MAX);
    text[CSV_COLUMNS_MAX] = '\n';
    CHECK_INT("columns", read_text(text, CSV_COLUMNS_MAX + 1, 7, &seen, &err), STATUS_E_PARSE);
    CHECK_TEXT("columns", fault_name(err.fault), "too_many");
    err = (struct err){.code = STATUS_OK};
    text[CSV_COLUMNS_MAX - 1] = '\n';
    CHECK_INT("columns fit", read_text(text, CSV_COLUMNS_MAX, 7, &seen, &err), STATUS_OK);

    err = (struct err){.code = STATUS_OK};
    memset(text, 'x', CSV_HEADER_MAX + 1);
    text[CSV_HEADER_MAX + 1] = '\n';
    CHECK_INT("header", read_text(text, CSV_HEADER_MAX + 2, 4096, &seen, &err), STATUS_E_PARSE);
    CHECK_TEXT("header", fault_name(err.fault), "too_long");

    err = (struct err){.code = STATUS_OK};
    text[0] = 'a';
    text[1] = '\n';
    text[2] = '"';
    memset(text + 3, '\n', CSV_LINE_MAX + 10);
    CHECK_INT("open quote", read_text(text, CSV_LINE_MAX, 4096, &seen, &err), STATUS_E_PARSE);
    CHECK_INT("open quote", err.line, 2);
}

static void test_numbers(void)
{
    static const struct {
        const char *text;
        double value;
    } rows[] = {
        {"0", 0.0},
        {"-0.05", -0.05},
        {"+1.5", 1.5},
        {"1e3", 1000.0},
        {"1.E-3", 0.001},
        {".5", 0.5},
        {"007", 7.0},
        {"\"2.5\"", 2.5},
        {" 3 ", 3.0},
        {"5e-324", 5e-324},
        {"1e-400", 0.0},
        {"1.", 1.0},
        {"00.50", 0.5},
        {"-0.0", 0.0},
        {"9007199254740992", 9007199254740992.0},
        {"9007199254740993", 9007199254740992.0},
        {"18446744073709551617", 18446744073709551616.0},
        {"0.0000000000000000000001", 1e-22},
        {"0.00000000000000000000001", 1e-23},
        {"123456789012345678901234567890", 123456789012345678901234567890.0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[64];
        struct seen seen = {.number = "x"};
        struct err err = {.code = STATUS_OK};
        const int n = snprintf(text, sizeof text, "x\n%s\n", rows[i].text);
        CHECK_INT(rows[i].text, read_text(text, (size_t)n, 3, &seen, &err), STATUS_OK);
        CHECK_NEAR(rows[i].text, seen.sum, rows[i].value, 0.0, 0.0);
    }
}

/* Numbers of every length are those of strtod(), to the last bit. */
static void test_exact(void)
{
    uint64_t state = 5;
    for (int i = 0; i < 20000; i++) {
        char number[400];
        char text[420];
        struct seen seen = {.number = "x"};
        struct err err = {.code = STATUS_OK};
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const double size = ldexp((double)(state >> 11), (int)(state >> 5 & 63) - 60);
        const double value = state >> 4 & 1 ? -size : size;
        const int digits = i % 23;
        (void)(i % 3 == 0   ? snprintf(number, sizeof number, "%.*g", digits, value)
               : i % 3 == 1 ? snprintf(number, sizeof number, "%.*f", digits, value)
                            : snprintf(number, sizeof number, "%.*e", digits, value));
        const int n = snprintf(text, sizeof text, "x\n%s\n", number);
        CHECK_INT(number, read_text(text, (size_t)n, 500, &seen, &err), STATUS_OK);
        const double want = 0.0 + strtod(number, NULL);
        CHECK(number, memcmp(&seen.sum, &want, sizeof want) == 0);
    }
}

static void test_names(void)
{
    struct seen seen = {.count = 0};
    struct err err = {.code = STATUS_OK};
    const char *text = "lap1[s],lap_s,rotation[deg],odd[,x]\n1,2,3,4,5\n";
    CHECK_INT("names", read_text(text, strlen(text), 100, &seen, &err), STATUS_OK);
    CHECK_INT("names", csv_find(&csv, "lap1_s"), 0);
    CHECK_INT("names", csv_find(&csv, "lap1[s]"), 0);
    CHECK_INT("names", csv_find(&csv, "lap_s"), 1);
    CHECK_INT("names", csv_find(&csv, "rotation_deg"), 2);
    CHECK_INT("names", csv_find(&csv, "rotation_de"), -1);
    CHECK_INT("names", csv_find(&csv, "rotation"), -1);
    CHECK_INT("names", csv_find(&csv, "odd[,x]"), -1);
    CHECK_INT("names", csv_find(&csv, ""), -1);
    CHECK_TEXT("names", csv_name(&csv, 99), "");
    CHECK_TEXT("names", csv_text(&csv, 99), "");
}

/* A callback's own fault ends the reading and is what the reader returns. */
static void test_stop(void)
{
    struct seen seen = {.stop = STATUS_E_FULL};
    struct err err = {.code = STATUS_OK};
    CHECK_INT("stop", read_text("a\n1\n2\n3\n", 8, 100, &seen, &err), STATUS_E_FULL);
    CHECK_INT("stop", seen.count, 1);
    struct text_pieces pieces = {.text = "a\n1\n", .n = 4, .piece = 4};
    const struct csv_input input = {"t.csv", next_text_piece, &pieces, NULL, on_row, &seen};
    seen.stop = STATUS_OK;
    CHECK_INT("no header callback", csv_read(&csv, &input, NULL), STATUS_OK);
    CHECK_INT("no header callback", seen.count, 2);
}

/* A failure of the source ends the reading: the rows before it were read. */
static enum status next_broken_piece(void *source, const char **bytes, size_t *n,
                                     struct err *err)
{
    if (*(const char *)source == '\0') {
        return err_set(err, STATUS_E_IO, FAULT_FILE_UNREADABLE, "t.csv", "cannot read");
    }
    *bytes = "a\n1\n2";
    *n = 5;
    *(char *)source = '\0';
    return STATUS_OK;
}

static void test_broken_source(void)
{
    char more[] = "x";
    struct seen seen = {.count = 0};
    struct err err = {.code = STATUS_OK};
    const struct csv_input input = {"t.csv", next_broken_piece, more, NULL, on_row, &seen};
    CHECK_INT("broken source", csv_read(&csv, &input, &err), STATUS_E_IO);
    CHECK_INT("broken source", seen.count, 1);
}

/* Ten thousand rows, a line a piece: the reader stores one line only. */
static enum status next_line(void *source, const char **bytes, size_t *n, struct err *err)
{
    static char line[32];
    int *at = source;
    (void)err;
    const int wrote = *at > 10000 ? 0
                      : *at == 0  ? snprintf(line, sizeof line, "t,x\n")
                                  : snprintf(line, sizeof line, "%d,0.5\r\n", *at);
    *bytes = line;
    *n = (size_t)wrote;
    ++*at;
    return STATUS_OK;
}

static void test_long_file(void)
{
    int line = 0;
    struct seen seen = {.number = "x"};
    struct err err = {.code = STATUS_OK};
    const struct csv_input input = {"t.csv", next_line, &line, NULL, on_row, &seen};
    CHECK_INT("long file", csv_read(&csv, &input, &err), STATUS_OK);
    CHECK_INT("long file", csv.rows, 10000);
    CHECK_INT("long file", csv.line, 10002);
    CHECK_NEAR("long file", seen.sum, 5000.0, 1e-12, 0.0);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("csv", NULL, NULL);
    CU_add_test(suite, "tables", test_tables);
    CU_add_test(suite, "faults", test_faults);
    CU_add_test(suite, "zero byte", test_zero_byte);
    CU_add_test(suite, "limits", test_limits);
    CU_add_test(suite, "numbers", test_numbers);
    CU_add_test(suite, "exact", test_exact);
    CU_add_test(suite, "names", test_names);
    CU_add_test(suite, "stop", test_stop);
    CU_add_test(suite, "broken source", test_broken_source);
    CU_add_test(suite, "long file", test_long_file);
    return check_run();
}
