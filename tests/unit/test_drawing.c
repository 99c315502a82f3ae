/* Machines drawn with draw.io: the golden drawings with their diagnostics, the file formats,
 * what may be drawn and how, and the refusals of foreign files. */
#include "tests/support/check.h"

#include <glob.h>
#include <zlib.h>

#include "config/drawing/drawing.h"
#include "config/drawing/drawing_text.h"
#include "twin/machine/machine_checks.h"

enum { OUT_MAX = 1 << 16 };

static struct machine *machine;
static void *scratch;

static char *read_file(const char *path, size_t *bytes)
{
    static char text[4 << 20];
    FILE *in = fopen(path, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(in);
    *bytes = fread(text, 1, sizeof text - 1, in);
    text[*bytes] = '\0';
    (void)fclose(in);
    return text;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- from a drawing to its diagnostics ---- */

static void understand_page(struct drawing *drawing, size_t page, bool words)
{
    memset(machine, 0, sizeof *machine);
    drawing_read_page(drawing, page, words, &machine->draft);
    if (machine_build(machine) == STATUS_OK) {
        machine_check(machine, scratch);
    }
    machine_diagnostics_sort(&machine->draft.diagnostics);
}

static void print_diagnostics(const char *file, FILE *out)
{
    char line[MACHINE_LINE_MAX];
    for (size_t i = 0; i < machine->draft.diagnostics.count; i++) {
        (void)machine_diagnostic_print(&machine->draft.diagnostics.items[i], file, line,
                                       sizeof line);
        (void)fprintf(out, "%s\n", line);
    }
}

/* "A > B: label", what it does to the stack, whether it waits. */
static void print_arcs(FILE *out)
{
    for (size_t i = 0; i < machine->draft.arc_count; i++) {
        const struct machine_draft_arc *a = &machine->draft.arcs[i];
        (void)fprintf(out, "%s > %s: %s", a->from, a->to ? a->to : "top",
                      machine->table_arcs[i].label);
        for (size_t k = 0; k < a->push_count; k++) {
            (void)fprintf(out, " +%s", a->push[k]);
        }
        if (a->pops > 0) {
            (void)fprintf(out, " -%u", a->pops);
        }
        (void)fprintf(out, "%s%s\n", a->empties ? " empty" : "",
                      a->waits == MACHINE_WAITS ? " waits" : "");
    }
}

static void print_codes(FILE *out)
{
    for (size_t i = 0; i < machine->draft.diagnostics.count; i++) {
        (void)fprintf(out, "%s%s", i > 0 ? " " : "", machine->draft.diagnostics.items[i].code);
    }
}

/* code: NULL for any */
static bool has_diagnostic_as(const char *code, const char *text)
{
    for (size_t i = 0; i < machine->draft.diagnostics.count; i++) {
        const struct machine_diagnostic *item = &machine->draft.diagnostics.items[i];
        if ((!code || strcmp(item->code, code) == 0) && strstr(item->text, text)) {
            return true;
        }
    }
    return false;
}

static bool has_diagnostic(const char *text)
{
    return has_diagnostic_as(NULL, text);
}

/* ---- golden drawings ---- */

static void compare_file(const char *path, const char *got)
{
    size_t bytes = 0;
    size_t same = 0;
    const char *want = read_file(path, &bytes);
    while (got[same] != '\0' && got[same] == want[same]) {
        same++;
    }
    const size_t from = same < 40 ? 0 : same - 40; /* the difference and the text before it */
    CHECK_TEXT(base_name(path), got + from, want + from);
}

/* The text is terminated even if nothing is written. */
static FILE *open_text(char text[OUT_MAX])
{
    FILE *out = NULL;
    memset(text, 0, OUT_MAX);
    out = fmemopen(text, OUT_MAX, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    return out;
}

static void test_golden(void)
{
    glob_t found;
    CU_ASSERT_EQUAL_FATAL(
        glob(TANDEM_SOURCE_DIR "/tests/golden/machines/*.drawio", 0, NULL, &found), 0);
    CHECK_INT("all of them", found.gl_pathc, 24);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i];
        static char out[OUT_MAX];
        char golden[512];
        struct drawing *drawing = NULL;
        struct err err = {0};
        size_t bytes = 0;
        const char *text = read_file(path, &bytes);
        FILE *reported = open_text(out);
        CHECK(path, drawing_is_one(text, bytes));
        CU_ASSERT_EQUAL_FATAL(drawing_open(text, bytes, &drawing, &err), STATUS_OK);
        for (size_t page = 0; page < drawing_page_count(drawing); page++) {
            understand_page(drawing, page, false);
            print_diagnostics(base_name(path), reported);
        }
        (void)fclose(reported);
        drawing_free(drawing);
        (void)snprintf(golden, sizeof golden, "%.*s.diag.txt", (int)(strlen(path) - 7), path);
        compare_file(golden, out);
    }
    globfree(&found);
}

static void test_golden_svg(void)
{
    static const char *const rows[][2] = {
        {"counter", "COUNT"}, {"plans", "P1_2"}, {"sweep", "ECHO"}, {"counter_loose", "WAIT"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        static char out[OUT_MAX];
        char path[512];
        struct drawing *drawing = NULL;
        size_t bytes = 0;
        (void)snprintf(path, sizeof path, TANDEM_SOURCE_DIR "/tests/golden/machines/%s.drawio",
                       rows[i][0]);
        const char *text = read_file(path, &bytes);
        CU_ASSERT_EQUAL_FATAL(drawing_open(text, bytes, &drawing, NULL), STATUS_OK);
        understand_page(drawing, 0, false);
        FILE *svg = open_text(out);
        drawing_write_svg(drawing, 0, rows[i][1], svg);
        (void)fclose(svg);
        drawing_free(drawing);
        (void)snprintf(path, sizeof path, TANDEM_SOURCE_DIR "/tests/golden/machines/%s.svg",
                       rows[i][0]);
        compare_file(path, out);
    }
}

/* ---- written, and read back ---- */

static int by_line(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Arcs and ports must be equal, in any order of arcs. */
static void print_machine(char out[OUT_MAX])
{
    static char arcs[OUT_MAX];
    char *lines[MACHINE_ARCS_MAX];
    size_t count = 0;
    FILE *to = open_text(arcs);
    print_arcs(to);
    (void)fclose(to);
    for (char *line = strtok(arcs, "\n"); line; line = strtok(NULL, "\n")) {
        lines[count++] = line;
    }
    qsort(lines, count, sizeof lines[0], by_line);
    to = open_text(out);
    (void)fprintf(to, "%s %s %s\n", machine->draft.name, machine->draft.initial,
                  machine->draft.purpose);
    for (size_t i = 0; i < count; i++) {
        (void)fprintf(to, "%s\n", lines[i]);
    }
    for (size_t i = 0; i < machine->draft.state_count; i++) {
        (void)fprintf(to, "%s%s", machine->draft.states[i].name,
                      machine->draft.states[i].final ? " final\n" : "\n");
    }
    (void)fprintf(to, "%zu %zu %zu %zu %zu\n", machine->input_count, machine->variable_count,
                  machine->output_count, machine->constant_count, machine->assignment_count);
    (void)fclose(to);
}

static void test_round_trip(void)
{
    glob_t found;
    size_t machines = 0;
    CU_ASSERT_EQUAL_FATAL(
        glob(TANDEM_SOURCE_DIR "/tests/golden/machines/*.drawio", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        static char written[OUT_MAX];
        static char before[OUT_MAX];
        static char after[OUT_MAX];
        struct drawing *drawing = NULL;
        size_t bytes = 0;
        const char *text = read_file(found.gl_pathv[i], &bytes);
        CU_ASSERT_EQUAL_FATAL(drawing_open(text, bytes, &drawing, NULL), STATUS_OK);
        for (size_t page = 0; page < drawing_page_count(drawing); page++) {
            struct drawing *again = NULL;
            memset(machine, 0, sizeof *machine);
            drawing_read_page(drawing, page, false, &machine->draft);
            if (machine_build(machine) != STATUS_OK) {
                continue;
            }
            const struct machine *const all[] = {machine};
            print_machine(before);
            FILE *to = open_text(written);
            drawing_write_file(all, 1, to);
            (void)fclose(to);
            CU_ASSERT_EQUAL_FATAL(drawing_open(written, strlen(written), &again, NULL),
                                  STATUS_OK);
            drawing_read_page(again, 0, false, &machine->draft);
            CHECK_INT(found.gl_pathv[i], machine_build(machine), STATUS_OK);
            print_machine(after);
            CHECK_TEXT(base_name(found.gl_pathv[i]), after, before);
            drawing_free(again);
            machines++;
        }
        drawing_free(drawing);
    }
    CHECK("most of them can be built", machines >= 18);
    globfree(&found);
}

/* ---- forms of files ---- */

static size_t pack_raw(const char *text, size_t bytes, int window, char *out, size_t size)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)text,
                  .avail_in = (uInt)bytes,
                  .next_out = (Bytef *)out,
                  .avail_out = (uInt)size};
    CU_ASSERT_EQUAL_FATAL(deflateInit2(&z, 9, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
    CU_ASSERT_EQUAL_FATAL(deflate(&z, Z_FINISH), Z_STREAM_END);
    (void)deflateEnd(&z);
    return z.total_out;
}

static size_t encode_base64(const char *data, size_t bytes, char *out)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = 0;
    for (size_t i = 0; i < bytes; i += 3) {
        unsigned bits = (unsigned)(unsigned char)data[i] << 16;
        bits |= i + 1 < bytes ? (unsigned)(unsigned char)data[i + 1] << 8 : 0;
        bits |= i + 2 < bytes ? (unsigned)(unsigned char)data[i + 2] : 0;
        for (int k = 0; k < 4; k++) {
            const bool there = i + (size_t)k <= bytes;
            out[n++] = (char)(there ? digits[bits >> (18 - 6 * k) & 63U] : '=');
        }
    }
    out[n] = '\0';
    return n;
}

static size_t encode_percent(const char *text, size_t bytes, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++) {
        n += (size_t)sprintf(out + n, "%%%02X", (unsigned)(unsigned char)text[i]);
    }
    return n;
}

static size_t write_chunk(char *out, const char *kind, const char *data, size_t bytes)
{
    const char head[] = {(char)(bytes >> 24), (char)(bytes >> 16), (char)(bytes >> 8),
                         (char)bytes};
    memcpy(out, head, 4);
    memcpy(out + 4, kind, 4);
    memcpy(out + 8, data, bytes);
    memset(out + 8 + bytes, 0, 4);
    return bytes + 12;
}

static size_t escape_xml(const char *text, char *out)
{
    size_t n = 0;
    for (const char *c = text; *c; c++) {
        n += (size_t)sprintf(out + n,
                             *c == '<'   ? "&lt;"
                             : *c == '&' ? "&amp;"
                             : *c == '"' ? "&quot;"
                                         : "%c",
                             *c);
    }
    out[n] = '\0';
    return n;
}

static void check_form(const char *form, const char *data, size_t bytes, const char *want)
{
    static char got[OUT_MAX];
    struct drawing *drawing = NULL;
    struct err err = {0};
    CHECK(form, drawing_is_one(data, bytes));
    CHECK_INT(form, drawing_open(data, bytes, &drawing, &err), STATUS_OK);
    CHECK_TEXT(form, err.text, "");
    if (drawing) {
        understand_page(drawing, 0, false);
        print_machine(got);
        CHECK_TEXT(form, got, want);
    }
    drawing_free(drawing);
}

static void test_forms(void)
{
    static char plain[OUT_MAX];
    static char model[OUT_MAX];
    static char a[4 * OUT_MAX];
    static char b[4 * OUT_MAX];
    static char file[8 * OUT_MAX];
    static char want[OUT_MAX];
    static const char key[] = "mxfile";
    struct drawing *drawing = NULL;
    size_t bytes = 0;
    (void)snprintf(
        plain, sizeof plain, "%s",
        read_file(TANDEM_SOURCE_DIR "/tests/golden/machines/counter.drawio", &bytes));
    const char *from = strstr(plain, "<mxGraphModel");
    const char *to = strstr(plain, "</diagram>");
    (void)snprintf(model, sizeof model, "%.*s", (int)(to - from), from);
    CU_ASSERT_EQUAL_FATAL(drawing_open(plain, bytes, &drawing, NULL), STATUS_OK);
    understand_page(drawing, 0, false);
    print_machine(want);
    drawing_free(drawing);

    check_form("plain", plain, bytes, want);
    check_form("bare model", model, strlen(model), want);
    size_t n = encode_percent(model, strlen(model), a);
    n = pack_raw(a, n, -15, b, sizeof b);
    (void)encode_base64(b, n, a);
    (void)snprintf(file, sizeof file,
                   "\xEF\xBB\xBF<mxfile><diagram name=\"counter\">\n%s\n"
                   "</diagram></mxfile>\n",
                   a);
    check_form("packed", file, strlen(file), want);
    (void)snprintf(file, sizeof file,
                   "<?xml version=\"1.0\"?><!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" "
                   "\"http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd\">"
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" content=\"");
    (void)escape_xml(plain, a);
    (void)strcat(file, a);
    (void)strcat(file, "\"><g/></svg>");
    check_form("SVG", file, strlen(file), want);
    for (int packed = 0; packed < 2; packed++) {
        memcpy(a, key, sizeof key);
        n = encode_percent(plain, bytes, b);
        if (packed) {
            a[sizeof key] = 0;
            n = pack_raw(b, n, 15, a + sizeof key + 1, sizeof a - 16) + 1;
        } else {
            memcpy(a + sizeof key, b, n);
        }
        memcpy(file, "\x89PNG\r\n\x1a\n", 8);
        size_t used = 8 + write_chunk(file + 8, "IHDR", "0123456789abc", 13);
        used += write_chunk(file + used, packed ? "zTXt" : "tEXt", a, sizeof key + n);
        used += write_chunk(file + used, "IEND", "", 0);
        check_form(packed ? "PNG, packed" : "PNG", file, used, want);
    }
}

/* ---- what may be drawn ---- */

#define GEOMETRY(x, y, w, h)                                                                   \
    "<mxGeometry x='" #x "' y='" #y "' width='" #w "' height='" #h "' "                        \
    "as='geometry'/></mxCell>"
#define SHAPE_IN(parent, id, style, text, x, y, w, h)                                          \
    "<mxCell id='" id "' value='" text "' style='" style "' vertex='1' parent='" parent        \
    "'>" GEOMETRY(x, y, w, h)
#define SHAPE(id, style, text, x, y, w, h) SHAPE_IN("1", id, style, text, x, y, w, h)
#define STATE(id, text, x, y)              SHAPE(id, "ellipse;", text, x, y, 100, 60)
#define TEXT(id, text, x, y)               SHAPE(id, "text;", text, x, y, 40, 20)
#define NOTE(text)                         SHAPE("n", "shape=note;", text, 0, 900, 300, 100)
#define EDGE(id, style, text, from, to)                                                        \
    "<mxCell id='" id "' value='" text "' style='" style "' edge='1' parent='1' source='" from \
    "' target='" to "'><mxGeometry relative='1' as='geometry'/></mxCell>"
#define ARROW(id, text, from, to) EDGE(id, "", text, from, to)
#define POINT(x, y, as)           "<mxPoint x='" #x "' y='" #y "' as='" as "'/>"
#define LOOSE(id, text, x, y, u, v)                                                            \
    "<mxCell id='" id "' value='" text "' edge='1' parent='1'><mxGeometry relative='1' "       \
    "as='geometry'>" POINT(x, y, "sourcePoint")                                                \
        POINT(u, v, "targetPoint") "</mxGeometry></mxCell>"
/* Into the state at (100, 100), from the left. */
#define START(to)                                                                              \
    "<mxCell id='s' edge='1' parent='1' target='" to "'><mxGeometry relative='1' "             \
    "as='geometry'>" POINT(20, 20, "sourcePoint") "</mxGeometry></mxCell>"
#define TWO STATE("a", "A", 100, 100) STATE("b", "B", 400, 100) START("a")

static const struct row {
    const char *name, *body;
    const char *arcs;  /* "" without diagnostics */
    const char *codes; /* of all diagnostics */
    const char *says;  /* part of one of them */
} rows[] = {
    {"two states", TWO ARROW("e", "x", "a", "b") ARROW("f", "y / n+ = 1", "b", "a"),
     "A > B: x\nB > A: y / n+ = 1\n", "E-INCOMPLETE E-INCOMPLETE N-INPUT N-INPUT", "!x"},
    {"a guard in brackets, a line for the actions",
     TWO ARROW("e", "[I[1] &gt; 0] / n+ = 1", "a", "b") ARROW("f", "true&#xa;n+ = 2", "b", "a"),
     "A > B: I_1 > 0 / n+ = 1\nB > A: n+ = 2\n", "E-INCOMPLETE N-INPUT", "I_1"},
    {"markup",
     TWO EDGE("e", "html=1", "C&lt;sup&gt;+&lt;/sup&gt; = 1", "a", "b")
         EDGE("f", "html=1", "C &amp;lt; 3&lt;br&gt;C+ = C&amp;nbsp;− 1", "b", "a"),
     "A > B: C+ = 1\nB > A: C < 3 / C+ = C - 1\n", "E-INCOMPLETE", NULL},
    {"without html=1 the text is itself", TWO ARROW("e", "C &amp;lt; 3", "a", "b"), "",
     "E-EXPR", "'C &lt; 3', character 6"},
    {"a decision, yes and the other",
     TWO SHAPE("d", "rhombus;", "x &gt; 2?", 250, 100, 60, 60) ARROW("e", "", "a", "d")
         ARROW("f", "Sí / n+ = 1", "d", "b") ARROW("g", "", "d", "a") ARROW("h", "", "b", "b"),
     "A > B: x > 2 / n+ = 1\nA > A: !(x > 2)\nB > B: true\n", "N-INPUT", NULL},
    {"a decision with numbers",
     TWO NOTE("machine M&#xa;inputs: k (number)") SHAPE("d", "rhombus;", "k", 250, 100, 60, 60)
         ARROW("e", "", "a", "d") ARROW("f", "= 1", "d", "b") ARROW("g", "&gt; 1", "d", "a")
             ARROW("h", "else", "d", "b") ARROW("i", "", "b", "a"),
     "A > B: k == 1\nA > A: k > 1\nA > B: !(k == 1 || k > 1)\nB > A: true\n", "", NULL},
    {"a decision without a text",
     TWO SHAPE("d", "rhombus;", "", 250, 100, 60, 60) ARROW("e", "u", "a", "d")
         ARROW("f", "x", "d", "b") ARROW("g", "else / n+ = 1", "d", "a")
             ARROW("i", "", "b", "a") ARROW("j", "!u", "a", "a"),
     "A > B: u && x\nA > A: u && !x / n+ = 1\nA > A: !u\nB > A: true\n", "N-INPUT N-INPUT",
     NULL},
    {"two exits that say else",
     TWO SHAPE("d", "rhombus;", "k + 1", 250, 100, 60, 60) ARROW("e", "", "a", "d")
         ARROW("f", "else", "d", "b") ARROW("g", "else", "d", "a") ARROW("i", "", "b", "a"),
     "", "E-ELSE E-ELSE", "another exit"},
    {"decisions in a row and a box on the way",
     TWO SHAPE("d", "rhombus;", "x", 200, 100, 60, 60)
         SHAPE("d2", "rhombus;", "y", 200, 300, 60, 60)
             SHAPE("r", "", "n+ = 1; m+ = 2", 300, 300, 80, 40) ARROW("e", "u", "a", "d") ARROW(
                 "f", "yes", "d", "d2") ARROW("g", "no", "d", "b") ARROW("h", "yes", "d2", "r")
                 ARROW("i", "no", "d2", "a") ARROW("j", "/ k+ = 3", "r", "b")
                     ARROW("k", "", "b", "a") ARROW("l", "!u", "a", "a"),
     "A > B: u && x && y / n+ = 1, m+ = 2, k+ = 3\nA > A: u && x && !y\nA > B: u && !x\n"
     "A > A: !u\nB > A: true\n",
     "N-INPUT N-INPUT N-INPUT", NULL},
    {"decisions in a circle",
     TWO SHAPE("d", "rhombus;", "x", 200, 100, 60, 60) SHAPE("d2", "rhombus;", "y", 200, 300,
                                                             60, 60) ARROW("e", "", "a", "d")
         ARROW("f", "yes", "d", "d2") ARROW("g", "no", "d", "b") ARROW("h", "yes", "d2", "d")
             ARROW("i", "no", "d2", "d") ARROW("j", "", "b", "a"),
     "", "E-LOOP E-LOOP E-TOO-MANY N-INPUT N-INPUT", "circle"},
    {"Moore outputs below the name, drawn twice, an end",
     SHAPE("a", "rounded=1;", "A&#xa;e = true", 100, 100, 100, 60) STATE("b", "B", 400, 100)
         STATE("a2", "A&#xa;f = 1", 100, 400)
             SHAPE("z", "shape=endState;", "", 600, 100, 30, 30) START("a")
                 ARROW("e", "", "a", "b") ARROW("f", "", "b", "z"),
     "A > B: true\nB > END: true\n",
     "N-DRAWN-TWICE W-OUTPUT-OPEN W-OUTPUT-OPEN W-OUTPUT-OPEN W-OUTPUT-OPEN",
     "state A is drawn 2 times"},
    {"a name below a name", STATE("a", "A&#xa;b+ = 1, hello", 100, 100) START("a"), "",
     "E-STATE-TEXT E-STATE-TEXT", "'hello' below the name"},
    {"a black dot, and an arrow from nowhere",
     TWO SHAPE("d", "ellipse;fillColor=#000000;", "", 300, 300, 20, 20)
         ARROW("e", "n+ = 1", "d", "b") ARROW("f", "", "a", "b") ARROW("g", "", "b", "a"),
     "", "E-DANGLING", "begins in the air: drag its tail onto a state (nearest: 'A'"},
    {"no start", STATE("a", "A", 100, 100) ARROW("e", "", "a", "a"), "A > A: true\n",
     "E-NO-START", NULL},
    {"nothing", TEXT("t", "hello", 0, 0), "", "E-NO-STATE N-REMARK",
     "remark 'hello' at (0, 0)"},
    {"loose ends are snapped",
     TWO LOOSE("e", "x", 205, 130, 390, 130) LOOSE("f", "!x", 150, 165, 150, 95)
         LOOSE("g", "", 440, 165, 120, 168),
     "A > B: x\nA > A: !x\nB > A: true\n",
     "N-LOOSE-END N-LOOSE-END N-LOOSE-END N-LOOSE-END N-LOOSE-END N-LOOSE-END N-INPUT",
     "the head of 'x' is not attached, 10 px from 'B'"},
    {"an end between two",
     STATE("a", "A", 100, 100) STATE("b", "B", 220, 100) START("a")
         LOOSE("e", "", 100, 170, 210, 130) ARROW("f", "", "b", "a"),
     "", "E-DANGLING E-END-BETWEEN N-LOOSE-END", "ends between 'A' and 'B'"},
    {"heads",
     TWO EDGE("e", "startArrow=classic;", "x", "a", "b") EDGE("f", "endArrow=none;", "", "a",
                                                              "b")
         EDGE("g", "startArrow=classic;endArrow=none;", "", "a", "b") ARROW("h", "", "a", "b"),
     "A > B: true\nB > A: true\n", "E-NO-HEAD E-TWO-HEADS", NULL},
    {"texts next to arrows, and in an empty shape",
     STATE("a", "", 100, 100) TEXT("t", "A", 130, 120) STATE("b", "B", 400, 100) START("a")
         ARROW("e", "", "a", "b") TEXT("u", "x", 280, 100)
             LOOSE("f", "/ n+ = 1", 450, 170, 150, 170) TEXT("v", "far off", 280, 600)
                 ARROW("g", "", "a", "a") TEXT("w", "!x", 190, 190),
     "A > B: x\nA > A: !x\nB > A: n+ = 1\n", "N-REMARK N-LOOSE-END N-LOOSE-END N-INPUT",
     "remark 'far off' at (280, 600)"},
    {"a label that is a child of its arrow",
     TWO ARROW("e", "", "a",
               "b") "<mxCell id='l' value='x' style='edgeLabel;' vertex='1' connectable='0' "
                    "parent='e'>"
                    "<mxGeometry x='-0.1' relative='1' as='geometry'/></mxCell>"
                    "<mxCell id='l2' value='/ n+ = 1' style='edgeLabel;' vertex='1' parent='e'>"
                    "<mxGeometry x='0.4' relative='1' as='geometry'/></mxCell>" ARROW(
                        "f", "!x", "a", "a") ARROW("g", "", "b", "a"),
     "A > B: x / n+ = 1\nA > A: !x\nB > A: true\n", "N-INPUT", NULL},
    {"groups shift what they hold, UserObject names it",
     SHAPE("g", "group;", "", 100, 100, 400, 100)
         SHAPE_IN("g", "a", "ellipse;", "A", 0, 0, 100,
                  60) "<UserObject id='b' label='B'><mxCell style='ellipse;' vertex='1' "
                      "parent='g'>" GEOMETRY(300, 0, 100, 60) "</UserObject>" START("a")
                          LOOSE("e", "", 205, 130, 395, 130) ARROW("f", "", "b", "a"),
     "A > B: true\nB > A: true\n", "N-LOOSE-END N-LOOSE-END", NULL},
    {"a hidden layer",
     TWO "<mxCell id='h' parent='0' visible='0'/>" SHAPE_IN("h", "c", "ellipse;", "C", 700, 100,
                                                            100, 60) ARROW("e", "", "a", "b")
         ARROW("f", "", "b", "a"),
     "A > B: true\nB > A: true\n", "", NULL},
    {"pushed, popped, emptied, topped",
     TWO SHAPE("p", "ellipse;", "B", 300, 200, 40, 26) SHAPE("q", "ellipse;", "A", 345, 200, 40,
                                                             26) ARROW("e", "x", "a", "p")
         ARROW("l", "", "q", "b") SHAPE("o", "ellipse;", "", 500, 110, 16, 16)
             SHAPE("o2", "ellipse;", "", 518, 110, 16, 16)
                 SHAPE("t", "shape=hexagon;", "", 700, 100, 30, 22) ARROW("f", "y", "o2", "t")
                     SHAPE("h", "shape=hexagon;", "", 450, 160, 30, 22)
                         ARROW("g", "!y", "h", "a") ARROW("i", "!x", "a", "a"),
     "A > B: x +B +A\nA > A: !x\nB > top: y -2\nB > A: !y empty\n",
     "W-STACK-EMPTY N-INPUT N-INPUT", NULL},
    {"a bubble that leads nowhere",
     TWO SHAPE("p", "ellipse;", "B", 300, 300, 40, 26) ARROW("e", "", "a", "p")
         ARROW("f", "", "b", "a"),
     "", "E-PUSH", "a pushed state that no state follows"},
    {"dashed arrows wait",
     TWO NOTE("machine M&#xa;clocked: no") EDGE("e", "dashed=1;", "", "a", "b")
         ARROW("f", "", "b", "a"),
     "A > B: true waits\nB > A: true\n", "", NULL},
    {"faults of a note",
     TWO NOTE("machine M&#xa;inputs: else, a b, x&#xa;wrong: 1&#xa;constants: N = 2 +, K = 2*3")
         ARROW("e", "x &gt; K", "a", "b"),
     "", "E-DECLARATION E-EXPR E-NAME E-NAME", "'wrong: 1': machine, purpose"},
    {"values of a note",
     TWO NOTE("machine M&#xa;outputs: e = !true, f (number) = pi/2, g (truth) = 3")
         ARROW("e", "", "a", "b") ARROW("f", "", "b", "a"),
     "", "E-DECLARATION", "'3' of g is no truth"},
    {"states with names that are none",
     STATE("a", "2 B or not", 100, 100) STATE("b", "B", 400, 100) START("b")
         ARROW("e", "", "b", "a"),
     "", "E-STATE-NAME", "'2 B or not' cannot be the name of a state"},
    {"a name that is too long", STATE("a", "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGH", 100, 100), "",
     "E-NO-STATE E-STATE-NAME", "it is longer than 32 bytes"},
    {"names of other scripts",
     STATE("a", "ESPERANÇA", 100, 100) START("a") ARROW("e", "", "a", "a"),
     "ESPERANÇA > ESPERANÇA: true\n", "", NULL},
};

static struct drawing *open_body(const char *body)
{
    static char file[OUT_MAX];
    struct drawing *drawing = NULL;
    struct err err = {0};
    (void)snprintf(file, sizeof file,
                   "<mxfile><diagram name='p'><mxGraphModel><root><mxCell id='0'/>"
                   "<mxCell id='1' parent='0'/>%s</root></mxGraphModel></diagram></mxfile>",
                   body);
    CHECK_INT(body, drawing_open(file, strlen(file), &drawing, &err), STATUS_OK);
    CHECK_TEXT(body, err.text, "");
    return drawing;
}

static void test_rows(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct row *row = &rows[i];
        static char out[OUT_MAX];
        struct drawing *drawing = open_body(row->body);
        understand_page(drawing, 0, false);
        FILE *to = open_text(out);
        print_codes(to);
        (void)fclose(to);
        CHECK_TEXT(row->name, out, row->codes);
        to = open_text(out);
        print_arcs(to);
        (void)fclose(to);
        if (row->arcs[0] != '\0') {
            CHECK_TEXT(row->name, out, row->arcs);
        }
        CHECK(row->name, !row->says || has_diagnostic(row->says));
        if (getenv("TANDEM_SHOW")) {
            (void)printf("== %s\n%s", row->name, out);
            print_diagnostics("f", stdout);
        }
        drawing_free(drawing);
    }
}

/* ---- texts ---- */

static void test_texts(void)
{
    static const struct {
        const char *value;
        bool html;
        const char *text;
    } texts[] = {
        {"", false, ""},
        {"  a \t b\n\n\n c ", false, "a b\nc"},
        {"C⁺ ≤ 3 ∧ ¬b", false, "C+ <= 3 && !b"},
        {"<b>x</b>", false, "<b>x</b>"},
        {"<b>x</b><br><br/>y<div>z</div><p>w</p>", true, "x\ny\nz\nw"},
        {"a&lt;b &amp;&amp; c&#62;d &#x2264; e&nbsp;f", true, "a<b && c>d <= e f"},
        {"I<sub>1</sub> < 3 & b &unknown; &#xD800;", true, "I_1 < 3 & b &unknown; ?"},
        {"<!-- no --><span style=\"a>b\">x</span> <", true, "x <"},
        {"\x01x\x7f", false, "x"},
    };
    struct drawing_memory memory = {0};
    for (size_t i = 0; i < COUNT(texts); i++) {
        CHECK_TEXT(texts[i].value, drawing_plain(&memory, texts[i].value, texts[i].html),
                   texts[i].text);
    }
    drawing_memory_finish(&memory);
}

/* ---- strangers' files ---- */

static void check_refused(const char *data, size_t bytes, const char *code)
{
    struct drawing *drawing = NULL;
    struct err err = {0};
    CHECK(code, drawing_open(data, bytes, &drawing, &err) != STATUS_OK && !drawing);
    CHECK_TEXT("refused", fault_name(err.fault), code);
    drawing_free(drawing);
}

static void test_refused(void)
{
    static const struct {
        const char *text, *code;
    } refused[] = {
        {"", "bad_syntax"},
        {"<mxfile>", "bad_syntax"},
        {"<mxfile/>", "wrong_file"},
        {"<svg/>", "wrong_file"},
        {"<html/>", "wrong_file"},
        {"<!DOCTYPE a [<!ENTITY b 'c'>]><mxfile>&b;</mxfile>", "unsupported"},
        {"\x89PNG\r\n\x1a\n", "wrong_file"},
        {"\x89PNG\r\n\x1a\n\xff\xff\xff\xfftEXt mxfile", "wrong_file"},
    };
    static char large[(8 << 20) + 2];
    static char deep[4096];
    for (size_t i = 0; i < COUNT(refused); i++) {
        check_refused(refused[i].text, strlen(refused[i].text), refused[i].code);
    }
    memset(large, ' ', sizeof large);
    check_refused(large, sizeof large, "too_large");
    for (size_t i = 0; i < 100; i++) {
        (void)strcat(deep, i == 0 ? "<mxfile>" : "<a>");
    }
    check_refused(deep, strlen(deep), "too_deep");
}

/* A page that cannot be read is reported as such; the others are read. */
static void test_damaged_pages(void)
{
    static const struct {
        const char *page, *code, *says;
    } pages[] = {
        {"AAAA", "E-FILE", ""},
        {"", "E-FILE", ""},
        {"<mxGraphModel><root><mxCell id='k7' vertex='1'><mxGeometry x='nan' "
         "width='3'/></mxCell>"
         "</root></mxGraphModel>",
         "E-FILE", "'nan'"},
        {"<mxGraphModel><root><mxCell id='k7' edge='1'><mxGeometry><mxPoint y='1e300'/>"
         "</mxGeometry></mxCell></root></mxGraphModel>",
         "E-FILE", "'1e300'"},
        {"<mxGraphModel/>", NULL, "there is no state"},
    };
    for (size_t i = 0; i < COUNT(pages); i++) {
        char file[1024];
        struct drawing *drawing = NULL;
        (void)snprintf(file, sizeof file, "<mxfile><diagram>%s</diagram></mxfile>",
                       pages[i].page);
        CU_ASSERT_EQUAL_FATAL(drawing_open(file, strlen(file), &drawing, NULL), STATUS_OK);
        understand_page(drawing, 0, false);
        CHECK(pages[i].says, has_diagnostic_as(pages[i].code, pages[i].says));
        CHECK(pages[i].says, machine->draft.diagnostics.severity_count[MACHINE_ERROR] > 0);
        drawing_free(drawing);
    }
}

/* 60 MiB out of 60 kB. */
static void test_bomb(void)
{
    static char packed[1 << 17];
    static char text[1 << 18];
    static char file[1 << 19];
    struct drawing *drawing = NULL;
    char *zeros = calloc(60, 1 << 20);
    CU_ASSERT_PTR_NOT_NULL_FATAL(zeros);
    const size_t n = pack_raw(zeros, 60U << 20, -15, packed, sizeof packed);
    free(zeros);
    (void)encode_base64(packed, n, text);
    (void)snprintf(file, sizeof file, "<mxfile><diagram>%s</diagram></mxfile>", text);
    CU_ASSERT_EQUAL_FATAL(drawing_open(file, strlen(file), &drawing, NULL), STATUS_OK);
    understand_page(drawing, 0, false);
    CHECK("bomb", has_diagnostic_as("E-FILE", " 8 "));
    drawing_free(drawing);
}

/* Thousands of shapes, texts and arrows on one spot; parents in a circle: an end, and soon. */
static void check_crowd(const char *parent, const char *says)
{
    enum { EACH = 6000, BYTES = 4 << 20 };
    char *file = malloc(BYTES);
    struct drawing *drawing = NULL;
    size_t n = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    n += (size_t)snprintf(file + n, BYTES - n, "<mxGraphModel><root>");
    for (int i = 0; i < EACH; i++) {
        n += (size_t)snprintf(
            file + n, BYTES - n,
            "<mxCell id='a%d' value='S%d' style='ellipse;' vertex='1' parent='%s%d'>"
            "<mxGeometry x='1' y='1' width='9' height='9'/></mxCell><mxCell id='t%d' "
            "value='x' style='text;' vertex='1'><mxGeometry x='%d' width='9'/></mxCell>"
            "<mxCell id='e%d' edge='1' source='a%d' target='a%d'>"
            "<mxGeometry/></mxCell>",
            i, i, parent, (i + 1) % EACH, i, i % 40, i, i, (i + 2) % EACH);
    }
    n += (size_t)snprintf(file + n, BYTES - n, "</root></mxGraphModel>");
    CU_ASSERT_EQUAL_FATAL(drawing_open(file, n, &drawing, NULL), STATUS_OK);
    understand_page(drawing, 0, false);
    CHECK(says, has_diagnostic(says));
    drawing_free(drawing);
    free(file);
}

static void test_crowds(void)
{
    check_crowd("none", "too many shapes, arrows and texts to be read");
    check_crowd("a", "holds other shapes");
}

int main(void)
{
    machine = calloc(1, sizeof *machine);
    scratch = malloc(machine_checks_bytes());
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("drawing", NULL, NULL);
    CU_add_test(suite, "golden", test_golden);
    CU_add_test(suite, "golden svg", test_golden_svg);
    CU_add_test(suite, "round trip", test_round_trip);
    CU_add_test(suite, "forms", test_forms);
    CU_add_test(suite, "rows", test_rows);
    CU_add_test(suite, "texts", test_texts);
    CU_add_test(suite, "refused", test_refused);
    CU_add_test(suite, "damaged pages", test_damaged_pages);
    CU_add_test(suite, "bomb", test_bomb);
    CU_add_test(suite, "crowds", test_crowds);
    const int status = check_run();
    free(scratch);
    free(machine);
    return status;
}
