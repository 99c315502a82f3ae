#include "base/text/edit_distance.h"
#include "config/labfile/lab_file.h"
#include "config/labfile/lab_secrets.h"

#include "tests/support/check.h"

#include "base/numbers/number.h"
#include "config/options/option_file.h"
/* Its round trip is ours, and its corpus runs here. */
#include "tests/fuzz/fuzz_lab_file.c" // NOLINT(bugprone-suspicious-include)

enum { TEXT_MAX = 1 << 16 };

static enum status parse_text(const char *text, struct lab_file *lab, struct err_list *errors)
{
    *errors = (struct err_list){0};
    *lab = (struct lab_file){0};
    return lab_file_parse(text, strlen(text), "t.yaml", lab, errors);
}

/* --- faults --------------------------------------------------------------------------- */

struct fault_row {
    const char *text;
    unsigned line, column;
    const char *code;
    size_t count; /* of all faults */
};

#define P "pairs: {r1: {}}\n"

/* clang-format off */
static const struct fault_row fault_rows[] = {
    /* unknown keys */
    {P "broker:\n  hots: a\n", 3, 3, "unknown_key", 1},
    {P "brokr: {}\n", 2, 1, "unknown_key", 1},
    {P "broker: {user: a}\n", 2, 10, "unknown_key", 1},
    {P "broker: {pasword_file: a}\n", 2, 10, "unknown_key", 1},
    {P "broker: {tls: {enable: true}}\n", 2, 16, "unknown_key", 1},
    {P "host: a\n", 2, 1, "unknown_key", 1},
    {P "defaults: {timeout_ms: 5}\n", 2, 12, "unknown_key", 1},
    {P "defaults: {tiemout_s: 5}\n", 2, 12, "unknown_key", 1},
    {P "defaults: {window: 50}\n", 2, 12, "unknown_key", 1},
    {P "defaults: {clock: {zzz: 5}}\n", 2, 20, "unknown_key", 1},
    {P "\"\": 5\n", 2, 1, "unknown_key", 1},
    {P "broker.port: 5\n", 2, 1, "unknown_key", 1},
    {"pairs:\n  r1: {timeout: 3}\n", 2, 8, "unknown_key", 1},
    {"pairs:\n  r1: {name: 3}\n", 2, 8, "unknown_key", 1},
    {"pair: {r1: {}}\n", 1, 1, "unknown_key", 2},
    /* wrong type */
    {P "broker: {port: abc}\n", 2, 16, "not_a_number", 1},
    {"pairs: {r1: {plausible: no}}\n", 1, 25, "unknown_value", 1},
    {"pairs: {r1: {dynamics: {model: usv3, hold: spline}}}\n", 1, 44, "unknown_value", 1},
    {P "broker: {port: [1]}\n", 2, 16, "value_expected", 1},
    {P "broker: {port: {a: 1}}\n", 2, 16, "value_expected", 1},
    {P "broker: {port: \"1883\"}\n", 2, 16, "not_a_number", 1},
    {P "broker: {port: 1883.0}\n", 2, 16, "whole_number_expected", 1},
    {P "broker: {port: 1e3}\n", 2, 16, "whole_number_expected", 1},
    {P "broker: {port: }\n", 2, 16, "missing_value", 1},
    {P "broker: {port: ~}\n", 2, 16, "missing_value", 1},
    {P "broker: {port: null}\n", 2, 16, "missing_value", 1},
    {P "broker: {host: 5}\n", 2, 16, "text_expected", 1},
    {P "broker: {host: no}\n", 2, 16, "text_expected", 1},
    {P "broker: {host: \"\"}\n", 2, 16, "missing_value", 1},
    {P "name: 0x10\n", 2, 7, "text_expected", 1},
    {P "http: {enabled: yes}\n", 2, 17, "boolean_expected", 1},
    {P "http: {enabled: True}\n", 2, 17, "boolean_expected", 1},
    {P "http: {enabled: \"true\"}\n", 2, 17, "boolean_expected", 1},
    {P "http: {enabled: 1}\n", 2, 17, "boolean_expected", 1},
    {P "http: [1, 2]\n", 2, 7, "object_expected", 1},
    {P "http: 5\n", 2, 7, "object_expected", 1},
    {P "http: port:5\n", 2, 7, "bad_syntax", 1},
    {P "broker: {protocol: 4}\n", 2, 20, "unknown_value", 1},
    {P "defaults: {mode: Link}\n", 2, 18, "unknown_value", 1},
    {P "defaults: {kind: [diffdrive]}\n", 2, 18, "value_expected", 1},
    {P "defaults: []\n", 2, 11, "object_expected", 1},
    {"- r1\n- r2\n", 1, 1, "object_expected", 1},
    {"just words\n", 1, 1, "object_expected", 1},
    {"pairs:{r1: {}}\n", 1, 1, "unknown_key", 2},
    {"pairs: [r1, r2]\n", 1, 8, "object_expected", 1},
    {"pairs: r1\n", 1, 8, "object_expected", 1},
    {"pairs: {r1: 5}\n", 1, 13, "object_expected", 1},
    {"pairs: {r1: []}\n", 1, 13, "object_expected", 1},
    /* range, with the unit */
    {P "broker: {port: 0}\n", 2, 16, "out_of_range", 1},
    {P "broker: {port: 65536}\n", 2, 16, "out_of_range", 1},
    {P "broker: {port: -1}\n", 2, 16, "out_of_range", 1},
    {P "broker: {port: 99999999999999999999}\n", 2, 16, "out_of_range", 1},
    {P "broker: {heartbeat_hz: 4.9}\n", 2, 24, "out_of_range", 1},
    {P "defaults: {timeout_s: 0}\n", 2, 23, "out_of_range", 1},
    {P "defaults: {probe_interval_s: 1e-9}\n", 2, 30, "out_of_range", 1},
    {P "defaults: {timeout_s: 1e400}\n", 2, 23, "out_of_range", 1},
    {P "defaults: {value_tolerance_abs: 1e-400}\n", 2, 33, "out_of_range", 1},
    {P "defaults: {outstanding_max: 65}\n", 2, 29, "out_of_range", 1},
    {P "defaults: {calibration: {window: 19}}\n", 2, 34, "out_of_range", 1},
    {P "name: a123456789012345678901234567890123456789012345678901234567890123\n", 2, 7, "too_long", 1},
    /* numbers that other readers take for something else */
    {P "defaults: {timeout_s: nan}\n", 2, 23, "out_of_range", 1},
    {P "defaults: {timeout_s: .nan}\n", 2, 23, "out_of_range", 1},
    {P "defaults: {timeout_s: NaN}\n", 2, 23, "out_of_range", 1},
    {P "defaults: {timeout_s: inf}\n", 2, 23, "out_of_range", 1},
    {P "defaults: {timeout_s: -.inf}\n", 2, 23, "out_of_range", 1},
    {P "defaults: {timeout_s: Infinity}\n", 2, 23, "out_of_range", 1},
    {P "defaults:\n  timeout_s: 0,05\n", 3, 14, "not_a_number", 1},
    {P "defaults: {timeout_s: \"0,05\"}\n", 2, 23, "not_a_number", 1},
    {P "defaults: {timeout_s: 1,05}\n", 2, 25, "unknown_key", 1},
    {P "broker: {port: 1_000}\n", 2, 16, "not_a_number", 1},
    {P "broker: {port: 010}\n", 2, 16, "not_a_number", 1},
    {P "broker: {port: 0x75b}\n", 2, 16, "not_a_number", 1},
    {P "broker: {port: 0o17}\n", 2, 16, "not_a_number", 1},
    {P "defaults: {timeout_s: 10s}\n", 2, 23, "not_a_number", 1},
    {P "defaults: {value_tolerance_ratio: 5%}\n", 2, 35, "not_a_number", 1},
    {P "defaults: {timeout_s: 1:30}\n", 2, 23, "not_a_number", 1},
    {P "defaults: {timeout_s: 1e}\n", 2, 23, "not_a_number", 1},
    {P "defaults: {timeout_s: .}\n", 2, 23, "not_a_number", 1},
    {P "defaults: {timeout_s: --5}\n", 2, 23, "not_a_number", 1},
    /* twice */
    {P "broker:\n  port: 1\n  port: 2\n", 4, 3, "duplicate_name", 1},
    {P "http: {}\nhttp: {port: 5}\n", 3, 1, "duplicate_name", 1},
    {"pairs:\n  r1: {}\n  r2: {}\n  r1: {}\n", 4, 3, "duplicate_name", 1},
    {"pairs:\n  r: {count: 3}\n  r2: {}\n", 3, 3, "duplicate_name", 1},
    {"pairs:\n  r2: {}\n  r: {count: 3}\n", 3, 3, "duplicate_name", 1},
    /* pairs */
    {"name: a\n", 1, 1, "missing_key", 1},
    {"pairs:\n", 1, 7, "missing_key", 1},
    {"pairs: {}\n", 1, 8, "missing_key", 1},
    {"pairs:\n  r 1: {}\n", 2, 3, "bad_name", 1},
    {"pairs:\n  r/1: {}\n", 2, 3, "bad_name", 1},
    {"pairs:\n  \"\": {}\n", 2, 3, "bad_name", 1},
    {"pairs:\n  r\xC3\xA9: {}\n", 2, 3, "bad_name", 1},
    {"pairs:\n  a1234567890123456789012345678901: {}\n", 2, 3, "bad_name", 1},
    {"pairs:\n  a123456789012345678901234567890: {count: 2}\n", 2, 3, "too_long", 1},
    {"pairs: {r: {count: 0}}\n", 1, 20, "out_of_range", 1},
    {"pairs: {r: {count: 100001}}\n", 1, 20, "out_of_range", 1},
    {"pairs:\n  r: {count: 99999}\n  a: {}\n  b: {}\n", 4, 3, "too_many", 1},
    {P "defaults: {count: 2}\n", 2, 19, "not_applicable", 1},
    /* what does not fit together */
    {P "http: {bind: 0.0.0.0}\n", 2, 14, "unsafe_address", 1},
    {P "http: {bind: \"::\"}\n", 2, 14, "unsafe_address", 1},
    {P "http: {bind: lab.example}\n", 2, 14, "unsafe_address", 1},
    {P "http: {bind: 128.0.0.1}\n", 2, 14, "unsafe_address", 1},
    {P "broker: {password_file: x}\n", 2, 25, "needs_key", 1},
    {P "broker: {telemetry_username: x}\n", 2, 30, "needs_key", 1},
    {P "broker: {username: a, telemetry_password_file: x}\n", 2, 48,
     "needs_key", 1},
    {P "broker: {tls: {ca_file: x}}\n", 2, 25, "not_applicable", 1},
    {P "broker: {tls: {enabled: true, cert_file: x}}\n", 2, 42, "needs_key", 1},
    {P "broker: {tls: {enabled: true, key_file: x}}\n", 2, 41, "needs_key", 1},
    {P "broker: {prefix: \"a/#\"}\n", 2, 18, "bad_topic", 1},
    {P "broker: {prefix: tandem/}\n", 2, 18, "bad_topic", 1},
    {P "broker: {prefix: /tandem}\n", 2, 18, "bad_topic", 1},
    {P "broker: {prefix: a//b}\n", 2, 18, "bad_topic", 1},
    {P "broker: {prefix: $SYS}\n", 2, 18, "bad_topic", 1},
    {P "journal: {retain_mb: 10}\n", 2, 22, "inconsistent", 1},
    {P "defaults: {sync_tolerance_s: 31}\n", 2, 30, "inconsistent", 1},
    {"pairs: {r1: {codec: morse}}\n", 1, 21, "unknown_name", 1},
    {"pairs: {r1: {}, r2: {timeout_s: 3}}\ndefaults: {codec: morse}\n", 2, 19, "unknown_name", 1},
    {"pairs: {r1: {real: acme/a}}\n", 1, 20, "not_applicable", 1},
    {"pairs: {r1: {codec: vda5050, virtual: acme/b}}\n", 1, 21, "inconsistent", 1},
    {"pairs: {r1: {codec: vda5050, real: acme/b, virtual: acme/b}}\n", 1, 53, "inconsistent", 1},
    {"pairs: {r1: {codec: vda5050, real: acme, virtual: acme/b}}\n", 1, 36, "inconsistent", 1},
    {"pairs: {r1: {codec: vda5050, real: acme/a, virtual: acme/b, interface: u+}}\n", 1, 72, "inconsistent", 1},
    {"pairs: {r1: {dynamics: {model: usv4}}}\n", 1, 32, "unknown_name", 1},
    {"pairs: {r1: {dynamics: {window: 200}}}\n", 1, 33, "not_applicable", 1},
    {"pairs: {r1: {dynamics: {model: usv3, window: 50}}}\n", 1, 46, "out_of_range", 1},
    {"pairs: {r1: {dynamics: {model: usv3, window: 100, window_s: 300}}}\n", 1, 61, "inconsistent", 1},
    {"pairs: {r1: {dynamics: {model: position_servo, biases: true}}}\n", 1, 56, "method_unsuited", 1},
    {"pairs: {r1: {dynamics: {model: position_servo, method: pem}}}\n", 1, 56, "method_unsuited", 1},
    {"journal: {record: events}\npairs: {r1: {dynamics: {model: usv3}}}\n", 1, 19, "inconsistent", 1},
    {"journal: {record: events}\npairs: {r1: {kind: usv3, mode: link, missions_max: 1}}\n", 1, 19, "inconsistent", 1},
    {"pairs: {r1: {timeout_s: 0.01}}\n", 1, 25, "inconsistent", 1},
    {"defaults: {real_expected: never, virtual_expected: never}\npairs: {r1: {mode: link}}\n", 2, 20, "inconsistent", 1},
    /* teams */
    {"pairs: {r1: {mode: link}}\nteams: {c: {robots: {R1: {pair: r2}}}}\n", 2, 33, "unknown_name", 1},
    {"pairs: {r1: {}}\nteams: {c: {robots: {R1: {pair: r1}}}}\n", 2, 33, "accepts_no_commands", 1},
    {"pairs: {r1: {mode: link}}\nteams:\n  r1: {robots: {R1: {}}}\n", 3, 7, "duplicate_name", 1},
    {"pairs: {r: {count: 2, mode: link}}\nteams:\n  c: {robots: {R1: {pair: r1}, R2: {pair: r2}}}\n  d: {robots: {R1: {pair: r2}}}\n", 4, 27, "duplicate_name", 1},
    {"pairs: {r1: {}}\nteam: {robots: {R1: {}}}\n", 2, 1, "unknown_key", 1},
    {"pairs: {r1: {}}\nteams: {c: {robots: {R1: {}}, lockin: free}}\n", 2, 31, "unknown_key", 1},
    /* parts of YAML that are not read */
    {P "name: &a lab\n", 2, 7, "unsupported", 1},
    {P "name: *a\n", 2, 7, "unsupported", 1},
    {"defaults: &d {timeout_s: 5}\npairs:\n  r1:\n    <<: *d\n", 1, 11, "unsupported", 3},
    {"pairs:\n  r1:\n    <<: {timeout_s: 5}\n", 3, 5, "unsupported", 1},
    {P "broker: {port: !!int 5}\n", 2, 16, "unsupported", 1},
    {P "broker: !x {port: 5}\n", 2, 9, "unsupported", 1},
    {"%TAG ! tag:example.org,2000:\n---\n" P, 1, 1, "unsupported", 1},
    {P "---\npairs: {r2: {}}\n", 2, 1, "unsupported", 1},
    {P "? [a]\n: 5\n", 2, 3, "text_expected", 1},
    {P "? {a: 1}\n: 5\n", 2, 3, "text_expected", 1},
    {"pairs: {r1: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: 1}}}}}}}}}}}}}}}}}}\n", 1, 69, "too_deep", 2},
    {P "name: \"a\\nb\"\n", 2, 7, "bad_encoding", 1},
    {P "name: \"a\\0b\"\n", 2, 7, "bad_encoding", 1},
    {P "\"na\\tme\": b\n", 2, 1, "bad_encoding", 1},
    {P "name: |\n  a\n  b\n", 2, 7, "bad_encoding", 1},
    /* the text itself */
    {"", 1, 1, "empty_file", 1},
    {"# nothing\n\n", 1, 1, "empty_file", 1},
    {"---\n...\n", 1, 1, "empty_file", 1},
    {"\xEF\xBB\xBF", 1, 1, "empty_file", 1},
    {P "broker:\n\tport: 5\n", 3, 1, "bad_syntax", 1},
    {P "broker:\n  \tport: 5\n\thost: a\n", 3, 3, "bad_syntax", 2},
    {P "brokr:\n\tport: 5\n", 2, 1, "unknown_key", 2},
    {"name: a\n\tpairs: {}\n", 2, 1, "bad_syntax", 1},
    {"name: \"a\n\tb\"\npairs: {}\n", 2, 1, "bad_syntax", 1},
    {P "broker:\n\t\tport: 5\n", 3, 1, "bad_syntax", 1},
    {P "name: \xE0\x80\x80\n", 2, 7, "bad_encoding", 1},
    {P "name: caf\xE9\n", 2, 10, "bad_encoding", 1},
    {P "name: \xC0\x80\n", 2, 7, "bad_encoding", 1},
    {P "name: \xED\xA0\x80\n", 2, 7, "bad_encoding", 1},
    {P "name: \xF4\x90\x80\x80\n", 2, 7, "bad_encoding", 1},
    {P "name: a\xE2\x82", 2, 8, "bad_encoding", 1},
    {P "name: a\x01\n", 2, 8, "bad_encoding", 1},
    {P "name: a\xC2\x85\n", 2, 8, "bad_encoding", 1},
    {P "name: a\xE2\x80\xA8\n", 2, 8, "bad_encoding", 1},
    {P "# \xEF\xBB\xBF\n", 2, 3, "bad_encoding", 1},
    {"\xFF\xFEp\0a\0", 1, 1, "bad_encoding", 1},
    /* not YAML */
    {P "name: \"abc\n", 2, 7, "bad_syntax", 1},
    {P "broker: {port: 5\n", 3, 1, "bad_syntax", 1},
    {P "name: @a\n", 2, 7, "bad_syntax", 1},
    {P "broker:\n  port: 5\n host: a\n", 4, 2, "bad_syntax", 1},
    {P "broker: host: a\n", 2, 13, "bad_syntax", 1},
    {P "brokr: {}\nname: @a\n", 2, 1, "unknown_key", 2},
};
/* clang-format on */

static void test_faults(void)
{
    for (size_t i = 0; i < COUNT(fault_rows); i++) {
        const struct fault_row *row = &fault_rows[i];
        struct lab_file lab;
        struct err_list errors;
        CHECK_INT(row->text, parse_text(row->text, &lab, &errors), STATUS_E_PARSE);
        CHECK_INT(row->text, errors.count, row->count);
        CHECK(row->text, lab.pairs == NULL && lab.pair_count == 0);
        bool found = false;
        for (size_t k = 0; k < errors.count; k++) {
            const struct err *e = &errors.items[k];
            found = found || (e->line == row->line && e->column == row->column &&
                              strcmp(fault_name(e->fault), row->code) == 0);
        }
        CHECK(row->text, found);
        err_list_print(&errors, stdout);
    }
}

static void test_all_at_once(void)
{
    struct lab_file lab;
    struct err_list errors;
    CHECK_INT("",
              parse_text("name: 5\nhttp: {port: x, bind: 0.0.0.0}\n"
                         "defaults: {timeout_s: 0.0}\npairs: {r1: {kind: z}, \"a b\": {}}\n"
                         "brokr: 1\n",
                         &lab, &errors),
              STATUS_E_PARSE);
    CHECK_INT("", errors.count, 7);
    for (size_t i = 1; i < errors.count; i++) {
        CHECK("order", errors.items[i - 1].line <= errors.items[i].line);
    }
    CHECK_TEXT("", errors.items[0].where, "t.yaml");
}

static void test_more_than_fit(void)
{
    static char text[TEXT_MAX];
    size_t n = (size_t)snprintf(text, sizeof text, "pairs:\n");
    for (int i = 0; i < 100; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "  r%d: {kind: x}\n", i);
    }
    struct lab_file lab;
    struct err_list errors;
    CHECK_INT("", parse_text(text, &lab, &errors), STATUS_E_PARSE);
    CHECK_INT("", errors.count, ERR_LIST_MAX);
    CHECK_INT("", errors.more, 100 - ERR_LIST_MAX);
    char *printed = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&printed, &bytes);
    err_list_print(&errors, out);
    (void)fclose(out);
    CHECK("", strstr(printed, "tandem: t.yaml:2:14: pairs.r0.kind: 'x' ") != NULL);
    CHECK("", strstr(printed, "tandem: and 68 more faults\n") != NULL);
    free(printed);
    /* Without an error structure: the status is enough. */
    CHECK_INT("", lab_file_parse(text, n, "t", &lab, NULL), STATUS_E_PARSE);
}

/* --- values --------------------------------------------------------------------------- */

static void test_values(void)
{
    struct lab_file lab;
    struct err_list errors;
    const char *text =
        "name: \"L\xC3\xA4"
        "b\"\n"
        "broker: {host: broker.lab, port: 8883, protocol: 3.1.1, "
        "username: u, heartbeat_hz: 5,\n"
        "  tls: {enabled: true, ca_file: /c a.pem}, session_expiry_s: 4294967295}\n"
        "http:\n"
        "journal: {record: events, fsync_s: 0.25, rotate_s: 3600}\n"
        "log: {level: debug}\n"
        "pairs:\n"
        "  r1:\n"
        "  r2: {kind: usv3, mode: link, timeout_s: 2.5e1, virtual_expected: never}\n"
        "  s: {count: 2, clock: {jump_s: +.125}}\n"
        "defaults: {timeout_s: 20, calibration: {walk_ratio: .003, method: huber}}\n";
    CHECK_INT("", parse_text(text, &lab, &errors), STATUS_OK);
    err_list_print(&errors, stdout);
    CU_ASSERT_FATAL(lab.pair_count == 4);
    CHECK_TEXT("", lab.name,
               "L\xC3\xA4"
               "b");
    CHECK_INT("", lab.broker.port, 8883);
    CHECK_INT("", lab.broker.protocol, BROKER_MQTT_3_1_1);
    CHECK_INT("", lab.broker.session_expiry_s, 4294967295LL);
    CHECK_TEXT("", lab.broker.tls.ca_file, "/c a.pem");
    CHECK("", lab.broker.tls.enabled && lab.http.enabled);
    CHECK_INT("", lab.http.port, 8420);
    CHECK_INT("", lab.journal.record, JOURNAL_EVENTS);
    CHECK_INT("", lab.journal.fsync_us, 250000);
    CHECK_INT("", lab.journal.rotate_us, 3600000000LL);
    CHECK_INT("", lab.log.level, LOG_LEVEL_DEBUG);
    CHECK_TEXT("", lab.pairs[0].id, "r1");
    CHECK_INT("", lab.pairs[0].timeout_us, 20000000);
    CHECK_INT("", lab.pairs[0].method, TRAVEL_HUBER);
    CHECK_INT("", lab.pairs[1].kind, PAIR_USV3);
    CHECK_INT("", lab.pairs[1].mode, PAIR_LINK);
    CHECK_INT("", lab.pairs[1].timeout_us, 25000000);
    CHECK_INT("", lab.pairs[1].expected[SIDE_REAL], PAIR_AUTO);
    CHECK_INT("", lab.pairs[1].expected[SIDE_VIRTUAL], PAIR_NEVER);
    CHECK_TEXT("", lab.pairs[2].id, "s1");
    CHECK_TEXT("", lab.pairs[3].id, "s2");
    CHECK_INT("", lab.pairs[3].clock.jump_us, 125000);
    CHECK_NEAR("", lab.pairs[3].kalman.walk_ratio, 0.003, 0.0, 0.0);
    lab_file_free(&lab);
    CHECK_INT("fits",
              parse_text("pairs: {r1: {}, r2: {plausible: off, dynamics: {model: usv3, hold: "
                         "linear}}}\n",
                         &lab, &errors),
              STATUS_OK);
    CHECK("on", lab.pairs[0].dynamics.plausible && !lab.pairs[1].dynamics.plausible);
    CHECK_INT("auto", lab.pairs[0].dynamics.hold, INPUT_INTERPOLATION_AUTO);
    CHECK_INT("linear", lab.pairs[1].dynamics.hold, INPUT_INTERPOLATION_LINEAR);
    lab_file_free(&lab);
}

static void test_accepted(void)
{
    static const char *const rows[] = {
        "pairs: {r1: {}}",
        "pairs: {r1: }",
        "\"pairs\": {'r1': {}}",
        "{\"pairs\": {\"r1\": {\"timeout_s\": 5}}}", /* JSON is YAML */
        "%YAML 1.2\n---\npairs: {r1: {}}\n...\n",
        "\xEF\xBB\xBFpairs: {r1: {}}",
        "pairs:\r\n  r1: {}\r\n",
        "pairs: {lab: {}, 1: {}, yes: {}, -: {}, _: {}, a-b_C9: {}}",
        "pairs: {r1: {}} # caf\xC3\xA9 \xF0\x9F\xA4\x96",
        "pairs: {a123456789012345678901234567890: {}}", /* 31 */
        P "http: {bind: \"::1\"}",
        P "http: {bind: localhost}",
        P "http: {bind: 127.8.9.1}",
        P "http: {bind: 0.0.0.0, token_file: t}",
        P "http: {bind: 0.0.0.0, enabled: false}",
        P "http: {port: 0}",
        P "broker: {protocol: 5}",
        P "broker: {protocol: \"5\"}",
        P "broker: {username: \"5\", password_file: \"no\"}",
        P "broker: {prefix: a/b/c}",
        P "journal: {retain_mb: 0}",
        P "defaults: {timeout_s: 86400}",
        P "defaults: {timeout_s: 0.051}",
        P "defaults:\n",
        P "defaults: {dynamics: {window: 500, promote: auto}}",
        "pairs: {r1: {dynamics: {model: usv3, sides: real, method: pem, hold: linear, "
        "biases: true, refit_s: 0}}, r2: {}}",
        P "name: say \\\"hello\\\" # a comment",
        P "name: 'it''s \"mine\" \\ '",
        P "teams:",
        P "teams: {}",
        P "teams: {c: {robots: {R1: {}, \"2\": {handles: [a, \"5\"]}}, buffers: {B: a}}}",
        "pairs: {r1: {mode: link}}\nteams: {c: {robots: {R1: {pair: r1, sequence: s}}, "
        "sequences: "
        "{s: [Go, {Turn: -1.5}, {If: {part: a, then: [Go]}}]}}, d: {robots: {R1: {}}}}",
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct lab_file lab;
        struct err_list errors;
        CHECK_INT(rows[i], parse_text(rows[i], &lab, &errors), STATUS_OK);
        err_list_print(&errors, stdout);
        if (errors.count == 0) {
            fuzz_round_trip(&lab);
        }
        lab_file_free(&lab);
    }
}

static void check_rows_equal(const struct option_table *table, const void *a, const void *b)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct option_row *row = &table->rows[i];
        if (row->type != OPTION_MAP && strcmp(row->path, "count") != 0) {
            CHECK(row->path, option_equal(row, a, b));
        }
    }
}

static void check_pairs_equal(const struct pair_params *a, const struct pair_params *b)
{
    struct lab_pair rows[2];
    lab_pair_of(a, &rows[0]);
    lab_pair_of(b, &rows[1]);
    check_rows_equal(lab_pair_options(), &rows[0], &rows[1]);
}

/* Every key set to something that is not its default comes back from the print-out. */
static void test_print_reads_back(void)
{
    struct lab_file lab;
    struct lab_file again = {0};
    struct err_list errors;
    const char *text =
        "name: \"a \\\"b\\\" \\\\ c\"\n"
        "broker: {host: h, port: 1, protocol: 3.1.1, client_id: c, prefix: p/q, username: u,\n"
        "  password_file: f, telemetry_username: v, telemetry_password_file: g,\n"
        "  keep_alive_s: 7, session_expiry_s: 0, heartbeat_hz: 5.125,\n"
        "  tls: {enabled: true, ca_file: a, cert_file: b, key_file: k}}\n"
        "http: {enabled: false, bind: \"::1\", port: 0, token_file: t, threads: 4, "
        "connections_max: 9}\n"
        "journal: {dir: d, record: events, rotate_mb: 5, rotate_s: 60.000001, retain_mb: 6,\n"
        "  fsync_s: 0}\n"
        "store: {file: s, commit_ms: 1, retain_days: 3}\n"
        "checkpoint: {file: c, interval_s: 0.1}\n"
        "log: {level: error}\n"
        "defaults: {value_tolerance_abs: 1e-9, value_tolerance_ratio: 0.1, timeout_s: "
        "0.333333,\n"
        "  calibration: {noise_s: 0.012345678901234567, drift_ratio: 0.3333333333333333}}\n"
        "pairs:\n"
        "  r1: {kind: generic, mode: link, record: all, sync_tolerance_s: 0, timeout_s: 1,\n"
        "    value_tolerance_abs: 1e9, outstanding_max: 1, queue_max: 2, real_expected: "
        "always,\n"
        "    virtual_expected: never, probe_interval_s: 1.5, link_cycle_s: 0.0001,\n"
        "    clock: {bucket_s: 2, jump_s: 3, drift_ppm_max: 4},\n"
        "    calibration: {method: tukey, window: 20, publish_every: 1, walk_ratio: 0, "
        "gate_sd: 3,\n"
        "      nominal_angular_speed_radps: 1.1, nominal_linear_speed_mps: 1e-3, warmup: 3}}\n"
        "  r2: {timeout_s: 10}\n"
        "  1: {}\n";
    CHECK_INT("", parse_text(text, &lab, &errors), STATUS_OK);
    err_list_print(&errors, stdout);
    size_t bytes = 0;
    char *printed = fuzz_print(&lab, &bytes);
    /* With a point all YAML readers take it for a number. */
    CHECK("", strstr(printed, "value_tolerance_abs: 1.0e-09\n") != NULL);
    CHECK_INT(printed, lab_file_parse(printed, bytes, "again", &again, &errors), STATUS_OK);
    err_list_print(&errors, stdout);
    CU_ASSERT_FATAL(again.pair_count == lab.pair_count);
    check_rows_equal(&lab_options, &lab, &again);
    check_pairs_equal(&lab.defaults, &again.defaults);
    for (size_t i = 0; i < lab.pair_count; i++) {
        CHECK_TEXT("", again.pairs[i].id, lab.pairs[i].id);
        check_pairs_equal(&lab.pairs[i], &again.pairs[i]);
    }
    free(printed);
    lab_file_free(&again);
    lab_file_free(&lab);
}

/* Pairs that say no more of following than the defaults have it in common. */
static void test_following_shared(void)
{
    static const char text[] = "defaults: {following: {model: usv3, real: iacquabot}}\n"
                               "pairs:\n"
                               "  r1: {}\n"
                               "  r2: {timeout_s: 5}\n"
                               "  r3: {following: {real: wamv}, count: 2}\n"
                               "  r4: {following: {model: \"\"}}\n";
    struct lab_file lab;
    struct err_list errors = {0};
    CHECK_INT("", parse_text(text, &lab, &errors), STATUS_OK);
    err_list_print(&errors, stdout);
    CU_ASSERT_FATAL(lab.pair_count == 5);
    const struct pair_params *p = lab.pairs;
    CHECK("defaults", p[0].following == lab.defaults.following);
    CHECK("other options", p[1].following == p[0].following);
    CHECK("its own", p[2].following != p[0].following);
    CHECK_TEXT("its own", p[2].following->real, "wamv");
    CHECK("one line", p[3].following == p[2].following);
    CHECK("none", !pair_following_wanted(p[4].following));
    lab_file_free(&lab);
}

/* --- tables --------------------------------------------------------------------------- */

static void check_table(const struct option_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct option_row *row = &table->rows[i];
        CHECK(row->path, strlen(row->help) > 10 && row->help[strlen(row->help) - 1] == '.');
        CHECK(row->path, !strchr(row->help, '|')); /* would end the cell of the page */
        CHECK(row->path, option_find(table, row->path) == row);
        const bool number =
            row->type == OPTION_INTEGER || row->type == OPTION_REAL || row->type == OPTION_TIME;
        const double least = row->min < -1.0 ? row->min /* a coordinate; -1: as the model has it */
                             : number && strcmp(row->fallback, "-1") == 0 ? -1.0 : 0.0;
        CHECK(row->path, !number || (row->min <= row->max && row->min >= least));
        CHECK(row->path,
              !number || option_has_fallback(row) || strcmp(row->path, "count") == 0);
        CHECK(row->path, row->type != OPTION_TEXT || row->size <= OPTION_TEXT_MAX);
        /* The unit is the last part of the name. */
        const size_t n = strlen(row->path);
        CHECK(row->path, row->type != OPTION_TIME || strcmp(row->path + n - 2, "_s") == 0);
    }
}

static void test_tables(void)
{
    check_table(&lab_options);
    check_table(lab_pair_options());
    char word[32];
    const struct option_row *method = option_find(lab_pair_options(), "calibration.method");
    CHECK("", option_choice(method, TRAVEL_TUKEY, word, sizeof word));
    CHECK_TEXT("", word, "tukey");
    const struct option_row *kind = option_find(lab_pair_options(), "kind");
    CHECK("", option_choice(kind, PAIR_FIRST_ORDER, word, sizeof word));
    CHECK_TEXT("", word, "first_order");
    CHECK("", !option_choice(kind, PAIR_KIND_COUNT, word, sizeof word));
}

/* Each option changes the hash of the state, except those for display. */
static void test_fingerprint(void)
{
    struct lab_pair pair = {0};
    const struct lab_params params = {.pair_count = 1, .pairs = &pair.params};
    lab_pair_defaults(&pair.params, "r1");
    lab_following_defaults(&pair.following);
    pair.params.following = &pair.following;
    const uint64_t print = lab_fingerprint(&params);
    for (size_t i = 0; i < lab_pair_options()->count; i++) {
        const struct option_row *row = &lab_pair_options()->rows[i];
        struct lab_pair retained = pair;
        char *at = (char *)&pair + row->offset;
        /* Options that set the state's size must stay within its bounds. */
        const bool model = strstr(row->path, ".model") != NULL;
        if (row->type == OPTION_TEXT) {
            (void)snprintf(at, row->size, "%s", model ? "usv3" : "x");
        } else {
            at[0] ^= 1;
        }
        CHECK(row->path, (lab_fingerprint(&params) == print) == row->shown_only);
        pair = retained;
    }
    (void)snprintf(pair.params.id, sizeof pair.params.id, "r2");
    CHECK("id", lab_fingerprint(&params) != print);
}

/* The same holds for teams. */
static void test_fingerprint_of_teams(void)
{
    static const char *const rows[] = {
        "",
        "teams: {c: {robots: {R1: {}}}}",
        "teams: {d: {robots: {R1: {}}}}",
        "teams: {c: {robots: {R2: {}}}}",
        "teams: {c: {robots: {R1: {priority: 1}}}}",
        "teams: {c: {robots: {R1: {handles: a}}}}",
        "teams: {c: {robots: {R1: {handles: b}}}}",
        "teams: {c: {robots: {R1: {}}, locking: free}}",
        "teams: {c: {robots: {R1: {}}, help_backlog: 2}}",
        "teams: {c: {robots: {R1: {}}, resources: {A: {}}}}",
        "teams: {c: {robots: {R1: {}}, resources: {A: {capacity: 2}}}}",
        "teams: {c: {robots: {R1: {}}, positions: {A: {x_m: 0, y_m: 1}}}}",
        "teams: {c: {robots: {R1: {}}, positions: {A: {x_m: 1, y_m: 0}}}}",
        "teams: {c: {robots: {R1: {}}, tasks: {Move: {}}}}",
        "teams: {c: {robots: {R1: {}}, tasks: {Move: {op: go}}}}",
        "teams: {c: {robots: {R1: {}}, tasks: {Move: {op: go, payload: {a: 1}}}}}",
        "teams: {c: {robots: {R1: {}}, tasks: {Move: {}}, window: {max_s: 3}}}",
        "teams: {c: {robots: {R1: {}}, tasks: {Move: {}}, nominal_s: {Move: 3}}}",
        "teams: {c: {robots: {R1: {}}, sequences: {s: [Go]}}}",
        "teams: {c: {robots: {R1: {}}, sequences: {s: [Go, Go]}}}",
        "teams: {c: {robots: {R1: {}}, sequences: {s: [Go: A]}}}",
        "teams: {c: {robots: {R1: {sequence: s}}, sequences: {s: [Go]}}}",
        "teams: {c: {robots: {R1: {}}, sequences: {s: [Repeat: {times: 2, steps: [Go]}]}}}",
        "teams: {c: {robots: {R1: {}}, sequences: {s: [Repeat: {times: 3, steps: [Go]}]}}}",
        "teams: {c: {robots: {R1: {}}, sequences: {s: [Go]}, jobs: [{part: a, seq: s}]}}",
        "teams: {c: {robots: {R1: {}}, buffers: {B: [a]}}}",
    };
    uint64_t prints[COUNT(rows)];
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[256];
        struct lab_file lab;
        struct err_list errors;
        (void)snprintf(text, sizeof text, P "%s\n", rows[i]);
        CHECK_INT(rows[i], parse_text(text, &lab, &errors), STATUS_OK);
        err_list_print(&errors, stdout);
        const struct lab_params params = lab_file_params(&lab);
        prints[i] = lab_fingerprint(&params);
        for (size_t k = 0; k < i; k++) {
            CHECK(rows[i], prints[i] != prints[k]);
        }
        lab_file_free(&lab);
    }
}

static void test_distance(void)
{
    CHECK_INT("", edit_distance("host", "host"), 0);
    CHECK_INT("", edit_distance("hots", "host"), 1);
    CHECK_INT("", edit_distance("", "host"), 4);
    CHECK_INT("", edit_distance("kitten", "sitting"), 3);
    CHECK_INT("", edit_likeness("HOTS", "host"), 1);
    CHECK("a beginning", edit_likeness("rotation", "rotation_rad") < EDIT_TEXT_MAX);
    CHECK("nothing", edit_likeness("", "host") == SIZE_MAX);
    CHECK("another", edit_likeness("port", "host") == SIZE_MAX);
    struct edit_guess guess = {0};
    char text[EDIT_GUESS_MAX];
    CHECK_TEXT("", edit_guess_text(&guess, text), "");
    edit_guess_try(&guess, "serv", "selftest");
    edit_guess_try(&guess, "serv", NULL);
    CHECK_TEXT("", edit_guess_text(&guess, text), "");
    edit_guess_try(&guess, "serv", "server_two");
    edit_guess_try(&guess, "serv", "serve");
    edit_guess_try(&guess, "serv", "service");
    CHECK_TEXT("", edit_guess_text(&guess, text), " (did you mean serve?)");
    CHECK("",
          edit_distance("x", "a very long text that is longer than any key of ours is") > 30);
}

static void test_numbers(void)
{
    static const struct {
        const char *text;
        double value;
    } rows[] = {
        {"0", 0.0},
        {"-0.25", -0.25},
        {"+5", 5.0},
        {".003", 0.003},
        {"5.", 5.0},
        {"1e-6", 1e-6},
        {"1.5E+3", 1500.0},
        {"0.1", 0.1},
        {"9007199254740993", 9007199254740992.0},
        {"0.30000000000000004", 0.30000000000000004},
        {"2.2250738585072011e-308", 2.2250738585072011e-308},
        {"1.7976931348623157e308", 1.7976931348623157e308},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        double value = -1.0;
        CHECK_INT(rows[i].text, number_parse_real(rows[i].text, &value), NUMBER_FINE);
        CHECK_NEAR(rows[i].text, value, rows[i].value, 0.0, 0.0);
    }
    int64_t whole = 0;
    CHECK_INT("", number_parse_int("9223372036854775807", &whole), NUMBER_FINE);
    CHECK_INT("", whole, INT64_MAX);
    CHECK_INT("", number_parse_int("-9223372036854775808", &whole), NUMBER_FINE);
    CHECK_INT("", whole, INT64_MIN);
    CHECK_INT("", number_parse_int("9223372036854775808", &whole), NUMBER_TOO_LARGE);
    CHECK_INT("", number_parse_int("", &whole), NUMBER_NONE);
    CHECK_INT("", number_parse_int(" 5", &whole), NUMBER_NONE);
    CHECK_INT("", number_parse_int("5 ", &whole), NUMBER_UNIT);
}

/* --- files ---------------------------------------------------------------------------- */

static void test_files(void)
{
    struct lab_file lab = {0};
    struct err_list errors = {0};
    CHECK_INT("", lab_file_load("/no/such/lab.yaml", &lab, &errors), STATUS_E_IO);
    CHECK("", errors.items[0].fault == FAULT_FILE_UNREADABLE);
    CHECK_INT("", errors.items[0].line, 0);
    errors = (struct err_list){0};
    CHECK_INT("", lab_file_load("/", &lab, &errors), STATUS_E_IO);
    CHECK("", errors.items[0].fault == FAULT_FILE_UNREADABLE);
    errors = (struct err_list){0};
    CHECK_INT("", lab_file_load("/dev/zero", &lab, &errors), STATUS_E_PARSE);
    CHECK("", errors.items[0].fault == FAULT_TOO_LARGE);
}

/* One pair with its keys, ten thousand times; and as many as a lab may have. */
/* One that can be opened and not be read is no empty one. */
static void test_unreadable_secret(void)
{
    static struct lab_file lab;
    struct err_list errors = {0};
    (void)snprintf(lab.http.token_file, sizeof lab.http.token_file, "/proc/self/mem");
    lab.http.enabled = true;
    CHECK_INT("token", lab_secrets_check(&lab, &errors), STATUS_E_ARG);
    CHECK_TEXT("token", fault_name(errors.items[0].fault), "file_unreadable");
}

static void test_many_pairs(void)
{
    enum { MANY = 10000 };
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    (void)fputs("pairs:\n", out);
    for (int i = 0; i < MANY; i++) {
        (void)fprintf(out,
                      "  robot_%d:\n    kind: usv3\n    timeout_s: %d.5\n    mode: link\n"
                      "    calibration: {window: 30, method: ols}\n",
                      i, i % 100 + 1);
    }
    (void)fclose(out);
    struct lab_file lab = {0};
    struct err_list errors = {0};
    CHECK_INT("", lab_file_parse(text, bytes, "many", &lab, &errors), STATUS_OK);
    CU_ASSERT_FATAL(lab.pair_count == MANY);
    CHECK_TEXT("", lab.pairs[9999].id, "robot_9999");
    CHECK_INT("", lab.pairs[9999].timeout_us, 100500000);
    fuzz_round_trip(&lab);
    lab_file_free(&lab);
    free(text);
    CHECK_INT("", parse_text("pairs: {r: {count: 100000}}", &lab, &errors), STATUS_OK);
    CHECK_INT("", lab.pair_count, 100000);
    CHECK_TEXT("", lab.pairs[99999].id, "r100000");
    lab_file_free(&lab);
}

/* Aliases that would grow to gigabytes, brackets without end, a list without end. */
static void test_bombs(void)
{
    struct lab_file lab = {0};
    struct err_list errors = {0};
    CHECK_INT("",
              parse_text("a: &a [x,x]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\n" P, &lab, &errors),
              STATUS_E_PARSE);
    CHECK_INT("", errors.count, 3 + 6 + 3);
    const size_t bytes = TREE_BYTES_MAX;
    char *text = malloc(bytes);
    CU_ASSERT_FATAL(text != NULL);
    static const char *const fills[] = {"[",  "{",  "a: ", "- ", "x,",   "[a,",
                                        "? ", "\n", "#",   "\"", "a:\n", "&a "};
    for (size_t k = 0; k < COUNT(fills); k++) {
        const size_t n = strlen(fills[k]);
        for (size_t i = 0; i < bytes; i++) {
            text[i] = fills[k][i % n];
        }
        text[0] = fills[k][0] == 'x' ? '[' : text[0];
        errors = (struct err_list){0};
        CHECK_INT(fills[k], lab_file_parse(text, bytes, "bomb", &lab, &errors), STATUS_E_PARSE);
        CHECK(fills[k], errors.count > 0);
    }
    free(text);
}

/* 8 MiB are read, one byte more is not. */
static void test_size(void)
{
    static const char pairs[] = "pairs: {r1: {}} #";
    struct lab_file lab = {0};
    struct err_list errors = {0};
    const size_t bytes = TREE_BYTES_MAX;
    char *text = malloc(bytes + 1);
    CU_ASSERT_FATAL(text != NULL);
    memset(text, 'x', bytes + 1);
    memcpy(text, pairs, sizeof pairs - 1);
    CHECK_INT("", lab_file_parse(text, bytes, "size", &lab, &errors), STATUS_OK);
    lab_file_free(&lab);
    CHECK_INT("", lab_file_parse(text, bytes + 1, "size", &lab, &errors), STATUS_E_PARSE);
    CHECK_INT("", errors.count, 1);
    CHECK("", errors.items[0].fault == FAULT_TOO_LARGE);
    free(text);
}

static const CU_TestInfo tests[] = {
    {"faults", test_faults},
    {"all at once", test_all_at_once},
    {"more than fit", test_more_than_fit},
    {"values", test_values},
    {"accepted", test_accepted},
    {"print reads back", test_print_reads_back},
    {"following shared", test_following_shared},
    {"tables", test_tables},
    {"fingerprint", test_fingerprint},
    {"fingerprint of teams", test_fingerprint_of_teams},
    {"distance", test_distance},
    {"numbers", test_numbers},
    {"files", test_files},
    {"unreadable secret", test_unreadable_secret},
    {"many pairs", test_many_pairs},
    {"bombs", test_bombs},
    {"size", test_size},
};

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("lab_file", NULL, NULL);
    for (size_t i = 0; i < COUNT(tests); i++) {
        if (!suite || !CU_add_test(suite, tests[i].pName, tests[i].pTestFunc)) {
            return EXIT_FAILURE;
        }
    }
    return check_run();
}
