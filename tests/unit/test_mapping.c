/* tests/unit/test_mapping.c - tables for robots with another message format: the events that
 * rows make of messages, refusals when tables are read, and outgoing messages. */
#include <stdlib.h>
#include <unistd.h>

#include "config/mapping/mapping_file.h"
#include "logger/message/codec_native.h"
#include "service/replay/event_line.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"

static struct mapping_table *read_table(const char *yaml, char code[ERR_TEXT_MAX])
{
    char path[SCRATCH_MAX];
    struct err_list errors = {0};
    const int fd = mkstemp(scratch_template(path, "mapping"));
    CU_ASSERT_FATAL(fd >= 0 && write(fd, yaml, strlen(yaml)) == (ssize_t)strlen(yaml));
    (void)close(fd);
    struct mapping_table *table = mapping_table_load(path, false, &errors);
    (void)remove(path);
    (void)snprintf(code, ERR_TEXT_MAX, "%s", fault_name(errors.items[0].fault));
    return table;
}

/* The event as a line, and the payload that is passed on. */
struct seen {
    char line[4096], raw[4096];
    size_t count;
};

static void collect_event(void *context, const struct event *e)
{
    struct seen *seen = context;
    FILE *out = fmemopen(seen->line, sizeof seen->line, "w");
    event_line_print(e, NULL, out);
    (void)fclose(out);
    char *detail = e->kind == EVENT_MALFORMED ? strstr(seen->line, ", \"detail\"") : NULL;
    seen->line[detail ? (size_t)(detail - seen->line) : strcspn(seen->line, "\n")] = '\0';
    seen->raw[0] = '\0';
    if (e->kind == EVENT_COMMAND || e->kind == EVENT_REPLY) {
        const bool command = e->kind == EVENT_COMMAND;
        (void)snprintf(seen->raw, sizeof seen->raw, "%.*s",
                       (int)(command ? e->command.raw_bytes : e->reply.raw_bytes),
                       command ? e->command.raw : e->reply.raw);
    }
    seen->count++;
}

static struct mapping_pose poses[SIDE_COUNT];

static enum mapping_outcome decode_copy(const struct mapping_table *table, const char *pair,
                                        const char *topic, const char *payload, size_t bytes,
                                        struct seen *seen)
{
    struct message m = {.t_us = 1000000, .payload_bytes = bytes};
    /* Its own memory: a byte read behind it is a fault. */
    char *copy = malloc(bytes + (bytes == 0));
    memcpy(copy, payload, bytes);
    m.payload = copy;
    m.stored_bytes = bytes;
    (void)snprintf(m.topic, sizeof m.topic, "%s", topic);
    *seen = (struct seen){.count = 0};
    const struct mapping_receiver to = {.pair = pair, .republished = true, .poses = poses};
    const enum mapping_outcome outcome =
        mapping_decode(&table->mapping, &to, &m, collect_event, seen);
    free(copy);
    return outcome;
}

/* ---- rows ---- */

#define TELEMETRY "{\"event\": \"telemetry\", \"pair\": \"r1\", \"side\": \"real\", "
#define MALFORMED(what, code)                                                                  \
    "{\"event\": \"malformed\", \"pair\": \"r1\", \"side\": \"real\", \"what\": \"" what       \
    "\", \"code\": \"" code "\""
#define ROW(fields) "mappings: [{topic: \"a/{pair}/{side}/{who}\", event: " fields "}]"

static void test_rows(void)
{
    static const struct {
        const char *row, *yaml, *topic, *payload, *line, *raw;
    } rows[] = {
        {"text",
         ROW("reply, format: text, fields: {status: {at: 1, map: {OK: done}}, "
             "values.x_m: {at: 2, unit: cm}, values.word: {at: 3, optional: true}}"),
         "a/r1/real/z", " OK\t5 fine \r\n",
         "{\"event\": \"reply\", \"pair\": \"r1\", \"side\": \"real\", \"status\": \"done\", "
         "\"values\": {\"x_m\": 0.05, \"word\": \"a text\"}}",
         "{\"status\":\"done\",\"values\":{\"x_m\":0.05,\"word\":\"fine\"}}"},
        {"brackets",
         ROW("telemetry, format: csv, columns: 2, fields: {nu.0: {at: 1}, nu.1: {at: 2}}"),
         "a/r1/real/z", "[ +1.5 , .5]\n",
         "{\"event\": \"telemetry\", \"pair\": \"r1\", \"side\": \"real\", \"nu\": [1.5, 0.5]}",
         ""},
        {"separator",
         ROW("telemetry, format: csv, separator: \"::\", fields: {nu.0: {at: 2, scale: 2, "
             "offset: 1}}"),
         "a/r1/real/z", "x::3::",
         "{\"event\": \"telemetry\", \"pair\": \"r1\", \"side\": \"real\", \"nu\": [7]}", ""},
        {"tab", ROW("telemetry, format: text, separator: tab, fields: {nu.0: {at: 2}}"),
         "a/r1/real/z", "a b\t4",
         "{\"event\": \"telemetry\", \"pair\": \"r1\", \"side\": \"real\", \"nu\": [4]}", ""},
        {"level", ROW("reply, format: text, fields: {status: done, id: {topic: who}}"),
         "a/r1/virtual/c 7", "",
         "{\"event\": \"reply\", \"pair\": \"r1\", \"side\": \"virtual\", \"id\": \"c 7\", "
         "\"status\": \"done\"}",
         "{\"status\":\"done\",\"id\":\"c 7\"}"},
        {"pointers",
         ROW("telemetry, fields: {t: {path: /t/sec, plus: {path: /t/nsec, unit: ns, plus: "
             "{path: \"/t/a~1b~0c\", unit: ms, optional: true}}}, pose.0: {path: \"/p/1/x\"}, "
             "seq: {path: /t}}"),
         "a/r1/real/z",
         "{\"p\":[0,{\"x\":2}],\"t\":{\"sec\":5,\"nsec\":250000000,\"a/b~c\":250}}",
         "{\"event\": \"malformed\", \"pair\": \"r1\", \"side\": \"real\", \"what\": "
         "\"telemetry\", \"code\": \"unexpected_value\"",
         ""},
        {"sum",
         ROW("telemetry, fields: {t: {path: /t/sec, plus: {path: /t/nsec, unit: ns, plus: "
             "{path: \"/t/a~1b~0c\", unit: ms, optional: true}}}, pose.0: {path: \"/p/1/x\"}}"),
         "a/r1/real/z",
         "{\"p\":[0,{\"x\":\"2e0\"}],\"t\":{\"sec\":5,\"nsec\":250000000,\"a\\/b~c\":250}}",
         "{\"event\": \"telemetry\", \"pair\": \"r1\", \"side\": \"real\", \"t\": 5.5, "
         "\"pose\": [2]}",
         ""},
        {"whole", ROW("telemetry, fields: {nu.0: {path: \"\", scale: 0.5}}"), "a/r1/real/z",
         "3", "{\"event\": \"telemetry\", \"pair\": \"r1\", \"side\": \"real\", \"nu\": [1.5]}",
         ""},
        {"gap",
         ROW("telemetry, fields: {nu.0: {path: /a}, nu.2: {path: /c}, nu.1: {path: /b, "
             "optional: true}}"),
         "a/r1/real/z", "{\"a\":1,\"c\":3,\"b\":null}",
         "{\"event\": \"malformed\", \"pair\": \"r1\", \"side\": \"real\", \"what\": "
         "\"telemetry\", \"code\": \"missing_key\"",
         ""},
        {"twice", ROW("telemetry, fields: {nu.0: {path: /a/b}}"), "a/r1/real/z",
         "{\"a\":{\"b\":1},\"a\":{}}",
         "{\"event\": \"malformed\", \"pair\": \"r1\", \"side\": \"real\", \"what\": "
         "\"telemetry\", \"code\": \"bad_syntax\"",
         ""},
        {"truth",
         ROW("reply, fields: {status: {path: /ok, map: {\"true\": done, \"null\": error}}, id: "
             "{path: /n}}"),
         "a/r1/real/z", "{\"n\":12,\"ok\":null}",
         "{\"event\": \"reply\", \"pair\": \"r1\", \"side\": \"real\", \"id\": \"12\", "
         "\"status\": \"error\"}",
         "{\"status\":\"error\",\"id\":\"12\"}"},
        {"no truth is a number", ROW("telemetry, fields: {nu.0: {path: /a}}"), "a/r1/real/z",
         "{\"a\":true}",
         "{\"event\": \"malformed\", \"pair\": \"r1\", \"side\": \"real\", \"what\": "
         "\"telemetry\", \"code\": \"unexpected_value\"",
         ""},
        {"iso", ROW("telemetry, fields: {t: {path: /t, unit: iso8601}}"), "a/r1/real/z",
         "{\"t\":\"2026-11-20T05:44:41.520000001+01:00\"}",
         "{\"event\": \"telemetry\", \"pair\": \"r1\", \"side\": \"real\", \"t\": "
         "1795149881.52}",
         ""},
        {"iso without zone", ROW("telemetry, fields: {t: {path: /t, unit: iso8601}}"),
         "a/r1/real/z", "{\"t\":\"2026-11-20 05:44:41,52\"}", TELEMETRY "\"t\": 1795153481.52}",
         ""},
        {"iso with the field's zone",
         ROW("telemetry, fields: {t: {path: /t, unit: iso8601, zone: -05:30}}"), "a/r1/real/z",
         "{\"t\":\"2026-11-20 05:44:41.52\"}", TELEMETRY "\"t\": 1795173281.52}", ""},
        {"iso with its own zone",
         ROW("telemetry, format: text, separator: tab, fields: {t: {at: 1, unit: iso8601, "
             "zone: -05:30}}"),
         "a/r1/real/z", "2026-11-20 05:44:41.52 +0100", TELEMETRY "\"t\": 1795149881.52}", ""},
        {"no iso", ROW("telemetry, fields: {t: {path: /t, unit: iso8601}}"), "a/r1/real/z",
         "{\"t\":\"2026-11-20\"}", MALFORMED("telemetry", "unexpected_value"), ""},
        {"item by a member",
         ROW("telemetry, fields: {pose.0: {path: \"/v/[id=L1.Pos]/v\"}, nu.0: "
             "{path: \"v[id=L1.Vel].v\", optional: true}}"),
         "a/r1/real/z", "{\"v\":[{\"v\":0.5,\"id\":\"L1.Vel\"},{\"id\":\"L1.Pos\",\"v\":7}]}",
         TELEMETRY "\"pose\": [7], \"nu\": [0.5]}", ""},
        {"item of another order",
         ROW("telemetry, fields: {pose.0: {path: \"/v/[id=L1.Pos]/v\"}, nu.0: {path: "
             "\"v[id=L1.Vel].v\", optional: true}}"),
         "a/r1/real/z", "{\"v\":[3,{\"id\":\"L1\\u002ePos\",\"v\":7.5}]}",
         TELEMETRY "\"pose\": [7.5]}", ""},
        {"a pose of 1e300", ROW("telemetry, fields: {pose.0: {path: /p}}"), "a/r1/real/z",
         "{\"p\":1e300}", MALFORMED("telemetry", "out_of_range"), ""},
        {"no such item", ROW("telemetry, fields: {pose.0: {path: \"/v/[id=L1.Pos]/v\"}}"),
         "a/r1/real/z", "{\"v\":[{\"id\":\"L1.Vel\",\"v\":7}]}",
         MALFORMED("telemetry", "missing_key"), ""},
        {"two such items", ROW("telemetry, fields: {pose.0: {path: \"/v/[id=a]/v\"}}"),
         "a/r1/real/z", "{\"v\":[{\"id\":\"a\",\"v\":7},{\"id\":\"a\",\"v\":8}]}",
         MALFORMED("telemetry", "bad_syntax"), ""},
        {"item by a number, and its place",
         ROW("telemetry, fields: {pose.0: {path: \"/[n=7]/v\"}, pose.1: {path: /1/v}, pose.2: "
             "{path: \"/[ok=true]/w/[k=a/b=c]/0\"}}"),
         "a/r1/real/z",
         "[{\"n\":1,\"v\":1},{\"v\":2,\"n\":7.0,\"ok\":true,\"w\":[{\"k\":\"a/"
         "b=c\",\"0\":3}]}]",
         TELEMETRY "\"pose\": [2, 2, 3]}", ""},
        {"a name in brackets", ROW("telemetry, fields: {pose.0: {path: \"/[a=b]/v\"}}"),
         "a/r1/real/z", "{\"[a=b]\":{\"v\":4}}", TELEMETRY "\"pose\": [4]}", ""},
        {"decimal comma",
         ROW("telemetry, format: csv, separator: \";\", decimal: comma, fields: {nu.0: {at: "
             "1}, "
             "nu.1: {at: 2, unit: cm}}"),
         "a/r1/real/z", "-0,25;7", TELEMETRY "\"nu\": [-0.25, 0.07]}", ""},
        {"decimal comma in quotes",
         ROW("telemetry, decimal: comma, fields: {nu.0: {path: /a}, nu.1: {path: /b}}"),
         "a/r1/real/z", "{\"a\":\"1,5\",\"b\":2.5}", TELEMETRY "\"nu\": [1.5, 2.5]}", ""},
        {"grouped digits", ROW("telemetry, decimal: comma, fields: {nu.0: {path: /a}}"),
         "a/r1/real/z", "{\"a\":\"1.234,5\"}", MALFORMED("telemetry", "unexpected_value"), ""},
        {"a comma that nobody announced", ROW("telemetry, fields: {nu.0: {path: /a}}"),
         "a/r1/real/z", "{\"a\":\"1,5\"}", MALFORMED("telemetry", "unexpected_value"), ""},
        {"quaternion",
         ROW("telemetry, fields: {pose.0: {path: /q, unit: quaternion}, pose.1: {path: /q/z}}"),
         "a/r1/real/z",
         "{\"q\":{\"x\":0,\"y\":0,\"z\":-0.7071067811865476,\"w\":0.7071067811865476}}",
         "{\"event\": \"telemetry\", \"pair\": \"r1\", \"side\": \"real\", \"pose\": "
         "[-1.570796327, -0.707106781]}",
         ""},
        {"no quaternion", ROW("telemetry, fields: {pose.0: {path: /q, unit: quaternion}}"),
         "a/r1/real/z", "{\"q\":{\"x\":0,\"y\":0,\"z\":0,\"w\":0}}",
         "{\"event\": \"malformed\", \"pair\": \"r1\", \"side\": \"real\", \"what\": "
         "\"telemetry\", \"code\": \"unexpected_value\"",
         ""},
        {"far", ROW("telemetry, fields: {t: {path: /t}}"), "a/r1/real/z", "{\"t\":1e12}",
         "{\"event\": \"malformed\", \"pair\": \"r1\", \"side\": \"real\", \"what\": "
         "\"telemetry\", \"code\": \"out_of_range\"",
         ""},
        {"negative", ROW("telemetry, format: text, fields: {seq: {at: 1}}"), "a/r1/real/z",
         "-1",
         "{\"event\": \"malformed\", \"pair\": \"r1\", \"side\": \"real\", \"what\": "
         "\"telemetry\", \"code\": \"out_of_range\"",
         ""},
        {"overflow", ROW("telemetry, format: text, fields: {nu.0: {at: 1, scale: 1e200}}"),
         "a/r1/real/z", "1e200",
         "{\"event\": \"malformed\", \"pair\": \"r1\", \"side\": \"real\", \"what\": "
         "\"telemetry\", \"code\": \"out_of_range\"",
         ""},
        {"long id", ROW("reply, format: text, fields: {status: done, id: {at: 1}}"),
         "a/r1/real/z", "1234567890123456789012345678901234567890123456789",
         "{\"event\": \"malformed\", \"pair\": \"r1\", \"side\": \"real\", \"what\": "
         "\"reply\", \"code\": \"unexpected_value\"",
         ""},
        {"unknown status", ROW("reply, format: text, fields: {status: {at: 1}}"), "a/r1/real/z",
         "fine",
         "{\"event\": \"malformed\", \"pair\": \"r1\", \"side\": \"real\", \"what\": "
         "\"reply\", \"code\": \"unknown_value\"",
         ""},
        {"no UTF-8", ROW("reply, format: text, fields: {status: done, id: {at: 1}}"),
         "a/r1/real/z", "ab\xff",
         "{\"event\": \"malformed\", \"pair\": \"r1\", \"side\": \"real\", \"what\": "
         "\"reply\", \"code\": \"bad_syntax\"",
         ""},
        {"control", ROW("reply, fields: {status: {path: /a}}"), "a/r1/real/z",
         "{\"a\":\"x\\u001b\\u0000y\"}",
         "{\"event\": \"malformed\", \"pair\": \"r1\", \"side\": \"real\", \"what\": "
         "\"reply\", \"code\": \"unexpected_value\"",
         ""},
        {"kept",
         ROW("reply, fields: {values.b: {path: /b}, status: {path: /s}, values.a: {path: /a}, "
             "detail: {path: /why}}"),
         "a/r1/real/z", "{\"s\":\"halted\",\"a\":1,\"b\":2,\"why\":\"a \\\"wall\\\"\"}",
         "{\"event\": \"reply\", \"pair\": \"r1\", \"side\": \"real\", \"status\": \"halted\", "
         "\"detail\": \"a \\\"wall\\\"\", \"values\": {\"b\": 2, \"a\": 1}}",
         "{\"status\":\"halted\",\"detail\":\"a \\\"wall\\\"\",\"values\":{\"b\":2,\"a\":1}}"},
        {"number as map",
         ROW("connection, format: text, fields: {state: {at: 1, map: {\"1\": online}}, boot: "
             "{at: 2}}"),
         "a/r1/real/z", "1 b7",
         "{\"event\": \"connection\", \"pair\": \"r1\", \"side\": \"real\", \"state\": "
         "\"online\", \"boot\": \"b7\"}",
         ""},
        {"rolled back", ROW("connection, format: text, fields: {state: {at: 1}}"),
         "a/r1/real/z", "", "", ""},
        {"command",
         "mappings: [{topic: \"+/{pair}/#\", event: command, format: text, fields: {op: {at: "
         "1}, "
         "rotation_rad: {at: 2, unit: turn, optional: true}, t: {at: 3, unit: us, optional: "
         "true}}}]",
         "x/r1", "go -0.5 1500000",
         "{\"event\": \"command\", \"pair\": \"r1\", \"op\": \"go\", \"rotation_rad\": "
         "-3.141592654, "
         "\"displacement_m\": 0, \"t\": 1.5}",
         "{\"op\":\"go\",\"rotation_rad\":-3.141592653589793,\"t\":1.5}"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char code[ERR_TEXT_MAX];
        struct seen seen;
        struct mapping_table *table = read_table(rows[i].yaml, code);
        CHECK_TEXT(rows[i].row, code, "none");
        if (!table) {
            continue;
        }
        CHECK_INT(rows[i].row,
                  decode_copy(table, "r1", rows[i].topic, rows[i].payload,
                              strlen(rows[i].payload), &seen),
                  MAPPING_DECODED);
        CHECK_INT(rows[i].row, seen.count, rows[i].line[0] != '\0');
        CHECK_TEXT(rows[i].row, seen.line, rows[i].line);
        CHECK_TEXT(rows[i].row, seen.raw, rows[i].raw);
        mapping_table_free(table);
    }
}

/* A move to a target is the way from the pose that was reported last. */
static void test_targets(void)
{
    static const char yaml[] =
        "mappings:\n"
        "  - {topic: \"t/{pair}/{side}\", event: telemetry, format: text, fields: {pose.0: "
        "{at: "
        "1},\n"
        "     pose.1: {at: 2, optional: true}, pose.2: {at: 3, unit: deg, optional: true}}}\n"
        "  - {topic: \"a/{pair}/{side}\", event: reply, format: text, fields: {status: done,\n"
        "     values.x_m: {at: 1}, values.y_m: {at: 2}, values.psi_rad: {at: 3, unit: deg}}}\n"
        "  - {topic: \"c/{pair}\", event: command, only: \"P\", format: text, fields: {op: "
        "go,\n"
        "     target_x_m: {at: 2, unit: mm}, target_y_m: {at: 3, unit: mm}}}\n"
        "  - {topic: \"c/{pair}\", event: command, only: \"X\", format: text, fields: {op: "
        "go,\n"
        "     target_x_m: {at: 2, unit: mm}}}\n"
        "  - {topic: \"c/{pair}\", event: command, format: text, fields: {op: go,\n"
        "     target_psi_rad: {at: 2, unit: deg}}}\n";
    static const struct {
        const char *row, *topic, *payload, *line, *raw;
    } rows[] = {
        {"too early", "c/r1", "P 3000 4000", "\"not_accepted\"", ""},
        {"one axis", "t/r1/real", "2", "\"pose\": [2]", ""},
        {"an axis is no point", "c/r1", "P 3000 4000", "\"not_accepted\"", ""},
        {"back on the axis", "c/r1", "X 500", "\"displacement_m\": -1.5", ""},
        {"a pose", "a/r1/virtual", "1 1 90", "\"done\"", ""},
        {"to a point", "c/r1", "P 4000 5000",
         "\"rotation_rad\": -0.643501109, \"displacement_m\": 5",
         "{\"op\":\"go\",\"rotation_rad\":-0.643501108793284"},
        {"the real robot's counts", "t/r1/real", "4 5 170", "\"pose\": [4, 5,", ""},
        {"at it already", "c/r1", "P 4000 5000", "\"rotation_rad\": 0, \"displacement_m\": 0",
         ""},
        {"the short way round", "c/r1", "T -170",
         "\"rotation_rad\": 0.34906585, \"displacement_m\": 0", ""},
    };
    char code[ERR_TEXT_MAX];
    struct seen seen;
    struct mapping_table *table = read_table(yaml, code);
    CHECK_TEXT("table", code, "none");
    memset(poses, 0, sizeof poses);
    for (size_t i = 0; table && i < COUNT(rows); i++) {
        CHECK_INT(rows[i].row,
                  decode_copy(table, "r1", rows[i].topic, rows[i].payload,
                              strlen(rows[i].payload), &seen),
                  MAPPING_DECODED);
        if (!strstr(seen.line, rows[i].line)) {
            CHECK_TEXT(rows[i].row, seen.line, rows[i].line);
        }
        CHECK(rows[i].row, strstr(seen.raw, rows[i].raw));
    }
    mapping_table_free(table);
}

/* A message with all robots of a fleet: each pair's row finds its own. */
static void test_fleet(void)
{
    static const char yaml[] =
        "mappings:\n"
        "  - {topic: fleet, side: real, event: telemetry,\n"
        "     fields: {pose.0: {path: \"/robots/[name={pair}]/x\", optional: true}}}\n";
    static const struct {
        const char *row, *pair, *payload;
        enum mapping_outcome outcome;
        const char *line;
    } rows[] = {
        {"first", "r1", "{\"robots\":[{\"name\":\"r1\",\"x\":1},{\"name\":\"r2\",\"x\":2}]}",
         MAPPING_DECODED, "\"pose\": [1]"},
        {"second", "r2", "{\"robots\":[{\"name\":\"r1\",\"x\":1},{\"x\":2,\"name\":\"r2\"}]}",
         MAPPING_DECODED, "\"pose\": [2]"},
        {"of others", "r3", "{\"robots\":[{\"name\":\"r1\",\"x\":1}]}", MAPPING_PASSED, ""},
        {"without a place", "r1", "{\"robots\":[{\"name\":\"r1\"}]}", MAPPING_DECODED,
         "\"telemetry\""},
        {"broken", "r3", "{\"robots\":[", MAPPING_DECODED, "\"bad_syntax\""},
    };
    char code[ERR_TEXT_MAX];
    struct seen seen;
    struct mapping_table *table = read_table(yaml, code);
    CHECK_TEXT("table", code, "none");
    for (size_t i = 0; table && i < COUNT(rows); i++) {
        CHECK_INT(rows[i].row,
                  decode_copy(table, rows[i].pair, "fleet", rows[i].payload,
                              strlen(rows[i].payload), &seen),
                  rows[i].outcome);
        CHECK(rows[i].row, strstr(seen.line, rows[i].line));
    }
    mapping_table_free(table);
}

/* The first row that fits wins: by topic, pair, and what the payload is. */
static void test_order(void)
{
    static const char yaml[] =
        "mappings:\n"
        "  - {topic: \"s/+/{pair}\", only: \"(D|H) \", event: reply, side: real, format: "
        "text,\n"
        "     fields: {status: {at: 1, map: {D: done, H: halted}}}}\n"
        "  - {topic: \"s/x/{pair}\", only: \".*B$\", event: connection, side: real, format: "
        "text,\n"
        "     fields: {state: online}}\n"
        "  - {topic: \"s/x/y\", pair: r2, event: connection, side: real, format: text,\n"
        "     fields: {state: offline}}\n";
    static const struct {
        const char *row, *pair, *topic, *payload;
        enum mapping_outcome outcome;
        const char *status;
    } rows[] = {
        {"first", "r1", "s/x/r1", "D 1", MAPPING_DECODED, "\"done\""},
        {"first as well", "r1", "s/x/r1", "H B", MAPPING_DECODED, "\"halted\""},
        {"second", "r1", "s/x/r1", "xB", MAPPING_DECODED, "\"online\""},
        {"from its beginning on", "r1", "s/x/r1", " D 1", MAPPING_PASSED, ""},
        {"empty", "r1", "s/x/r1", "", MAPPING_PASSED, ""},
        {"of another pair", "r1", "s/x/r2", "D 1", MAPPING_NOBODY, ""},
        {"named", "r2", "s/x/y", "q", MAPPING_DECODED, "\"offline\""},
        {"not its own", "r1", "s/x/y", "q", MAPPING_NOBODY, ""},
        {"longer", "r1", "s/x/r1/z", "D 1", MAPPING_NOBODY, ""},
        {"shorter", "r1", "s/x", "D 1", MAPPING_NOBODY, ""},
        {"nothing", "", "s/x/", "D 1", MAPPING_NOBODY, ""},
    };
    char code[ERR_TEXT_MAX];
    struct seen seen;
    struct mapping_table *table = read_table(yaml, code);
    CHECK_TEXT("table", code, "none");
    for (size_t i = 0; table && i < COUNT(rows); i++) {
        CHECK_INT(rows[i].row,
                  decode_copy(table, rows[i].pair, rows[i].topic, rows[i].payload,
                              strlen(rows[i].payload), &seen),
                  rows[i].outcome);
        CHECK(rows[i].row, strstr(seen.line, rows[i].status));
    }
    CHECK("no sample", table && !mapping_is_sample(&table->mapping, "s/x/r1"));
    mapping_table_free(table);
}

/* ---- refusals ---- */

static void test_refused(void)
{
    static const struct {
        const char *yaml, *code;
    } rows[] = {
        {ROW("reply, fields: {status: {path: result.ok}}"), "bad_pointer"},
        {ROW("reply, fields: {status: {path: \"results[0].ok\"}}"), "bad_pointer"},
        {ROW("reply, fields: {stats: {path: /a}}"), "unknown_key"},
        {ROW("reply, fields: {status: done, t: {path: /a, zone: +02:00}}"), "not_applicable"},
        {ROW("reply, fields: {status: done, t: {path: /a, unit: iso8601, zone: Berlin}}"),
         "unknown_value"},
        {ROW("reply, format: csv, decimal: comma, fields: {status: done}"), "conflicting_keys"},
        {ROW("command, fields: {op: go, target_y_m: {path: /y}}"), "conflicting_keys"},
        {ROW("command, fields: {op: go, target_x_m: {path: /x}, rotation_rad: {path: /y}}"),
         "conflicting_keys"},
        {"mappings: []\nsend: [{event: command, side: real, topic: a, text: \"{target_x_m}\"}]",
         "unknown_key"},
        {ROW("reply, fields: {status: {path: /a, at: 1}}"), "conflicting_keys"},
        {ROW("reply, fields: {status: {}}"), "conflicting_keys"},
        {ROW("reply, fields: {status: done, t: {path: /a, unit: minutes}}"), "unknown_unit"},
        {ROW("reply, fields: {t: {path: /a}}"), "missing_key"},
        {ROW("reply, fields: {status: {topic: whom}}"), "unknown_name"},
        {ROW("replies, fields: {status: done}"), "unknown_value"},
        {ROW("reply, format: xml, fields: {status: done}"), "unknown_value"},
        {ROW("reply, format: text, fields: {status: {path: /a}}"), "not_applicable"},
        {ROW("reply, fields: {status: {at: 1}}"), "not_applicable"},
        {ROW("reply, format: csv, fields: {status: {at: 0}}"), "out_of_range"},
        {ROW("reply, fields: {status: fine}"), "unknown_value"},
        {ROW("reply, fields: {status: {path: /a, map: {OK: fine}}}"), "unknown_value"},
        {ROW("reply, fields: {status: done, t: {path: /a, unit: cm}}"), "unknown_unit"},
        {ROW("reply, fields: {status: done, id: {path: /a, unit: cm}}"), "unknown_unit"},
        {ROW("reply, fields: {status: done, t: {value: now}}"), "not_a_number"},
        {ROW("reply, fields: {status: done, t: {path: /a, scale: 0}}"), "out_of_range"},
        {ROW("reply, fields: {status: done, t: {path: /a, unti: s}}"), "unknown_key"},
        {ROW("reply, fields: {status: done, id: {path: /a, plus: {path: /b}}}"),
         "not_applicable"},
        {ROW("reply, only: \"(\", fields: {status: done}"), "bad_syntax"},
        {ROW("reply, only: '(a)\\1', fields: {status: done}"), "bad_syntax"},
        {ROW("reply, feilds: {status: done}"), "unknown_key"},
        {ROW("telemetry, fields: {pose.6: {path: /a}}"), "unknown_key"},
        {"mappings: [{topic: \"a/{side}\", event: reply, fields: {status: done}}]",
         "missing_key"},
        {"mappings: [{topic: \"a/{pair}\", event: reply, fields: {status: done}}]",
         "missing_key"},
        {"mappings: [{topic: \"a/{pair}\", side: left, event: reply, fields: {status: done}}]",
         "unknown_value"},
        {"mappings: [{topic: \"a/{pair}/{side}\", sides: {l: left}, event: reply, fields: "
         "{status: done}}]",
         "unknown_value"},
        {"mappings: [{topic: \"a{pair}\", event: command, fields: {op: go}}]", "bad_topic"},
        {"mappings: [{topic: \"#/{pair}\", event: command, fields: {op: go}}]", "bad_topic"},
        {"mappings: [{event: command, fields: {op: go}}]", "bad_topic"},
        {"mapping: []", "unknown_key"},
        {"send: []", "list_expected"},
        {"mappings: []\nsend: [{event: reply, side: real, topic: a, text: b}]",
         "unknown_value"},
        {"mappings: []\nsend: [{event: command, topic: a, text: b}]", "missing_key"},
        {"mappings: []\nsend: [{event: command, side: real, topic: a}]", "unknown_value"},
        {"mappings: []\nsend: [{event: command, side: real, topic: a, text: \"{rotation}\"}]",
         "unknown_key"},
        {"mappings: []\nsend: [{event: command, side: real, topic: a, text: x, fields: {op: "
         "{map: {a: go}}}}]",
         "unknown_name"},
        {"mappings: []\nsend: [{event: command, side: real, topic: a, json: {a: "
         "{rotation_rad}}}]",
         "text_expected"},
        {"mappings: []\nsend: [{event: command, side: real, topic: a, text: \"{op}\", fields: "
         "{op: {at: 1}}}]",
         "conflicting_keys"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char code[ERR_TEXT_MAX];
        struct mapping_table *table = read_table(rows[i].yaml, code);
        CHECK(rows[i].yaml, table == NULL);
        CHECK_TEXT(rows[i].yaml, code, rows[i].code);
        mapping_table_free(table);
    }
}

/* ---- what goes out ---- */

static void test_out(void)
{
    static const char yaml[] =
        "mappings: []\n"
        "send:\n"
        "  - {event: command, op: go, topic: \"c/{pair}/{side}/cmd\", sides: {bt: real},\n"
        "     text: \"1 {rotation_rad} {displacement_m}\",\n"
        "     fields: {rotation_rad: {unit: deg, scale: -1, digits: 0}, displacement_m: {unit: "
        "cm}}}\n"
        "  - {event: command, op: halt, side: real, topic: \"c/{pair}/stop/{id}\", text: "
        "\"{op} {t}!\",\n"
        "     fields: {op: {map: {\"4\": halt}}}}\n"
        "  - {event: command, op: halt, side: virtual, topic: \"c/{pair}\",\n"
        "     json: {op: \"{op}\", id: \"{id}\", at: \"{t}\", s: \"of {pair}: {id}\", on: "
        "true, n: -1.5,\n"
        "            list: [\"{displacement_m}\", null, \"x\"], \"a\\\"b\": {deep: "
        "\"{/more/x}\"}},\n"
        "     fields: {op: {map: {\"4\": halt}}, displacement_m: {offset: 1}}}\n"
        "  - {event: command, op: look, side: real, topic: t, text: \"{op}\", fields: {op: "
        "{map: {a: b}}}}\n"
        "  - {event: parameters, topic: \"p/{pair}\", text: \"v={/version} w={speed}\",\n"
        "     fields: {speed: {path: /values/w, unit: deg, digits: 1}}}\n";
    static const struct {
        enum codec_kind kind;
        enum side side;
        const char *native;
        enum mapping_outcome outcome;
        const char *topic, *payload;
    } rows[] = {
        {CODEC_COMMAND, SIDE_REAL,
         "{\"op\":\"go\",\"rotation_rad\":-1.5707963267948966,\"displacement_m\":0.5}",
         MAPPING_DECODED, "c/r1/bt/cmd", "1 90 50"},
        {CODEC_COMMAND, SIDE_VIRTUAL, "{\"displacement_m\":0.123456,\"op\":\"go\"}",
         MAPPING_DECODED, "c/r1/virtual/cmd", "1 0 12.3456"},
        {CODEC_COMMAND, SIDE_REAL, "{\"op\":\"halt\",\"id\":\"c7\",\"t\":1.25}",
         MAPPING_DECODED, "c/r1/stop/c7", "4 1.25!"},
        {CODEC_COMMAND, SIDE_REAL, "{\"op\":\"halt\",\"id\":\"c/7\"}", MAPPING_PASSED, "", ""},
        {CODEC_COMMAND, SIDE_REAL, "{\"op\":\"halt\"}", MAPPING_PASSED, "", ""},
        {CODEC_COMMAND, SIDE_VIRTUAL,
         "{\"op\":\"halt\",\"id\":\"a\\\"\\n\",\"more\":{\"x\":[1]}}", MAPPING_DECODED, "c/r1",
         "{\"op\":4,\"id\":\"a\\\"\\u000a\",\"at\":null,\"s\":\"of r1: "
         "a\\\"\\u000a\",\"on\":true,\"n\":-1.5,"
         "\"list\":[-1,null,\"x\"],\"a\\\"b\":{\"deep\":[1]}}"},
        {CODEC_COMMAND, SIDE_REAL, "{\"op\":\"look\"}", MAPPING_PASSED, "", ""},
        {CODEC_COMMAND, SIDE_REAL, "{\"op\":\"dance\"}", MAPPING_NOBODY, "", ""},
        {CODEC_COMMAND, SIDE_REAL, "no JSON", MAPPING_NOBODY, "", ""},
        {CODEC_PARAMETERS, SIDE_VIRTUAL, "{\"version\":3,\"values\":{\"w\":3.141592653589793}}",
         MAPPING_DECODED, "p/r1", "v=3 w=180.0"},
        {CODEC_PROBE, SIDE_REAL, "{\"probe\":1}", MAPPING_NOBODY, "", ""},
    };
    char code[ERR_TEXT_MAX];
    struct mapping_table *table = read_table(yaml, code);
    CHECK_TEXT("table", code, "none");
    for (size_t i = 0; table && i < COUNT(rows); i++) {
        struct codec_message m;
        const struct codec_out out = {.kind = rows[i].kind,
                                      .pair = "r1",
                                      .side = rows[i].side,
                                      .payload = rows[i].native,
                                      .bytes = strlen(rows[i].native)};
        CHECK_INT(rows[i].native, mapping_encode(&table->mapping, &out, &m), rows[i].outcome);
        if (rows[i].outcome == MAPPING_DECODED) {
            char text[512];
            (void)snprintf(text, sizeof text, "%.*s", (int)m.bytes, m.payload);
            CHECK_TEXT(rows[i].native, m.topic, rows[i].topic);
            CHECK_TEXT(rows[i].native, text, rows[i].payload);
        }
    }
    mapping_table_free(table);
}

/* A message that is sent must not be received as another's; a robot that answers must be
 * commanded. */
static void test_lacks(void)
{
    static const struct {
        const char *row, *yaml;
        bool link;
        const char *why;
    } rows[] = {
        {"echo",
         "mappings: [{topic: \"c/{pair}/+\", event: command, format: text, fields: {op: {at: "
         "1}}}]\n"
         "send: [{event: command, topic: \"c/{pair}/{side}\", text: x}]",
         false,
         "mappings[0] would receive what send[0] sends on c/r1/real; give it another topic"},
        {"of another pair",
         "mappings: [{topic: \"c/{pair}/+\", pair: r2, event: command, format: text, "
         "fields: {op: {at: 1}}}]\nsend: [{event: command, topic: \"c/{pair}/{side}\", text: "
         "x}]",
         false, ""},
        {"mute",
         "mappings: [{topic: \"c/{pair}\", side: virtual, event: reply, fields: {status: "
         "done}}]",
         true,
         "in link mode Tandem commands the robots: a row of send with 'event: command' is "
         "wanted for the virtual one"},
        {"observed",
         "mappings: [{topic: \"c/{pair}\", side: virtual, event: reply, fields: {status: "
         "done}}]",
         false, ""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char code[ERR_TEXT_MAX];
        char lacks[OPTION_WHY_MAX] = "";
        struct mapping_table *table = read_table(rows[i].yaml, code);
        CHECK_TEXT(rows[i].row, code, "none");
        if (table) {
            (void)mapping_table_lacks(&table->mapping, "r1", rows[i].link, lacks);
            CHECK_TEXT(rows[i].row, lacks, rows[i].why);
        }
        mapping_table_free(table);
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("mapping", NULL, NULL);
    CU_add_test(suite, "rows", test_rows);
    CU_add_test(suite, "targets", test_targets);
    CU_add_test(suite, "fleet", test_fleet);
    CU_add_test(suite, "order", test_order);
    CU_add_test(suite, "refused", test_refused);
    CU_add_test(suite, "out", test_out);
    CU_add_test(suite, "lacks", test_lacks);
    const CU_ErrorCode ran = CU_basic_run_tests();
    const unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return ran == CUE_SUCCESS && failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
