#include "config/team/team_file.h"

#include "tests/support/check.h"

#include "base/text/names.h"
#include "config/options/option_file.h"
#include "twin/team/check/team_static_check.h"
/* Its checks of accepted files are ours, and its corpus runs here. */
#include "tests/fuzz/fuzz_team_file.c" // NOLINT(bugprone-suspicious-include)

#include <dirent.h>
#include <math.h>

static enum status parse_text(const char *text, struct team_file *file, struct err_list *errors)
{
    *errors = (struct err_list){0};
    *file = (struct team_file){0};
    return option_file_parse(&team_file, text, strlen(text), "t.yaml", file, errors);
}

static bool has_fault(const struct err_list *list, unsigned line, unsigned column,
                      const char *code)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct err *e = &list->items[i];
        if (e->line == line && e->column == column && strcmp(fault_name(e->fault), code) == 0) {
            return true;
        }
    }
    return false;
}

/* --- faults ------------------------------------------------------------------------------ */

struct fault_row {
    const char *text;
    unsigned line, column;
    const char *code; /* of the fault */
    size_t count;     /* of all faults */
};

/* clang-format off */
#define R "robots: {R1: {}}"
#define S "team:\n  robots: {R1: {sequence: s}, R2: {sequence: s}}\n  resources: {A: {}, B: {}, C: {}}\n  buffers: {IB: [a, b]}\n"

static const struct fault_row fault_rows[] = {
    /* the file */
    {"", 1, 1, "empty_file", 1},
    {"team: {" R "}\nteams: {a: {" R "}}\n", 1, 7, "conflicting_keys", 1},
    {"teams: [a]\n", 1, 8, "object_expected", 1},
    {"teams:\n", 1, 1, "missing_key", 1},
    {"teams: {\"a b\": {" R "}}\n", 1, 16, "bad_name", 1},
    {"team:\n", 1, 6, "missing_key", 1},
    {"tem: {" R "}\n", 1, 1, "unknown_key", 1},
    {"team: {" R ", lockin: free}\n", 1, 26, "unknown_key", 1},
    {"teams: {c: {" R ", locking: fre}}\n", 1, 40, "unknown_value", 1},
    {"team: {" R ", help_backlog: 0}\n", 1, 40, "out_of_range", 1},
    {"team: {" R ", priority_head_start_s: -1}\n", 1, 49, "out_of_range", 1},
    /* windows */
    {"team: {" R ", window: {min_s: 5, max_s: 4}}\n", 1, 42, "wrong_order", 1},
    {"team: {" R ", window: {mim_s: 5}}\n", 1, 35, "unknown_key", 1},
    {"team: {" R ", windows: {Mvoe: {}}, tasks: {Move: {}}}\n", 1, 42, "unknown_name", 1},
    {"team: {" R ", windows: {Move: {min_s: 9}}, window: {max_s: 8}, tasks: {Move: {}}}\n", 1, 42, "wrong_order", 1},
    /* resources, positions */
    {"team: {" R ", resources: {A: {capacity: 65}}}\n", 1, 52, "out_of_range", 1},
    {"team: {" R ", resources: {A: {kind: place}}}\n", 1, 48, "unknown_value", 1},
    {"team: {" R ", resources: {A: {on_lost: keep}}}\n", 1, 51, "unknown_value", 1},
    {"team: {" R ", resources: {A: {lease: 3}}}\n", 1, 42, "unknown_key", 1},
    {"team: {" R ", resources: [A]}\n", 1, 37, "object_expected", 1},
    {"team: {" R ", resources: {\"A/1\": {}}}\n", 1, 38, "bad_name", 1},
    {"team: {" R ", positions: {P: {x_m: 1}}}\n", 1, 41, "missing_key", 1},
    {"team: {robots: {R1: {positions: {a: 1}}}}\n", 1, 37, "unknown_name", 1},
    {"team: {" R ", positions: {P: }}\n", 1, 41, "missing_key", 2},
    {"team: {" R ", positions: {P: {x_m: 1, y_m: .nan}}}\n", 1, 55, "out_of_range", 1},
    /* tasks and durations */
    {"team: {" R ", tasks: {Move: {to: positoin}}}\n", 1, 45, "unknown_value", 1},
    {"team: {" R ", tasks: {Move: {to: position, op: go}}}\n", 1, 59, "conflicting_keys", 1},
    {"team: {" R ", tasks: {Lock: {}}}\n", 1, 40, "reserved_name", 1},
    {"team: {" R ", tasks: {Pick: {payload: {a: 1}}}}\n", 1, 50, "needs_key", 1},
    {"team: {" R ", tasks: {Pick: {op: x, payload: {id: 1}}}}\n", 1, 62, "reserved_name", 1},
    {"team: {" R ", tasks: {Pick: {op: x, payload: [1]}}}\n", 1, 57, "object_expected", 1},
    {"team: {" R ", tasks: {Pick: {op: a12345678901234567}}}\n", 1, 45, "too_long", 1},
    {"team: {" R ", tasks: {Pick: {nominal_sd_s: 1}}}\n", 1, 55, "needs_key", 1},
    {"team: {" R ", nominal_s: {Move: 0}}\n", 1, 44, "out_of_range", 1},
    {"team: {" R ", nominal_s: {Move: \"x\"}}\n", 1, 44, "not_a_number", 1},
    {"team: {" R ", nominal_s: {\"Move  IB\": 3}}\n", 1, 50, "bad_format", 1},
    {"team: {" R ", nominal_sd_s: {Move: 1}}\n", 1, 47, "needs_key", 1},
    {"team: {robots: {R1: {nominal_s: [1]}}}\n", 1, 33, "object_expected", 1},
    /* robots */
    {"team: {robots: {R1: {sequence: cycl}}, sequences: {cycle: [Go]}}\n", 1, 32, "unknown_name", 1},
    {"team: {robots: {R1: {pari: r1}}}\n", 1, 22, "unknown_key", 1},
    {"team: {robots: {R1: {cycles: 3}}}\n", 1, 30, "not_applicable", 1},
    {"team: {robots: {R1: {handles: {a: 1}}}}\n", 1, 31, "list_expected", 1},
    {"team: {robots: {R1: {handles: [a, [b]]}}}\n", 1, 35, "bad_name", 1},
    {"team: {robots: {R1: {pair: \"a b\"}}}\n", 1, 21, "bad_name", 1},
    {"team: {robots: {R1: {pair: a}, R2: {pair: a}}}\n", 1, 43, "duplicate_name", 1},
    {"teams:\n  c: {robots: {R1: {pair: a}}}\n  d: {robots: {R1: {pair: a}}}\n", 3, 27, "duplicate_name", 1},
    {"team: {robots: {R1: {sequence: s, handles: [c]}}, buffers: {IB: [a, b]}, sequences: {s: [IdPrt: IB]}}\n", 1, 21, "part_not_handled", 1},
    /* jobs */
    {"team: {" R ", jobs: [{part: a}]}\n", 1, 33, "missing_key", 1},
    {"team: {" R ", jobs: {part: a}}\n", 1, 32, "list_expected", 1},
    {"team: {" R ", jobs: [~]}\n", 1, 33, "missing_key", 1},
    {"team: {" R ", sequences: {j: [Go]}, jobs: [{part: a, seq: i}]}\n", 1, 70, "unknown_name", 1},
    {"team: {" R ", sequences: {j: [Go]}, jobs: [{part: a, seq: j, home: R2}]}\n", 1, 79, "unknown_name", 1},
    {"team: {robots: {R1: {sequence: j}}, sequences: {j: [Go]}, jobs: [{part: a, seq: j, home: R1}]}\n", 1, 66, "bad_job", 1},
    {"team: {robots: {R1: {handles: b}, R2: {}}, sequences: {j: [Go]}, jobs: [{part: a, seq: j, home: R1}]}\n", 1, 73, "bad_job", 1},
    {"team: {robots: {R1: {handles: b}}, sequences: {j: [Go]}, jobs: [{part: a, seq: j}]}\n", 1, 65, "bad_job", 1},
    {"team: {" R ", sequences: {j: [Go]}, jobs: [{part: a, seq: j, count: 1025}]}\n", 1, 80, "out_of_range", 1},
    {"team: {" R ", sequences: {j: [Go]}, jobs: [{part: a, seq: j, count: 1024}, {part: a, seq: j}]}\n", 1, 87, "too_many", 1},
    /* steps */
    {S "  sequences: {s: []}\n", 5, 18, "list_expected", 1},
    {S "  sequences: {s: Go}\n", 5, 18, "list_expected", 1},
    {S "  sequences: {s: [lock: A]}\n", 5, 19, "unknown_name", 1},
    {S "  sequences: {s: [Go, UnLokc: A]}\n", 5, 23, "unknown_name", 1},
    {S "  tasks: {Move: {}}\n  sequences: {s: [Mvoe: A]}\n", 6, 19, "unknown_name", 1},
    {S "  sequences: {s: [Lock]}\n", 5, 19, "wrong_count", 1},
    {S "  sequences: {s: [Lock: []]}\n", 5, 19, "wrong_count", 1},
    {S "  sequences: {s: [Lock: D]}\n", 5, 25, "unknown_name", 1},
    {S "  sequences: {s: [Lock: [A, A], Go, UnLock: A]}\n", 5, 29, "duplicate_name", 1},
    {S "  sequences: {s: [IdPrt: IC]}\n", 5, 26, "unknown_name", 1},
    {S "  sequences: {s: [IdPrt: {form: IB}]}\n", 5, 27, "unknown_key", 2},
    {S "  sequences: {s: [IdPrt: {from: IB, none: end, retry_s: 5}]}\n", 5, 43, "conflicting_keys", 1},
    {S "  sequences: {s: [IdPrt: {from: IB, none: stop}]}\n", 5, 43, "unknown_value", 1},
    {S "  sequences: {s: [Meet: m]}\n", 5, 19, "bad_step", 1},
    {S "  sequences: {s: [Meet: {name: m, robots: 3}]}\n", 5, 43, "out_of_range", 1},
    {S "  sequences: {s: [Meet: {name: m, robots: 2}, Together: {name: m, robots: 2, task: Lift}]}\n", 5, 47, "inconsistent", 1},
    {S "  sequences: {s: [Together: {name: m, robots: 2}]}\n", 5, 29, "missing_key", 1},
    {S "  sequences: {s: [Together: {name: m, robots: 2, task: Lock}]}\n", 5, 56, "unknown_name", 1},
    {S "  sequences: {s: [ChangeTool]}\n", 5, 19, "bad_step", 1},
    {S "  tasks: {Move: {to: position}}\n  positions: {P: {x_m: 0, y_m: 0}}\n  sequences: {s: [Move: Q]}\n", 7, 25, "unknown_name", 1},
    {S "  tasks: {Move: {to: position}}\n  sequences: {s: [Move]}\n", 6, 19, "unknown_name", 1},
    {S "  sequences: {s: [{a: 1, b: 2}]}\n", 5, 19, "bad_step", 1},
    {S "  sequences: {s: [[Go]]}\n", 5, 19, "bad_step", 1},
    {S "  sequences: {s: [Go: {a: 1}]}\n", 5, 23, "bad_step", 1},
    {S "  sequences: {s: [t: A], t: [Go]}\n", 5, 22, "not_applicable", 1},
    {S "  sequences: {s: [Go], Lock: [Go]}\n", 5, 30, "reserved_name", 1},
    {S "  tasks: {t: {}}\n  sequences: {s: [Go], t: [Go]}\n", 6, 27, "duplicate_name", 1},
    {S "  sequences: {s: [Repeat: 3]}\n", 5, 19, "bad_step", 1},
    {S "  sequences: {s: [Repeat: {times: 2}]}\n", 5, 27, "missing_key", 1},
    {S "  sequences: {s: [Repeat: {times: 0, steps: [Go]}]}\n", 5, 35, "out_of_range", 1},
    {S "  sequences: {s: [Repeat: {times: 2, steps: [Go, Repeat]}]}\n", 5, 50, "bad_step", 1},
    {S "  sequences: {s: [If: {part: a}]}\n", 5, 23, "missing_key", 1},
    {S "  sequences: {s: [If: {then: [Go]}]}\n", 5, 23, "missing_key", 1},
    {S "  sequences: {s: [If: {part: [], then: [Go]}]}\n", 5, 30, "wrong_count", 1},
    /* circles and limits */
    {S "  sequences: {s: [t], t: [Go, u], u: [If: {part: a, then: [s]}]}\n", 5, 60, "circular_sequence", 1},
    {S "  sequences: {s: [Go, s]}\n", 5, 23, "circular_sequence", 1},
    {S "  sequences:\n    s: [Repeat: {times: 2, steps: [Repeat: {times: 2, steps: [t]}]}]\n    t: [Repeat: {times: 2, steps: [Repeat: {times: 2, steps: [Repeat: {times: 2, steps: [Go]}]}]}]\n", 7, 63, "too_deep", 1},
    /* the discipline */
    {S "  sequences: {s: [Lock: B, Go, Lock: A, Go, UnLock: [A, B]]}\n", 5, 32, "lock_order", 1},
    {S "  sequences:\n    s: [t, Lock: A, Go, UnLock: [A, B]]\n    t: [Lock: B, Go]\n", 6, 12, "lock_order", 1},
    {S "  locking: at_once\n  sequences: {s: [Lock: A, Go, Lock: B, Go, UnLock: [A, B]]}\n", 6, 32, "nested_lock", 1},
    {S "  sequences: {s: [Lock: A, Meet: {name: m, robots: 2}, UnLock: A]}\n", 5, 28, "meeting_while_holding", 1},
    {S "  sequences: {s: [Lock: A, Together: {name: m, robots: 2, task: Lift, to: C}, UnLock: A]}\n", 5, 28, "meeting_while_holding", 1},
    {S "  sequences: {s: [Lock: A, Go, Lock: A, UnLock: A]}\n", 5, 32, "double_lock", 1},
    {S "  sequences: {s: [UnLock: A]}\n", 5, 19, "not_owner", 1},
    {S "  sequences: {s: [Lock: A, Go]}\n", 5, 19, "never_released", 1},
    {S "  sequences: {s: [Lock: A, Go, Repeat]}\n", 5, 19, "never_released", 1},
    {S "  sequences: {s: [IdPrt: IB, Lock: A, If: {part: a, then: [UnLock: A]}, t], t: [Go, Repeat]}\n", 5, 30, "never_released", 1},
    {S "  sequences: {s: [Lock: A, t, UnLock: A], t: [Go, Repeat]}\n", 5, 19, "never_released", 1},
    {S "  sequences: {s: [IdPrt: IB, Lock: A, Repeat: {times: 2, steps: [Go, UnLock: A]}]}\n", 5, 30, "never_released", 1},
    {S "  sequences: {s: [IdPrt: IB, If: {part: a, then: [Lock: A, Go], else: [Go]}, UnLock: A]}\n", 5, 78, "not_owner", 1},
    {S "  sequences: {s: [IdPrt: IB, Lock: A, Go, If: {part: a, then: [UnLock: A]}]}\n", 5, 30, "never_released", 1},
    {S "  sequences: {s: [Lock: A, IdPrt: IB, UnLock: A]}\n", 5, 19, "never_released", 1},
    {S "  sequences: {s: [IdPrt: IB, If: {part: a, then: [Lock: A]}, IdPrt: {from: IB, retry_s: 1}, If: {part: a, then: [UnLock: A]}]}\n", 5, 51, "never_released", 2},
    {S "  sequences: {s: [Repeat]}\n", 5, 19, "zero_time_loop", 1},
    {S "  sequences: {s: [Go, Repeat: {steps: [Lock: A, UnLock: A]}]}\n", 5, 40, "zero_time_loop", 1},
    {S "  sequences: {s: [IdPrt: IB, Repeat: {steps: [If: {part: a, then: [Go]}]}]}\n", 5, 47, "zero_time_loop", 1},
    {S "  sequences: {s: [Meet: {name: m, robots: 2}, Repeat]}\n", 5, 19, "zero_time_loop", 1},
    /* all of a file */
    {"teams:\n  a: {robots: {R1: {pari: x}}}\n  b: {lockin: x}\n  c: {robots: 5}\n", 4, 15, "object_expected", 3},
};
/* clang-format on */

static void test_faults(void)
{
    for (size_t i = 0; i < COUNT(fault_rows); i++) {
        const struct fault_row *row = &fault_rows[i];
        struct team_file file;
        struct err_list errors;
        CHECK_INT(row->text, parse_text(row->text, &file, &errors), STATUS_E_PARSE);
        CHECK_INT(row->text, errors.count, row->count);
        CHECK(row->text, file.teams == NULL && file.team_count == 0);
        const bool found = has_fault(&errors, row->line, row->column, row->code);
        CHECK(row->text, found);
        if (!found || errors.count != row->count) {
            (void)printf("%s", row->text);
            err_list_print(&errors, stdout);
        }
        team_file_free(&file);
    }
}

/* --- accepted files  */

static void test_values(void)
{
    struct team_file file;
    struct err_list errors;
    const char *text =
        "team:\n"
        "  locking: at_once\n"
        "  priority_head_start_s: 2.5\n"
        "  help_backlog: 4\n"
        "  window: {min_s: 1, max_s: 60, poll_s: 0.1}\n"
        "  windows: {Pick: {max_s: 9}}\n"
        "  resources:\n"
        "    A: {capacity: 3, lease_s: 10, delay_s: 2, on_lost: release}\n"
        "    B: {kind: tool, on_error: release}\n"
        "  positions: {P: {x_m: 1, y_m: -2, safe: true}, Q: {x_m: 0, y_m: 0, heading_rad: 3}}\n"
        "  tasks:\n"
        "    Move: {to: position}\n"
        "    Pick: {op: pick, payload: {force_n: 5, at: \"{arg}\", fast: true}, nominal_s: 2}\n"
        "  nominal_s: {Move: 6, Move P: 7}\n"
        "  nominal_sd_s: {Move: 0.5}\n"
        "  buffers: {IB: [a, b, a]}\n"
        "  robots:\n"
        "    R1: {pair: r1, sequence: s, cycles: 10, priority: 2, start_s: 1.5}\n"
        "    R2: {handles: [b], positions: {P: {x_m: 5}}, nominal_s: {Move Q: 1},\n"
        "         nominal_sd_s: {Move P: 0.25}}\n"
        "  sequences:\n"
        "    s: [IdPrt: {from: IB, retry_s: 5}, Lock: [B, A], Move: P, Pick: x1, UnLock: [A, "
        "B]]\n"
        "  jobs: [{part: b, seq: s, home: R2, count: 2}, {part: b, seq: s}]\n";
    CHECK_INT("", parse_text(text, &file, &errors), STATUS_OK);
    err_list_print(&errors, stdout);
    CU_ASSERT_FATAL(file.team_count == 1);
    const struct team_params *p = &file.teams[0];
    CHECK_TEXT("", p->name, "team");
    CHECK_INT("", p->locking, TEAM_AT_ONCE);
    CHECK_INT("", p->head_start_us, 2500000);
    CHECK_INT("", p->help_backlog, 4);
    CHECK_INT("", p->resource_count, 2);
    CHECK_INT("", p->resources[0].capacity, 3);
    CHECK_INT("", p->resources[0].lease_us, 10000000);
    CHECK_INT("", p->resources[0].delay_us, 2000000);
    CHECK_INT("", p->resources[0].on_lost, TEAM_RELEASE);
    CHECK_INT("", p->resources[0].on_error, TEAM_HOLD);
    CHECK_INT("", p->resources[1].kind, TEAM_TOOL);
    CHECK_INT("", p->resources[1].capacity, 1);
    CHECK_INT("own", p->position_count, 3);
    const struct team_position *own = team_position(p, 1, p->positions[0].name);
    CHECK_NEAR("", team_position(p, 0, p->positions[0].name)->x_m, 1.0, 0.0, 0.0);
    CHECK("", isnan(own->heading_rad) && own->safe);
    CHECK_NEAR("", own->x_m, 5.0, 0.0, 0.0);
    CHECK_NEAR("as of all", own->y_m, -2.0, 0.0, 0.0);
    CHECK_NEAR("", p->positions[1].heading_rad, 3.0, 0.0, 0.0);
    CHECK("", team_position(p, 0, TEAM_NONE) == NULL);
    CHECK("", p->tasks[0].to_position && p->tasks[0].op[0] == '\0');
    CHECK_TEXT("", p->tasks[1].op, "pick");
    CHECK_TEXT("", p->tasks[1].payload, "{\"force_n\":5,\"at\":\"{arg}\",\"fast\":true}");
    CHECK_INT("", p->tasks[0].window.max_us, 60000000);
    CHECK_INT("as in window", p->tasks[1].window.min_us, 1000000);
    CHECK_INT("", p->tasks[1].window.max_us, 9000000);
    CHECK_INT("as in window", p->tasks[1].window.poll_us, 100000);
    CHECK_TEXT("", p->robots[0].pair, "r1");
    CHECK_INT("", p->robots[0].sequence, 0);
    CHECK_INT("", p->robots[0].cycles, 10);
    CHECK_INT("", p->robots[0].priority, 2);
    CHECK_INT("", p->robots[0].start_us, 1500000);
    CHECK("", p->robots[0].handles_all && !p->robots[1].handles_all);
    CHECK_INT("", p->robots[1].sequence, TEAM_NONE);
    CHECK_INT("", p->robots[1].handled_count, 1);
    CHECK_INT("", p->step_count, 5);
    CHECK_INT("", p->steps[0].retry_us, 5000000);
    CHECK_INT("as written", p->lists[p->steps[1].first_resource], 1);
    CHECK_INT("", p->job_count, 3);
    CHECK_INT("", p->jobs[1].home, 1);
    CHECK_INT("", p->jobs[2].home, TEAM_NONE);
    team_file_free(&file);
    CHECK("empty and valid", file.teams == NULL && file.text == NULL);
    team_file_free(NULL);
}

static void check_nominal(const struct team_params *p, uint16_t robot, const char *task,
                          const char *arg, double mean_s, double sd_s)
{
    uint16_t t = 0;
    uint16_t a = 0;
    char row[80];
    (void)snprintf(row, sizeof row, "%s of %u: %s", task, (unsigned)robot, arg);
    while (t < p->task_count && strcmp(p->tasks[t].name, task) != 0) {
        t++;
    }
    while (a < p->name_count && strcmp(p->names[a], arg) != 0) {
        a++;
    }
    const struct team_nominal *n = team_nominal(p, robot, t, arg[0] ? a : TEAM_NONE);
    CHECK(row, n != NULL);
    if (n) {
        CHECK_NEAR(row, (double)n->mean_us * 1e-6, mean_s, 0.0, 1e-9);
        CHECK_NEAR(row, (double)n->sd_us * 1e-6, sd_s, 0.0, 1e-9);
    }
}

/* Mean and standard deviation are each as specific as they are given. */
static void test_nominals(void)
{
    struct team_file file;
    struct err_list errors;
    const char *text =
        "team:\n"
        "  tasks: {Pick: {nominal_s: 2, nominal_sd_s: 0.1}, Place: {nominal_s: 3}}\n"
        "  nominal_s: {Move: 6, Move P: 7, Place: 4}\n"
        "  nominal_sd_s: {Move: 0.5}\n"
        "  robots:\n"
        "    R1: {}\n"
        "    R2: {nominal_s: {Move Q: 1}, nominal_sd_s: {Move P: 0.25}}\n"
        "    R3: {nominal_s: {Pick: 5}}\n"
        "  sequences: {s: [Move: P, Move: Q, Pick, Place]}\n";
    CHECK_INT("", parse_text(text, &file, &errors), STATUS_OK);
    err_list_print(&errors, stdout);
    CU_ASSERT_FATAL(file.team_count == 1);
    const struct team_params *p = &file.teams[0];
    check_nominal(p, 0, "Move", "P", 7.0, 0.5);
    check_nominal(p, 0, "Move", "Q", 6.0, 0.5);
    check_nominal(p, 0, "Pick", "", 2.0, 0.1);
    check_nominal(p, 0, "Place", "", 4.0, 0.0);
    check_nominal(p, 1, "Move", "P", 7.0, 0.25);
    check_nominal(p, 1, "Move", "Q", 1.0, 0.5);
    check_nominal(p, 2, "Pick", "", 5.0, 0.1);
    check_nominal(p, 2, "Move", "P", 7.0, 0.5);
    team_file_free(&file);
}

/* --- laid flat -----------------------------------------------------------------------------
 */

/* Records the effects of a team of two in its first hundred instants, as text. */
static void write_effect(void *context, const struct team_effect *effect)
{
    FILE *out = context;
    (void)fprintf(out, "%lld %s %u", (long long)effect->t_us, team_effect_name(effect->kind),
                  (unsigned)effect->robot);
    if (effect->step) {
        (void)fprintf(out, " %s %u %u", team_step_kind_name(effect->step->kind),
                      (unsigned)effect->step->task, (unsigned)effect->step->arg);
    }
    (void)fputc('\n', out);
}

static char *trace_team(const struct team_params *p)
{
    enum { INSTANTS = 100 };
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    void *memory = malloc(team_bytes(p));
    struct team_drive drive = {.team = team_init(memory, p),
                               .p = p,
                               .duration = last_one_second,
                               .emit = write_effect,
                               .context = out};
    team_drive_start(&drive);
    for (int i = 0; i < INSTANTS && team_drive_step(&drive); i++) {
    }
    free(drive.queue);
    free(memory);
    (void)fclose(out);
    return text;
}

#define TEAM                                                                                   \
    "team:\n  resources: {A: {}, B: {}}\n  buffers: {IB: [a, b, c, a, b]}\n"                   \
    "  tasks: {Go: {}, Move: {}, Pick: {}, Drop: {}}\n"                                        \
    "  robots: {R1: {sequence: s, cycles: 2}, R2: {sequence: s}}\n"

/* A nested sequence, a loop, a condition do what the steps written out do. */
static const struct flat_row {
    const char *row, *nested, *flat;
} flat_rows[] = {
    {"sequence", "{s: [Go, t, Drop], t: [Lock: A, Move: A, UnLock: A]}",
     "{s: [Go, Lock: A, Move: A, UnLock: A, Drop]}"},
    {"twice", "{s: [t, Go, t], t: [Pick, u], u: [Drop]}", "{s: [Pick, Drop, Go, Pick, Drop]}"},
    {"halves", "{s: [enter, Pick, leave], enter: [Lock: A, Move: A], leave: [UnLock: A]}",
     "{s: [Lock: A, Move: A, Pick, UnLock: A]}"},
    {"loop", "{s: [Repeat: {times: 3, steps: [Go, Pick]}, Drop]}",
     "{s: [Go, Pick, Go, Pick, Go, Pick, Drop]}"},
    {"once", "{s: [Repeat: {times: 1, steps: [Go]}, Drop]}", "{s: [Go, Drop]}"},
    {"loops", "{s: [Repeat: {times: 2, steps: [Go, Repeat: {times: 2, steps: [Pick]}]}, Drop]}",
     "{s: [Go, Pick, Pick, Go, Pick, Pick, Drop]}"},
    {"loop of a sequence with one",
     "{s: [Repeat: {times: 2, steps: [t]}], t: [Repeat: {times: 2, steps: [Go]}, Pick]}",
     "{s: [Go, Go, Pick, Go, Go, Pick]}"},
    {"sequence for ever", "{s: [Go, t], t: [Pick, Repeat]}",
     "{s: [Go, Repeat: {steps: [Pick]}]}"},
    {"Repeat is the sequence", "{s: [IdPrt: IB, Go, Repeat]}",
     "{s: [Repeat: {steps: [IdPrt: IB, Go]}]}"},
    {"then", "{s: [IdPrt: IB, If: {part: a, then: [Pick]}, Drop]}",
     "{s: [IdPrt: IB, If: {part: [b, c], then: [], else: [Pick]}, Drop]}"},
    {"sequence in a condition",
     "{s: [IdPrt: IB, If: {part: [a, c], then: [t], else: [u]}, Go, "
     "Repeat], t: [Pick, Go], u: [Drop]}",
     "{s: [IdPrt: IB, If: {part: b, then: [Drop], else: [Pick, Go]}, Go, Repeat]}"},
};

static void test_flat(void)
{
    for (size_t i = 0; i < COUNT(flat_rows); i++) {
        const char *sequences[] = {flat_rows[i].nested, flat_rows[i].flat};
        char *traces[2] = {NULL, NULL};
        for (size_t k = 0; k < 2; k++) {
            char text[1024];
            struct team_file file;
            struct err_list errors;
            (void)snprintf(text, sizeof text, TEAM "  sequences: %s\n", sequences[k]);
            if (strstr(text, "then: [], ")) { /* an empty list is refused: leave it out */
                char *at = strstr(text, "then: [], ");
                memmove(at, at + 10, strlen(at + 10) + 1);
            }
            CHECK_INT(flat_rows[i].row, parse_text(text, &file, &errors), STATUS_OK);
            err_list_print(&errors, stdout);
            if (file.team_count == 1) {
                traces[k] = trace_team(&file.teams[0]);
            }
            team_file_free(&file);
        }
        CHECK(flat_rows[i].row, traces[0] && strlen(traces[0]) > 100);
        CHECK_TEXT(flat_rows[i].row, traces[0], traces[1] ? traces[1] : "nothing");
        free(traces[0]);
        free(traces[1]);
    }
}

/* Words that look alike and are meant to. */
static void test_words(void)
{
    static const char *const rows[] = {
        "sequences: {p: [x, q], q: [X, Go, y1]}",
        "nominal_s: {Pick1: 3, Go: 1}, sequences: {s: [Pick1, Pick2, Pick3: a, Gi]}",
        "tasks: {Look: {}}, sequences: {s: [Look, PlacePrt, PickPrt]}",
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[256];
        struct team_file file;
        struct err_list errors;
        (void)snprintf(text, sizeof text, "team: {robots: {R1: {}}, %s}\n", rows[i]);
        CHECK_INT(rows[i], parse_text(text, &file, &errors), STATUS_OK);
        err_list_print(&errors, stdout);
        team_file_free(&file);
    }
}

/* --- warnings ------------------------------------------------------------------------------
 */

/* clang-format off */
#define W "team:\n  robots: {R1: {sequence: s}, R2: {sequence: s}}\n  resources: {A: {}, B: {}, T: {kind: tool}}\n  positions: {A: {x_m: 0, y_m: 0}, B: {x_m: 1, y_m: 0}, S: {x_m: 2, y_m: 0, safe: true}}\n  tasks: {Move: {to: position}, Out: {safe: true}}\n  buffers: {IB: [a]}\n"

static const struct fault_row warning_rows[] = {
    {W "  sequences: {s: [Lock: A, Move: A, Move: S, UnLock: A]}\n", 0, 0, "", 0},
    {W "  sequences: {s: [Lock: A, Move: A, UnLock: A]}\n", 7, 37, "place_not_left", 1},
    {W "  sequences: {s: [Lock: A, Move: A, Out, UnLock: A]}\n", 0, 0, "", 0},
    {W "  sequences: {s: [Lock: A, Move: A, Move: S, Go, UnLock: A]}\n", 7, 50, "place_not_left", 1},
    {W "  sequences: {s: [Lock: A, UnLock: A, Go]}\n", 0, 0, "", 0},
    {W "  sequences: {s: [Lock: T, Go, UnLock: T]}\n", 0, 0, "", 0},
    {W "  sequences: {s: [Lock: A, Move: A, Lock: B, Move: B, UnLock: A, Move: S, UnLock: B]}\n", 0, 0, "", 0},
    {W "  sequences: {s: [IdPrt: IB, Lock: A, If: {part: a, then: [Move: A, Move: S], else: [Move: A]}, UnLock: A]}\n", 7, 97, "place_not_left", 1},
    {W "  sequences: {s: [Go, t, Move: A], t: [Move: S, Repeat]}\n", 7, 26, "never_reached", 1},
    {W "  locking: free\n  sequences: {s: [Lock: B, Go, Lock: A, Out, UnLock: [A, B]]}\n", 0, 0, "", 0},
    {W "  locking: free\n  sequences: {s: [t, u], t: [Lock: B, Go, Lock: A, Out, UnLock: [A, B]], u: [Lock: A, Go, Lock: B, Out, UnLock: [A, B]]}\n", 8, 43, "possible_deadlock", 2},
    {W "  locking: free\n  sequences: {s: [t, u], t: [Lock: A, Go, Lock: B, Out, UnLock: [A, B]], u: [Lock: [A, B], Out, UnLock: [A, B]]}\n", 8, 78, "possible_deadlock", 2},
    {W "  locking: free\n  sequences: {s: [Lock: [A, B], Out, UnLock: [A, B], Lock: [B, T], Out, UnLock: [B, T]]}\n", 0, 0, "", 0},
    {"team:\n  resources: {A: {}, B: {}}\n  tasks: {Out: {safe: true}}\n  locking: free\n  robots: {R1: {sequence: s}, R2: {sequence: t}}\n  sequences: {s: [Lock: [A, B], Out, UnLock: B, Lock: B, Out, UnLock: [A, B]], t: [Lock: A, Out, UnLock: A]}\n", 0, 0, "", 0},
    {W "  locking: free\n  sequences: {s: [Lock: A, Meet: {name: m, robots: 2}, UnLock: A]}\n", 8, 28, "meeting_while_holding", 1},
};
/* clang-format on */

static void test_warnings(void)
{
    for (size_t i = 0; i < COUNT(warning_rows); i++) {
        const struct fault_row *row = &warning_rows[i];
        struct team_file file;
        struct err_list errors;
        CHECK_INT(row->text, parse_text(row->text, &file, &errors), STATUS_OK);
        err_list_print(&errors, stdout);
        if (file.team_count == 1) {
            const bool fine = file.warnings->count == row->count &&
                              (row->count == 0 ||
                               has_fault(file.warnings, row->line, row->column, row->code));
            CHECK(row->text, fine);
            if (!fine) {
                (void)printf("%s", row->text);
                err_list_print(file.warnings, stdout);
            }
        }
        team_file_free(&file);
    }
}

/* --- sizes ---------------------------------------------------------------------------------
 */

static char *write_many(int robots, int steps, size_t *bytes)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, bytes);
    (void)fputs("team:\n  sequences:\n    s: [", out);
    for (int i = 0; i < steps; i++) {
        (void)fprintf(out, "%sGo: x%d", i > 0 ? ", " : "", i);
    }
    (void)fputs("]\n  robots:\n", out);
    for (int i = 0; i < robots; i++) {
        (void)fprintf(out, "    R%d: {sequence: s, nominal_s: {Go: 3, Go x1: 4, Go x2: 5}}\n",
                      i);
    }
    (void)fclose(out);
    return text;
}

/* Teams at the limits are read, and one more is reported. */
static void test_limits(void)
{
    static const struct {
        int robots, steps;
        const char *code; /* NULL: nothing */
    } rows[] = {
        {TEAM_ROBOTS_MAX, TEAM_STEPS_MAX, NULL},
        {TEAM_ROBOTS_MAX + 1, 3, "too_many"},
        {1, TEAM_STEPS_MAX + 1, "too_many"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct team_file file = {0};
        struct err_list errors = {0};
        size_t bytes = 0;
        char *text = write_many(rows[i].robots, rows[i].steps, &bytes);
        const enum status status =
            option_file_parse(&team_file, text, bytes, "many", &file, &errors);
        CHECK_INT("", status, rows[i].code ? STATUS_E_PARSE : STATUS_OK);
        CHECK("",
              !rows[i].code || (errors.count == 1 &&
                                strcmp(fault_name(errors.items[0].fault), rows[i].code) == 0));
        CHECK("", rows[i].code || file.teams[0].nominal_count == (size_t)3 * TEAM_ROBOTS_MAX);
        team_file_free(&file);
        free(text);
    }
}

/* Sequences of sequences that would grow to 2^20 steps. */
static void test_growth(void)
{
    char *text = NULL;
    size_t bytes = 0;
    struct team_file file = {0};
    struct err_list errors = {0};
    FILE *out = open_memstream(&text, &bytes);
    (void)fputs("team:\n  robots: {R1: {}}\n  sequences:\n    s0: [Go]\n", out);
    for (int i = 1; i <= 20; i++) {
        (void)fprintf(out, "    s%d: [s%d, s%d]\n", i, i - 1, i - 1);
    }
    (void)fclose(out);
    CHECK_INT("", option_file_parse(&team_file, text, bytes, "growth", &file, &errors),
              STATUS_E_PARSE);
    CHECK_INT("", errors.count, 1);
    CHECK("", errors.items[0].fault == FAULT_TOO_MANY);
    free(text);
}

/* --- files ---------------------------------------------------------------------------------
 */

static void test_corpus(void)
{
    const char *folder = TANDEM_SOURCE_DIR "/tests/fuzz/corpus/team_file";
    size_t files = 0;
    DIR *dir = opendir(folder);
    CU_ASSERT_FATAL(dir != NULL);
    for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        static char text[1 << 16];
        char path[1024];
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *in = entry->d_name[0] != '.' ? fopen(path, "rb") : NULL;
        if (in) {
            const size_t bytes = fread(text, 1, sizeof text, in);
            (void)fclose(in);
            (void)LLVMFuzzerTestOneInput((const uint8_t *)text, bytes);
            files++;
        }
    }
    (void)closedir(dir);
    CHECK("", files >= 5);
}

static void test_missing(void)
{
    struct team_file file = {0};
    struct err_list errors = {0};
    CHECK_INT("", option_file_load(&team_file, "/no/such.yaml", &file, &errors), STATUS_E_IO);
    CHECK("", errors.items[0].fault == FAULT_FILE_UNREADABLE);
}

static void test_tables(void)
{
    size_t i = 0;
    for (; team_section(i); i++) {
        const struct option_table *table = team_section(i)->table;
        for (size_t k = 0; k < table->count; k++) {
            const struct option_row *row = &table->rows[k];
            CHECK(row->path, row->help[0] && row->help[strlen(row->help) - 1] == '.');
            CHECK(row->path, !strchr(row->help, '|') && option_find(table, row->path) == row);
        }
    }
    CHECK_INT("", i, 13);
}

static const CU_TestInfo tests[] = {
    {"faults", test_faults},   {"values", test_values}, {"nominals", test_nominals},
    {"flat", test_flat},       {"words", test_words},   {"warnings", test_warnings},
    {"limits", test_limits},   {"growth", test_growth}, {"corpus", test_corpus},
    {"missing", test_missing}, {"tables", test_tables},
};

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("team file", NULL, NULL);
    for (size_t i = 0; i < COUNT(tests); i++) {
        CU_add_test(suite, tests[i].pName, tests[i].pTestFunc);
    }
    return check_run();
}
