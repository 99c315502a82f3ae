/* Two replies say the same when their values are equal as values, however their JSON is
 * written; else they do not (docs/protocol/reply.md). Rows by name, then random values from
 * a seed. */
#include "tests/support/lab_script.h"

#include <jansson.h>

#include "logger/codec/codecs.h"
#include "twin/pair/pair_run.h"

enum { ROUNDS = 3000, WRITTEN_MAX = 8192, DEPTH_MAX = 5 };

static const double TURN_RAD = 6.283185307179586;

/* --- two replies, and whether they are held to say the same ------------------------------ */

static void handle_event(void *context, const struct event *event)
{
    *(struct event *)context = *event;
}

static struct event decode_reply(enum side side, const char *values)
{
    static char payload[WRITTEN_MAX + 64];
    struct event e = {.kind = EVENT_KIND_COUNT};
    struct message m = {.t_us = 1000000, .payload = payload};
    (void)snprintf(m.topic, sizeof m.topic, "tandem/v1/r1/%s/reply", side_name(side));
    (void)snprintf(payload, sizeof payload, "{\"status\":\"done\",\"values\":%s}", values);
    m.stored_bytes = strlen(payload);
    m.payload_bytes = m.stored_bytes;
    (void)codec_decode(NULL, "tandem/v1", &m, handle_event, &e);
    return e;
}

/* Does a reply with these values of one side differ from the other's? 2: one is malformed. */
static int reply_differs(const struct pair_params *p, enum side first, const char *values,
                         const char *others, char text[ENTRY_DIFFERS_MAX])
{
    struct pair_slot slot = {.status = {REPLY_DONE, REPLY_DONE}};
    const enum side second = first == SIDE_REAL ? SIDE_VIRTUAL : SIDE_REAL;
    const struct event one = decode_reply(first, values);
    const struct event other = decode_reply(second, others);
    if (one.kind != EVENT_REPLY || other.kind != EVENT_REPLY) {
        return 2;
    }
    pair_store_values(&slot, &one.reply);
    return pair_reply_differs(&slot, first, &other.reply, p, text);
}

static struct pair_params params_with(double ratio, const char *const names[],
                                      const double allowed[])
{
    struct pair_params p;
    lab_pair_defaults(&p, "r1");
    p.value_tolerance_ratio = ratio;
    for (size_t i = 0; names && names[i]; i++) {
        (void)snprintf(p.tolerances[i].name, sizeof p.tolerances[i].name, "%s", names[i]);
        p.tolerances[i].value = allowed[i];
    }
    return p;
}

/* --- by name ----------------------------------------------------------------------------- */

#define LONG_NAME "the_position_of_the_robot_after_the_move_in_the_lab_frame"

static void test_rows(void)
{
    static const struct {
        const char *row, *real, *virtual;
        const char *differs; /* NULL: they say the same */
    } rows[] = {
        {"equal", "{\"x_m\":1.5}", "{\"x_m\":1.5}", NULL},
        {"half a turn from either side", "{\"psi_rad\":3.1415}", "{\"psi_rad\":-3.1410}", NULL},
        {"pi", "{\"psi_rad\":3.141592653589793}", "{\"psi_rad\":-3.141592653589793}", NULL},
        {"turns", "{\"psi_rad\":-12.56637061435917}", "{\"psi_rad\":0}", NULL},
        {"degrees", "{\"psi_deg\":[180]}", "{\"psi_deg\":[-180.01]}", NULL},
        {"half a turn", "{\"psi_rad\":3.1}", "{\"psi_rad\":0}", "psi_rad: real 3.1, virtual 0"},
        {"a rate is no angle", "{\"w_radps\":0}", "{\"w_radps\":6.283185307179586}",
         "w_radps: real 0, virtual 6.28318531"},
        {"a length is no angle", "{\"x_m\":0}", "{\"x_m\":6.283185307179586}",
         "x_m: real 0, virtual 6.28318531"},
        {"far away", "{\"x_m\":10.0}", "{\"x_m\":10.4}", "x_m: real 10, virtual 10.4"},
        {"near", "{\"x_m\":0.40}", "{\"x_m\":0.43}", "x_m: real 0.4, virtual 0.43"},
        {"times are judged as times",
         "{\"duration_s\":1,\"t_ms\":[1,2],\"a\":{\"b_us\":1,\"c_ns\":0}}",
         "{\"duration_s\":9,\"t_ms\":[1,7],\"a\":{\"b_us\":5,\"c_ns\":1e9}}", NULL},
        {"how many times are not", "{\"t_ms\":[1,2]}", "{\"t_ms\":[1]}",
         "t_ms: real 2 items, virtual 1"},
        {"nor a rate", "{\"w_rad_per_s2\":1,\"v_mps\":1}", "{\"v_mps\":2}",
         "v_mps: real 1, virtual 2"},
        {"nor another name", "{\"s\":1,\"axis\":0}", "{\"s\":2,\"axis\":1}",
         "s: real 1, virtual 2, axis: real 0, virtual 1"},
        {"one and one", "{\"n\":1}", "{\"n\":1.0}", NULL},
        {"ten", "{\"n\":[1e1, -0]}", "{\"n\":[10, 0.0]}", NULL},
        {"escapes", "{\"room\":\"K\xc3\xbc\x63he\"}", "{\"room\":\"K\\u00fcche\"}", NULL},
        {"a pair of surrogates", "{\"a\":\"\xf0\x9f\x98\x80\"}", "{\"a\":\"\\ud83d\\ude00\"}",
         NULL},
        {"another text", "{\"room\":\"K\xc3\xbc\x63he\"}", "{\"room\":\"Kuche\"}",
         "room: not the same text"},
        {"escapes in a name", "{\"\\u0078_m\":1}", "{\"x_m\":2}", "x_m: real 1, virtual 2"},
        {"order and space", "{\"a\":{\"b\":1,\"c\":\"d\"}}",
         "{ \"a\" : { \"c\" : \"d\" , \"b\" : 1 } }", NULL},
        {"deep", "{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":1}}}}}",
         "{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":1.5}}}}}", "a.b.c.d.e: real 1, virtual 1.5"},
        {"deep and near", "{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":1}}}}}",
         "{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":1.001}}}}}", NULL},
        {"a number and a text", "{\"a\":1}", "{\"a\":\"1\"}",
         "a: real a number, virtual a text"},
        {"null", "{\"a\":null}", "{\"a\":0}", "a: real null, virtual a number"},
        {"null twice", "{\"a\":null}", "{\"a\":null}", NULL},
        {"truths", "{\"a\":true}", "{\"a\":false}", "a: real true, virtual false"},
        {"one level and two", "{\"pose\":3}", "{\"pose\":{\"x\":3}}",
         "pose: real a number, virtual an object"},
        {"lists of other lengths", "{\"r\":[1,2]}", "{\"r\":[1,2,3]}",
         "r: real 2 items, virtual 3"},
        {"no list at all", "{\"r\":[]}", "{\"r\":{}}", "r: real a list, virtual an object"},
        {"a dot in a name", "{\"a.b\":1,\"a\":{\"b\":2}}", "{\"a\":{\"b\":2},\"a.b\":1}", NULL},
        {"an index in a name", "{\"a[0]\":1,\"a\":[2]}", "{\"a\":[2],\"a[0]\":1}", NULL},
        {"long names", "{\"" LONG_NAME ".x_m\":1,\"" LONG_NAME ".y_m\":2}",
         "{\"" LONG_NAME ".y_m\":2,\"" LONG_NAME ".x_m\":1}", NULL},
        {"the end of a long one", "{\"" LONG_NAME "_x_m\":1}", "{\"" LONG_NAME "_x_m\":2}",
         "robot_after_the_move_in_the_lab_frame_x_m: real 1, virtual 2"},
        {"a long one's unit", "{\"" LONG_NAME "_rad\":0}",
         "{\"" LONG_NAME "_rad\":6.283185307179586}", NULL},
        {"reported by one side", "{\"a\":1,\"b\":2}", "{\"a\":1,\"c\":3}", NULL},
        {"given twice, the last counts", "{\"a\":1,\"a\":2}", "{\"a\":2}", NULL},
        {"no object", "[1,2]", "[1,3]", "[1]: real 2, virtual 3"},
        {"several", "{\"x_m\":1,\"y_m\":\"a\",\"psi_rad\":0}",
         "{\"psi_rad\":1,\"y_m\":\"b\",\"x_m\":2}",
         "psi_rad: real 0, virtual 1, y_m: not the same text, x_m: real 1, virtual 2"},
    };
    const struct pair_params p = params_with(0.0, NULL, NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[ENTRY_DIFFERS_MAX] = "";
        CHECK_INT(rows[i].row,
                  reply_differs(&p, SIDE_REAL, rows[i].real, rows[i].virtual, text),
                  rows[i].differs != NULL);
        const size_t n = rows[i].differs ? strlen(rows[i].differs) : 0;
        CHECK_TEXT(rows[i].row, strlen(text) > n ? text + strlen(text) - n : text,
                   rows[i].differs ? rows[i].differs : "");
        CHECK_INT(rows[i].row,
                  reply_differs(&p, SIDE_VIRTUAL, rows[i].real, rows[i].virtual, text),
                  rows[i].differs != NULL);
    }
}

static void test_tolerances(void)
{
    static const struct {
        const char *row;
        double ratio;
        const char *names[4];
        double allowed[4];
        const char *real, *virtual;
        bool differs;
    } rows[] = {
        {"a share, asked for", 0.05, {NULL}, {0}, "{\"x_m\":100}", "{\"x_m\":104}", false},
        {"no share of an angle", 0.05, {NULL}, {0}, "{\"a_rad\":3}", "{\"a_rad\":3.1}", true},
        {"by unit", 0.0, {"_m"}, {0.5}, "{\"x_m\":1}", "{\"x_m\":1.4}", false},
        {"beyond it", 0.0, {"_m"}, {0.5}, "{\"x_m\":1}", "{\"x_m\":1.6}", true},
        {"narrower than the default",
         0.0,
         {"_m"},
         {0.001},
         "{\"x_m\":1}",
         "{\"x_m\":1.01}",
         true},
        {"without a share", 0.9, {"_m"}, {0.001}, "{\"x_m\":1}", "{\"x_m\":1.01}", true},
        {"another unit", 0.0, {"_m"}, {9.0}, "{\"v_mm\":1}", "{\"v_mm\":1.4}", true},
        {"name before unit",
         0.0,
         {"_m", "x_m"},
         {9.0, 0.1},
         "{\"x_m\":1}",
         "{\"x_m\":1.4}",
         true},
        {"name before longer unit",
         0.0,
         {"_of_x_m", "a_of_x_m"},
         {9.0, 0.1},
         "{\"a_of_x_m\":1}",
         "{\"a_of_x_m\":1.4}",
         true},
        {"longer unit",
         0.0,
         {"_m", "_max_m"},
         {9.0, 0.1},
         "{\"x_max_m\":1}",
         "{\"x_max_m\":1.4}",
         true},
        {"a name anywhere",
         0.0,
         {"x_m"},
         {1.0},
         "{\"p\":{\"x_m\":1}}",
         "{\"p\":{\"x_m\":1.4}}",
         false},
        {"longer name",
         0.0,
         {"p.x_m", "x_m"},
         {0.1, 1.0},
         "{\"p\":{\"x_m\":1}}",
         "{\"p\":{\"x_m\":1.4}}",
         true},
        {"no part of a name", 0.0, {"x_m"}, {1.0}, "{\"max_m\":1}", "{\"max_m\":1.4}", true},
        {"of each item",
         0.0,
         {"_m"},
         {1.0},
         "{\"ranges_m\":[1,2]}",
         "{\"ranges_m\":[1,2.4]}",
         false},
        {"of one item",
         0.0,
         {"ranges_m[1]", "ranges_m"},
         {0.1, 1.0},
         "{\"ranges_m\":[1,2]}",
         "{\"ranges_m\":[1,2.4]}",
         true},
        {"on the circle", 0.0, {"_rad"}, {0.2}, "{\"a_rad\":3.1}", "{\"a_rad\":-3.1}", false},
        {"a time that is asked for",
         0.0,
         {"duration_s"},
         {0.1},
         "{\"duration_s\":1,\"t_s\":1}",
         "{\"duration_s\":1.2,\"t_s\":9}",
         true},
        {"times that are asked for",
         0.0,
         {"_s"},
         {0.5},
         "{\"duration_s\":1}",
         "{\"duration_s\":1.4}",
         false},
        {"exact", 0.0, {"n"}, {0.0}, "{\"n\":1.0}", "{\"n\":1.0000001}", true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[ENTRY_DIFFERS_MAX];
        const struct pair_params p = params_with(rows[i].ratio, rows[i].names, rows[i].allowed);
        CHECK_INT(rows[i].row,
                  reply_differs(&p, SIDE_REAL, rows[i].real, rows[i].virtual, text),
                  rows[i].differs);
    }
}

/* More differences than there is room for are counted. */
static void test_many(void)
{
    char text[ENTRY_DIFFERS_MAX];
    const struct pair_params p = params_with(0.0, NULL, NULL);
    CHECK("differs", reply_differs(&p, SIDE_REAL, "[0,0,0,0,0,0,0,0,0,0,0,0]",
                                   "[1,1,1,1,1,1,1,1,1,1,1,1]", text));
    CHECK_TEXT("the rest", strstr(text, ", and "), ", and 6 more");
    CHECK("whole ones", strncmp(text, "[0]: real 0, virtual 1, [1]: ", 29) == 0);
}

/* --- random values ------------------------------------------------------------------------ */

static int draw_below(int below)
{
    return rand() % below;
}

static const char *const names[] = {
    "x_m",       "psi_rad",        "heading_deg",    "K\xc3\xbc\x63he", "a.b", "a", "b", "",
    "ranges[0]", LONG_NAME "_x_m", LONG_NAME "_rad", "\xf0\x9f\x98\x80"};
static const char *const texts[] = {
    "", "done", "K\xc3\xbc\x63he", "tab\there \"and\" \\ / there", "\xf0\x9f\x98\x80\x7f", "1"};

/* budget: values that may still be made, containers too. */
static json_t *random_value(int depth, int *budget)
{
    const int kind = draw_below(depth > 0 ? 8 : 6);
    (*budget)--;
    if (kind == 0) {
        return json_string(texts[draw_below(COUNT(texts))]);
    }
    if (kind == 1) {
        return draw_below(3) == 0 ? json_null() : json_boolean(draw_below(2));
    }
    if (kind == 2) {
        return json_integer(draw_below(2000) - 1000);
    }
    if (kind < 6) {
        return json_real((draw_below(200000) - 100000) * (draw_below(2) ? 1e-5 : 3.7));
    }
    json_t *value = kind == 6 ? json_array() : json_object();
    for (int n = draw_below(4); n > 0 && *budget > 0; n--) {
        if (kind == 6) {
            (void)json_array_append_new(value, random_value(depth - 1, budget));
        } else {
            const char *name = names[draw_below(COUNT(names))];
            if (!json_object_get(value, name)) {
                (void)json_object_set_new(value, name, random_value(depth - 1, budget));
            }
        }
    }
    return value;
}

struct written {
    char text[WRITTEN_MAX];
    size_t used;
};

static void append_text(struct written *w, const char *format, ...) PRINTF_LIKE(2, 3);

static void append_text(struct written *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    w->used += (size_t)vsnprintf(w->text + w->used, WRITTEN_MAX - w->used, format, args);
    va_end(args);
    CU_ASSERT_FATAL(w->used < WRITTEN_MAX);
}

static void append_space(struct written *w)
{
    if (draw_below(4) == 0) {
        append_text(w, "%s", draw_below(2) ? " " : "\n\t");
    }
}

/* The characters as they are, or escaped by the short or the long form. */
static void append_string(struct written *w, const char *text)
{
    append_text(w, "\"");
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c < 0x20 || (*c < 0x80 && draw_below(6) == 0)) {
            append_text(w, "\\u%04x", *c);
        } else if (*c == '"' || *c == '\\') {
            append_text(w, "\\%c", *c);
        } else if (c[0] == 0xc3 && c[1] == 0xbc && draw_below(2)) {
            append_text(w, draw_below(2) ? "\\u00fc" : "\\u00FC");
            c++;
        } else if (strncmp((const char *)c, "\xf0\x9f\x98\x80", 4) == 0 && draw_below(2)) {
            append_text(w, "\\ud83d\\ude00");
            c += 3;
        } else {
            append_text(w, "%c", *c);
        }
    }
    append_text(w, "\"");
}

static void append_real(struct written *w, double value)
{
    append_text(w, draw_below(2) ? "%.17g" : "%.17e", value);
}

/* Angles by whole turns elsewhere, whole numbers as reals. */
static void append_number(struct written *w, const char *name, double value)
{
    const size_t n = strlen(name);
    const char *unit = n >= 4 ? name + n - 4 : "";
    if (strcmp(unit, "_rad") == 0 && draw_below(2)) {
        append_real(w, value + TURN_RAD * (draw_below(7) - 3));
    } else if (strcmp(unit, "_deg") == 0 && draw_below(2)) {
        append_real(w, value + 360.0 * (draw_below(7) - 3));
    } else if (fabs(value - rint(value)) < 1e-12 && draw_below(2)) {
        static const char *const ends[] = {"", ".0", ".00e0", "0E-1"};
        /* Minus zero has no form of its own, and no number begins with two zeros. */
        append_text(w, "%.0f%s", rint(value) + 0.0,
                    ends[draw_below(fabs(value) < 0.5 ? 3 : 4)]);
    } else {
        append_real(w, value);
    }
}

static void append_value(struct written *w, const char *name, const json_t *value);

/* In another order each time. */
static void append_members(struct written *w, json_t *object)
{
    const char *keys[COUNT(names)];
    size_t count = 0;
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        keys[count++] = json_object_iter_key(at);
    }
    append_text(w, "{");
    for (size_t k = 0; k < count; k++) {
        const size_t other = k + (size_t)draw_below((int)(count - k));
        const char *key = keys[other];
        keys[other] = keys[k];
        append_text(w, k > 0 ? "," : "");
        append_space(w);
        append_string(w, key);
        append_space(w);
        append_text(w, ":");
        append_value(w, key, json_object_get(object, key));
    }
    append_text(w, "}");
}

static void append_value(struct written *w, const char *name, const json_t *value)
{
    append_space(w);
    if (json_is_object(value)) {
        append_members(w, (json_t *)(uintptr_t)value);
    } else if (json_is_array(value)) {
        append_text(w, "[");
        for (size_t k = 0; k < json_array_size(value); k++) {
            append_text(w, k > 0 ? "," : "");
            append_value(w, name, json_array_get(value, k));
        }
        append_text(w, "]");
    } else if (json_is_string(value)) {
        append_string(w, json_string_value(value));
    } else if (json_is_number(value)) {
        append_number(w, name, json_number_value(value));
    } else {
        append_text(w, json_is_null(value) ? "null" : json_is_true(value) ? "true" : "false");
    }
    append_space(w);
}

static const char *write_again(struct written *w, const json_t *value)
{
    w->used = 0;
    append_value(w, "", value);
    return w->text;
}

/* Another value than this one, beyond every tolerance. */
static json_t *other_than(const json_t *value)
{
    if (json_is_number(value) && draw_below(3) > 0) {
        return json_real(json_number_value(value) +
                         (draw_below(2) ? 0.03 : -1.0) * (1 + draw_below(2)));
    }
    if (json_is_string(value) && draw_below(3) > 0) {
        char text[128];
        (void)snprintf(text, sizeof text, "%s.", json_string_value(value));
        return json_string(text);
    }
    if (json_is_boolean(value)) {
        return json_boolean(!json_is_true(value));
    }
    if (json_is_array(value)) {
        json_t *longer = json_deep_copy(value);
        (void)json_array_append_new(longer, json_null());
        return longer;
    }
    return json_is_null(value) ? json_array() : json_null();
}

/* Change one value somewhere inside. */
static void change_one(json_t *value)
{
    const size_t count =
        json_is_array(value) ? json_array_size(value) : json_object_size(value);
    const size_t k = (size_t)draw_below((int)count);
    void *at = json_is_object(value) ? json_object_iter(value) : NULL;
    for (size_t i = 0; at && i < k; i++) {
        at = json_object_iter_next(value, at);
    }
    json_t *child = at ? json_object_iter_value(at) : json_array_get(value, k);
    const bool inside = (json_is_object(child) && json_object_size(child) > 0) ||
                        (json_is_array(child) && json_array_size(child) > 0);
    if (inside && draw_below(3) > 0) {
        change_one(child);
    } else if (at) {
        (void)json_object_iter_set_new(value, at, other_than(child));
    } else {
        (void)json_array_set_new(value, k, other_than(child));
    }
}

static void test_random(void)
{
    static struct written one;
    static struct written other;
    const struct pair_params p = params_with(0.0, NULL, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        char text[ENTRY_DIFFERS_MAX];
        int budget = PAIR_VALUES_MAX - 1;
        json_t *value = json_object();
        do {
            (void)json_object_set_new(value, names[draw_below(COUNT(names))],
                                      random_value(DEPTH_MAX, &budget));
        } while (budget > 0 && draw_below(4) > 0);
        const enum side first = draw_below(2) ? SIDE_REAL : SIDE_VIRTUAL;
        int got = reply_differs(&p, first, write_again(&one, value), write_again(&other, value),
                                text);
        CHECK_INT("written in two ways", got, 0);
        if (got) {
            (void)printf("%s\n%s\n%s\n", one.text, other.text, text);
        }
        change_one(value);
        got = reply_differs(&p, first, one.text, write_again(&other, value), text);
        CHECK_INT("one value changed", got, 1);
        if (got != 1) {
            (void)printf("%s\n%s\n", one.text, other.text);
        }
        json_decref(value);
    }
}

int main(void)
{
    srand(check_seed(1));
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("values", NULL, NULL);
    CU_add_test(suite, "rows", test_rows);
    CU_add_test(suite, "tolerances", test_tolerances);
    CU_add_test(suite, "many", test_many);
    CU_add_test(suite, "random", test_random);
    return check_run();
}
