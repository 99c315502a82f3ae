/* ROS 2 messages: bags of foreign writers are decoded value by value as their authors say;
 * definitions and messages that are wrong give an error, never a value. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "logger/message/ros_message.h"
#include "service/bag/bag_topics.h"
#include "tests/support/check.h"
#include "tests/support/ros_value_path.h"

static const char bags[] = TANDEM_SOURCE_DIR "/tests/golden/bags";

/* --- recorded messages ----------------------------------------------------------------------
 */

struct comparison {
    const struct ros_definition *definition;
    const json_t *expected; /* {path: value} */
    size_t seen, different;
};

/* Puts all numbers and texts of a value into a flat object. */
static void flatten(json_t *flat, const char *path, json_t *value)
{
    char inner[256];
    const char *key = NULL;
    json_t *member = NULL;
    size_t i = 0;
    if (json_is_object(value)) {
        json_object_foreach(value, key, member) {
            (void)snprintf(inner, sizeof inner, "%s%s%s", path, path[0] ? "." : "", key);
            flatten(flat, inner, member);
        }
    } else if (json_is_array(value)) {
        json_array_foreach(value, i, member) {
            (void)snprintf(inner, sizeof inner, "%s[%zu]", path, i);
            flatten(flat, inner, member);
        }
    } else {
        (void)json_object_set(flat, path, value);
    }
}

static bool is_equal(const json_t *expected, const struct ros_value *value, size_t i)
{
    if (value->type >= ROS_STRING) {
        return json_is_string(expected) && json_string_length(expected) == value->count &&
               memcmp(json_string_value(expected), value->data, value->count) == 0;
    }
    const double number = ros_value_number(value, i);
    const double wanted = json_is_boolean(expected) ? (double)json_is_true(expected)
                                                    : json_number_value(expected);
    return (json_is_number(expected) || json_is_boolean(expected)) && !(number > wanted) &&
           !(number < wanted);
}

static bool compare_value(void *context, const struct ros_value *value)
{
    struct comparison *c = context;
    const size_t count = value->type >= ROS_STRING ? 1 : value->count;
    for (size_t i = 0; i < count; i++) {
        char path[ROS_PATH_MAX];
        struct ros_path found;
        struct ros_value at = *value;
        at.element = value->type >= ROS_STRING ? value->element : i;
        ros_value_path(c->definition, &at, path);
        c->different += !is_equal(json_object_get(c->expected, path), value, i);
        /* the path leads back to the same field */
        c->different +=
            value->type < ROS_STRING && !(ros_path_find(c->definition, path, &found) &&
                                          found.field == value->field && found.element == i);
        c->seen++;
    }
    return true;
}

static bool compare_message(const struct bag_topics *topics, const struct bag_message *m,
                            json_t *line)
{
    const struct bag_topic *t = bag_topics_find(topics, m->topic);
    struct err err = {0};
    if (!t->definition) {
        return false;
    }
    json_t *flat = json_object();
    flatten(flat, "", json_object_get(line, "value"));
    struct comparison c = {.definition = t->definition, .expected = flat};
    CHECK_INT(m->topic,
              ros_message_decode(t->definition, m->data, m->bytes, compare_value, &c, &err),
              STATUS_OK);
    CHECK_INT(m->topic, c.different, 0);
    CHECK_INT(m->topic, c.seen, json_object_size(flat));
    CHECK_INT(m->topic, m->log_ns, json_integer_value(json_object_get(line, "t_ns")));
    /* Every shorter message ends early, and says so. */
    for (size_t n = 0; n < m->bytes; n++) {
        struct err cut = {0};
        const enum status status =
            ros_message_decode(t->definition, m->data, n, compare_value, &c, &cut);
        CHECK("a cut message", status == STATUS_E_PARSE && cut.text[0] && cut.column > 0);
    }
    json_decref(flat);
    return true;
}

static void test_bag(const char *name, size_t decoded)
{
    char path[512];
    char expected[512];
    char text[8192];
    struct bag_topics topics;
    struct bag_reader *reader = NULL;
    struct bag_message m;
    struct err err = {0};
    size_t equal = 0;
    (void)snprintf(path, sizeof path, "%s/%s", bags, name);
    (void)snprintf(expected, sizeof expected, "%s/expected.jsonl", bags);
    CHECK_INT(name, bag_topics_read(path, &topics, &err), STATUS_OK);
    CHECK_INT(name, topics.count, 7);
    CHECK(name, !topics.torn);
    CHECK_INT(name, bag_reader_open(path, &reader, &err), STATUS_OK);
    FILE *lines = fopen(expected, "r");
    while (lines && fgets(text, sizeof text, lines)) {
        json_t *line = json_loads(text, JSON_DECODE_ANY, NULL);
        CHECK_INT(name, bag_reader_next(reader, &m, &err), STATUS_OK);
        CHECK_TEXT(name, m.topic, json_string_value(json_object_get(line, "topic")));
        equal += compare_message(&topics, &m, line);
        json_decref(line);
    }
    CHECK_INT(name, bag_reader_next(reader, &m, &err), STATUS_E_EMPTY);
    CHECK_INT(name, equal, decoded);
    (void)fclose(lines);
    bag_reader_close(reader);
    bag_topics_free(&topics);
}

/* --- definitions
 * ------------------------------------------------------------------------------ */

static void test_definitions(void)
{
    static const struct {
        const char *row, *type, *text;
        enum status status;
        size_t fields;
    } rows[] = {
        {"remarks, constants, defaults", "p/msg/T",
         "# a remark\nint32 A=5\nstring S = \"x#y\"\nint32 a 7 # b\n\nfloat32[3] b\n",
         STATUS_OK, 2},
        {"bounds", "p/T", "string<=10 s\nint8[<=4] a\nstring<=3[] t\n", STATUS_OK, 3},
        {"its own package", "p/T", "Q q\n===\nMSG: p/Q\nint8 x\n", STATUS_OK, 3},
        {"another package with msg", "p/T", "o/Q[] q\n======\nMSG: o/msg/Q\nint8 x\n",
         STATUS_OK, 3},
        {"a header", "p/T", "Header header\n", STATUS_OK, 7},
        {"an empty message", "p/T", "Q q\n===\nMSG: p/Q\n# nothing\n", STATUS_OK, 1},
        {"known without a text", "sensor_msgs/msg/JointState", "", STATUS_OK, 11},
        {"unknown without a text", "p/msg/T", "", STATUS_E_EMPTY, 0},
        {"no such type", "p/T", "Q q\n", STATUS_E_EMPTY, 0},
        {"itself", "p/T", "T t\n", STATUS_E_FULL, 0},
        {"no name", "p/T", "int32\n", STATUS_E_PARSE, 0},
        {"a wrong array", "p/T", "int32[x] a\n", STATUS_E_PARSE, 0},
        {"an endless array", "p/T", "int32[99999999999] a\n", STATUS_E_PARSE, 0},
        {"an array of nothing", "p/T", "int32[0] a\n", STATUS_E_PARSE, 0},
        {"no MSG line", "p/T", "int32 a\n===\nint32 b\n", STATUS_E_PARSE, 0},
    };
    struct ros_definition *d = malloc(sizeof *d);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err err = {0};
        CHECK_INT(
            rows[i].row,
            ros_definition_parse(rows[i].type, rows[i].text, strlen(rows[i].text), d, &err),
            rows[i].status);
        CHECK(rows[i].row, rows[i].status != STATUS_OK || d->count == rows[i].fields);
        CHECK(rows[i].row, (rows[i].status == STATUS_OK) == (err.text[0] == '\0'));
    }
    free(d);
}

/* --- messages
 * --------------------------------------------------------------------------------- */

static bool sum_values(void *context, const struct ros_value *value)
{
    double *sum = context;
    for (size_t i = 0; i < value->count && value->type < ROS_STRING; i++) {
        *sum += ros_value_number(value, i);
    }
    return true;
}

static void test_encodings(void)
{
    static const struct {
        const char *row, *bytes;
        size_t n;
        double sum; /* negative: refused */
    } rows[] = {
        /* int8 a, int64 b, uint16[] c: alignment to 8, or to 4 in XCDR2 */
        {"little-endian",
         "\0\1\0\0"
         "\1\0\0\0\0\0\0\0"
         "\2\0\0\0\0\0\0\0"
         "\1\0\0\0"
         "\3\0",
         26, 6},
        {"big-endian",
         "\0\0\0\0"
         "\1\0\0\0\0\0\0\0"
         "\0\0\0\0\0\0\0\2"
         "\0\0\0\1"
         "\0\3",
         26, 6},
        {"XCDR2",
         "\0\7\0\0"
         "\1\0\0\0"
         "\2\0\0\0\0\0\0\0"
         "\1\0\0\0"
         "\3\0",
         22, 6},
        {"no numbers",
         "\0\1\0\0"
         "\1\0\0\0\0\0\0\0"
         "\2\0\0\0\0\0\0\0"
         "\0\0\0\0",
         24, 3},
        {"a length beyond the end",
         "\0\1\0\0"
         "\1\0\0\0\0\0\0\0"
         "\2\0\0\0\0\0\0\0"
         "\2\0\0\0"
         "\3\0",
         26, -1},
        {"the longest length",
         "\0\1\0\0"
         "\1\0\0\0\0\0\0\0"
         "\2\0\0\0\0\0\0\0"
         "\xff\xff\xff\xff"
         "\3\0",
         26, -1},
        {"no CDR",
         "\5\1\0\0"
         "\1",
         5, -1},
        {"zstd",
         "\x28\xb5\x2f\xfd"
         "\1\1\1\1",
         8, -1},
        {"nothing", "", 0, -1},
    };
    static const char text[] = "int8 a\nint64 b\nuint16[] c\n";
    struct ros_definition *d = malloc(sizeof *d);
    struct err none = {0};
    CHECK_INT("definition", ros_definition_parse("p/T", text, sizeof text - 1, d, &none),
              STATUS_OK);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err err = {0};
        double sum = 0.0;
        const enum status status = ros_message_decode(d, (const unsigned char *)rows[i].bytes,
                                                      rows[i].n, sum_values, &sum, &err);
        CHECK_INT(rows[i].row, status, rows[i].sum < 0.0 ? STATUS_E_PARSE : STATUS_OK);
        CHECK(rows[i].row, rows[i].sum < 0.0 || !(sum < rows[i].sum || sum > rows[i].sum));
    }
    free(d);
}

static void test_paths(void)
{
    static const struct {
        const char *path;
        bool found;
    } rows[] = {{"header.stamp.sec", true},
                {"position[2]", true},
                {"position[left wheel]", true},
                {"position", false},
                {"position[]", false},
                {"position[1", false},
                {"header", false},
                {"header.stamp", false},
                {"header.frame_id", false},
                {"name[0]", false},
                {"header[0].stamp.sec", false},
                {"header.stamp.sec.x", false},
                {"none", false},
                {"", false}};
    struct ros_definition *d = malloc(sizeof *d);
    struct err err = {0};
    struct ros_path path;
    CHECK_INT("definition", ros_definition_parse("sensor_msgs/JointState", "", 0, d, &err),
              STATUS_OK);
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK(rows[i].path, ros_path_find(d, rows[i].path, &path) == rows[i].found);
    }
    free(d);
}

static void test_bags(void)
{
    test_bag("ros2.mcap", 21);
    test_bag("ros2.db3", 18); /* its definitions are missing; three are of a type of its own */
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("ros_message", NULL, NULL);
    CU_add_test(suite, "bags", test_bags);
    CU_add_test(suite, "definitions", test_definitions);
    CU_add_test(suite, "encodings", test_encodings);
    CU_add_test(suite, "paths", test_paths);
    return check_run();
}
