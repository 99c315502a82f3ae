#include "config/team_file.h"

#include "tests/support/check.h"

#include "base/names.h"
#include "config/option_file.h"
#include "twin/team/team_discipline.h"
/* Its checks of what is accepted are ours, and its corpus runs here. */
#include "tests/fuzz/fuzz_team_file.c" // NOLINT(bugprone-suspicious-include)

#include <dirent.h>
#include <math.h>

static enum status parse(const char *text, struct team_file *file, struct err_list *errors)
{
    *errors = (struct err_list){0};
    *file = (struct team_file){0};
    return team_file_parse(text, strlen(text), "t.yaml", file, errors);
}

static bool has_fault(const struct err_list *list, unsigned line, unsigned column,
                      const char *says)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct err *e = &list->items[i];
        if (e->line == line && e->column == column && strstr(e->text, says)) {
            return true;
        }
    }
    return false;
}

/* --- faults ----------------------------------------------------------------------------------- */

struct fault_row {
    const char *text;
    unsigned line, column;
    const char *says; /* a piece of the fault */
    size_t count;     /* of all faults */
};

/* clang-format off */
#define R "robots: {R1: {}}"
#define S "team:\n  robots: {R1: {sequence: s}, R2: {sequence: s}}\n  resources: {A: {}, B: {}, C: {}}\n  buffers: {IB: [a, b]}\n"

static const struct fault_row fault_rows[] = {
    /* the file */
    {"", 1, 1, "the file is empty, the least is \"team: {robots: {R1: {}}}\"", 1},
    {"team: {" R "}\nteams: {a: {" R "}}\n", 1, 7, "one team or several under teams, not both", 1},
    {"teams: [a]\n", 1, 8, "names and what stands below them are wanted", 1},
    {"teams:\n", 1, 1, "a team is missing", 1},
    {"teams: {\"a b\": {" R "}}\n", 1, 16, "team 'a b': a name has 1 to 31 letters", 1},
    {"team:\n", 1, 6, "team.robots are missing, the least is", 1},
    {"tem: {" R "}\n", 1, 1, "did you mean 'team'?", 1},
    {"team: {" R ", lockin: free}\n", 1, 26, "unknown key 'team.lockin', did you mean 'locking'?", 1},
    {"teams: {c: {" R ", locking: fre}}\n", 1, 40, "teams.c.locking: 'fre' is not known, ordered, at_once or free", 1},
    {"team: {" R ", help_backlog: 0}\n", 1, 40, "1 to 1024 is allowed", 1},
    {"team: {" R ", priority_head_start_s: -1}\n", 1, 49, "0 to 86400 s is allowed", 1},
    /* windows */
    {"team: {" R ", window: {min_s: 5, max_s: 4}}\n", 1, 42, "team.window.min_s (5 s) is more than max_s (4 s)", 1},
    {"team: {" R ", window: {mim_s: 5}}\n", 1, 35, "did you mean 'min_s'?", 1},
    {"team: {" R ", windows: {Mvoe: {}}, tasks: {Move: {}}}\n", 1, 42, "there is no 'Mvoe' (did you mean Move?)", 1},
    {"team: {" R ", windows: {Move: {min_s: 9}}, window: {max_s: 8}, tasks: {Move: {}}}\n", 1, 42, "windows.Move.min_s (9 s) is more than max_s (8 s)", 1},
    /* resources, positions */
    {"team: {" R ", resources: {A: {capacity: 65}}}\n", 1, 52, "1 to 64 is allowed", 1},
    {"team: {" R ", resources: {A: {kind: place}}}\n", 1, 48, "zone, tool or logical is allowed", 1},
    {"team: {" R ", resources: {A: {on_lost: keep}}}\n", 1, 51, "hold or release is allowed", 1},
    {"team: {" R ", resources: {A: {lease: 3}}}\n", 1, 42, "did you mean 'lease_s'?", 1},
    {"team: {" R ", resources: [A]}\n", 1, 37, "names and what stands below them are wanted here", 1},
    {"team: {" R ", resources: {\"A/1\": {}}}\n", 1, 38, "team: 'A/1': a resource has 1 to 31 letters", 1},
    {"team: {" R ", positions: {P: {x_m: 1}}}\n", 1, 41, "team.positions.P.y_m is missing", 1},
    {"team: {" R ", positions: {P: }}\n", 1, 41, "is missing", 2},
    {"team: {" R ", positions: {P: {x_m: 1, y_m: .nan}}}\n", 1, 55, "a finite number is wanted", 1},
    /* tasks and durations */
    {"team: {" R ", tasks: {Move: {to: positoin}}}\n", 1, 45, "none or position is allowed", 1},
    {"team: {" R ", tasks: {Move: {to: position, op: go}}}\n", 1, 59, "leave one of both out", 1},
    {"team: {" R ", tasks: {Lock: {}}}\n", 1, 40, "is a word of sequences", 1},
    {"team: {" R ", tasks: {Pick: {payload: {a: 1}}}}\n", 1, 50, "payload needs op", 1},
    {"team: {" R ", tasks: {Pick: {op: x, payload: {id: 1}}}}\n", 1, 62, "payload.id is given by Tandem itself", 1},
    {"team: {" R ", tasks: {Pick: {op: x, payload: [1]}}}\n", 1, 57, "members of a command are wanted", 1},
    {"team: {" R ", tasks: {Pick: {op: a12345678901234567}}}\n", 1, 45, "18 bytes are too long, at most 15", 1},
    {"team: {" R ", tasks: {Pick: {nominal_sd_s: 1}}}\n", 1, 55, "nominal_sd_s needs nominal_s", 1},
    {"team: {" R ", nominal_s: {Move: 0}}\n", 1, 44, "team.nominal_s.Move: 0 is below 0.001", 1},
    {"team: {" R ", nominal_s: {Move: \"x\"}}\n", 1, 44, "a number is wanted", 1},
    {"team: {" R ", nominal_s: {\"Move  IB\": 3}}\n", 1, 50, "with one space between", 1},
    {"team: {" R ", nominal_sd_s: {Move: 1}}\n", 1, 47, "nominal_sd_s.Move: nominal_s is not given", 1},
    {"team: {robots: {R1: {nominal_s: [1]}}}\n", 1, 33, "tasks and seconds are wanted", 1},
    /* robots */
    {"team: {robots: {R1: {sequence: cycl}}, sequences: {cycle: [Go]}}\n", 1, 32, "there is no 'cycl' (did you mean cycle?); there is cycle", 1},
    {"team: {robots: {R1: {pari: r1}}}\n", 1, 22, "did you mean 'pair'?", 1},
    {"team: {robots: {R1: {cycles: 3}}}\n", 1, 30, "the robot has no sequence to repeat", 1},
    {"team: {robots: {R1: {handles: {a: 1}}}}\n", 1, 31, "team.robots.R1.handles: a list is wanted", 1},
    {"team: {robots: {R1: {handles: [a, [b]]}}}\n", 1, 35, "a part has 1 to 31", 1},
    {"team: {robots: {R1: {pair: \"a b\"}}}\n", 1, 21, "robots.R1.pair: an id has 1 to 31 letters", 1},
    {"team: {robots: {R1: {pair: a}, R2: {pair: a}}}\n", 1, 43, "pair a is a robot of team team already", 1},
    {"teams:\n  c: {robots: {R1: {pair: a}}}\n  d: {robots: {R1: {pair: a}}}\n", 3, 27, "pair a is a robot of team c already", 1},
    {"team: {robots: {R1: {sequence: s, handles: [c]}}, buffers: {IB: [a, b]}, sequences: {s: [IdPrt: IB]}}\n", 1, 21, "sequence s takes parts from IB (line 1), and the robot handles none of them", 1},
    /* jobs */
    {"team: {" R ", jobs: [{part: a}]}\n", 1, 33, "team.jobs.seq is missing", 1},
    {"team: {" R ", jobs: {part: a}}\n", 1, 32, "a list is wanted", 1},
    {"team: {" R ", sequences: {j: [Go]}, jobs: [{part: a, seq: i}]}\n", 1, 70, "team.jobs.seq: there is no 'i'", 1},
    {"team: {" R ", sequences: {j: [Go]}, jobs: [{part: a, seq: j, home: R2}]}\n", 1, 79, "team.jobs.home: there is no 'R2' (did you mean R1?)", 1},
    {"team: {robots: {R1: {sequence: j}}, sequences: {j: [Go]}, jobs: [{part: a, seq: j, home: R1}]}\n", 1, 66, "home R1 has a sequence of its own and takes no jobs", 1},
    {"team: {robots: {R1: {handles: b}, R2: {}}, sequences: {j: [Go]}, jobs: [{part: a, seq: j, home: R1}]}\n", 1, 73, "home R1 cannot handle a", 1},
    {"team: {robots: {R1: {handles: b}}, sequences: {j: [Go]}, jobs: [{part: a, seq: j}]}\n", 1, 65, "no robot without a sequence of its own can handle a", 1},
    {"team: {" R ", sequences: {j: [Go]}, jobs: [{part: a, seq: j, count: 1025}]}\n", 1, 80, "1 to 1024 is allowed", 1},
    {"team: {" R ", sequences: {j: [Go]}, jobs: [{part: a, seq: j, count: 1024}, {part: a, seq: j}]}\n", 1, 87, "team.jobs: more than 1024 are too many", 1},
    /* steps */
    {S "  sequences: {s: []}\n", 5, 18, "sequences.s: a list of steps is wanted", 1},
    {S "  sequences: {s: Go}\n", 5, 18, "a list of steps is wanted", 1},
    {S "  sequences: {s: [lock: A]}\n", 5, 19, "sequences.s[1]: there is no 'lock' (did you mean Lock?)", 1},
    {S "  sequences: {s: [Go, UnLokc: A]}\n", 5, 23, "sequences.s[2]: there is no 'UnLokc' (did you mean UnLock?)", 1},
    {S "  tasks: {Move: {}}\n  sequences: {s: [Mvoe: A]}\n", 6, 19, "(did you mean Move?); a task of that name needs a row under tasks", 1},
    {S "  sequences: {s: [Lock]}\n", 5, 19, "a resource, or a list of 1 to 16, is wanted", 1},
    {S "  sequences: {s: [Lock: []]}\n", 5, 19, "a resource, or a list of 1 to 16, is wanted", 1},
    {S "  sequences: {s: [Lock: D]}\n", 5, 25, "there is no 'D'", 1},
    {S "  sequences: {s: [Lock: [A, A], Go, UnLock: A]}\n", 5, 29, "A is there twice", 1},
    {S "  sequences: {s: [IdPrt: IC]}\n", 5, 26, "there is no 'IC' (did you mean IB?)", 1},
    {S "  sequences: {s: [IdPrt: {form: IB}]}\n", 5, 27, "did you mean 'from'?", 2},
    {S "  sequences: {s: [IdPrt: {from: IB, none: end, retry_s: 5}]}\n", 5, 43, "leave one out", 1},
    {S "  sequences: {s: [IdPrt: {from: IB, none: stop}]}\n", 5, 43, "end is allowed", 1},
    {S "  sequences: {s: [Meet: m]}\n", 5, 19, "{name: m, robots: 2} is wanted", 1},
    {S "  sequences: {s: [Meet: {name: m, robots: 3}]}\n", 5, 43, "Meet.robots: the team has 2 only", 1},
    {S "  sequences: {s: [Meet: {name: m, robots: 2}, Together: {name: m, robots: 2, task: Lift}]}\n", 5, 47, "on line 5 the same meeting is Meet of 2 robots", 1},
    {S "  sequences: {s: [Together: {name: m, robots: 2}]}\n", 5, 29, "Together.task is missing", 1},
    {S "  sequences: {s: [Together: {name: m, robots: 2, task: Lock}]}\n", 5, 56, "Lock is no task", 1},
    {S "  sequences: {s: [ChangeTool]}\n", 5, 19, "a tool is wanted, as in ChangeTool: d", 1},
    {S "  tasks: {Move: {to: position}}\n  positions: {P: {x_m: 0, y_m: 0}}\n  sequences: {s: [Move: Q]}\n", 7, 25, "there is no 'Q' (did you mean P?)", 1},
    {S "  tasks: {Move: {to: position}}\n  sequences: {s: [Move]}\n", 6, 19, "there is no ''", 1},
    {S "  sequences: {s: [{a: 1, b: 2}]}\n", 5, 19, "a step is a word, or one word with its value", 1},
    {S "  sequences: {s: [[Go]]}\n", 5, 19, "a step is a word", 1},
    {S "  sequences: {s: [Go: {a: 1}]}\n", 5, 23, "one value is wanted behind a task", 1},
    {S "  sequences: {s: [t: A], t: [Go]}\n", 5, 22, "t is a sequence, no value is wanted", 1},
    {S "  sequences: {s: [Go], Lock: [Go]}\n", 5, 30, "sequences.Lock is a word of sequences", 1},
    {S "  tasks: {t: {}}\n  sequences: {s: [Go], t: [Go]}\n", 6, 27, "a task has this name, too", 1},
    {S "  sequences: {s: [Repeat: 3]}\n", 5, 19, "Repeat alone, or Repeat: {times: 3, steps: [...]}", 1},
    {S "  sequences: {s: [Repeat: {times: 2}]}\n", 5, 27, "Repeat.steps is missing", 1},
    {S "  sequences: {s: [Repeat: {times: 0, steps: [Go]}]}\n", 5, 35, "1 to 1000000 is allowed", 1},
    {S "  sequences: {s: [Repeat: {times: 2, steps: [Go, Repeat]}]}\n", 5, 50, "Repeat alone begins the sequence anew, which it cannot within", 1},
    {S "  sequences: {s: [If: {part: a}]}\n", 5, 23, "If.then is missing, or else", 1},
    {S "  sequences: {s: [If: {then: [Go]}]}\n", 5, 23, "If.part is missing", 1},
    {S "  sequences: {s: [If: {part: [], then: [Go]}]}\n", 5, 23, "1 to 16 parts are wanted", 1},
    /* circles and limits */
    {S "  sequences: {s: [t], t: [Go, u], u: [If: {part: a, then: [s]}]}\n", 5, 60, "u uses s, which uses it: a sequence cannot be a step of itself", 1},
    {S "  sequences: {s: [Go, s]}\n", 5, 23, "s uses s, which uses it", 1},
    {S "  sequences:\n    s: [Repeat: {times: 2, steps: [Repeat: {times: 2, steps: [t]}]}]\n    t: [Repeat: {times: 2, steps: [Repeat: {times: 2, steps: [Repeat: {times: 2, steps: [Go]}]}]}]\n", 7, 63, "more than 4 counted loops", 1},
    /* the discipline */
    {S "  sequences: {s: [Lock: B, Go, Lock: A, Go, UnLock: [A, B]]}\n", 5, 32, "Lock of A (step 3 of s, line 5) while B is held (step 1 of s, line 5): A stands before B", 1},
    {S "  sequences:\n    s: [t, Lock: A, Go, UnLock: [A, B]]\n    t: [Lock: B, Go]\n", 6, 12, "Lock of A (step 2 of s, line 6) while B is held (step 1 of t, line 7)", 1},
    {S "  locking: at_once\n  sequences: {s: [Lock: A, Go, Lock: B, Go, UnLock: [A, B]]}\n", 6, 32, "Lock of B (step 3 of s, line 6) while A is held (step 1 of s, line 6): with locking: at_once", 1},
    {S "  sequences: {s: [Lock: A, Meet: {name: m, robots: 2}, UnLock: A]}\n", 5, 28, "Meet m (step 2 of s, line 5) while A is held (step 1 of s, line 5)", 1},
    {S "  sequences: {s: [Lock: A, Together: {name: m, robots: 2, task: Lift, to: C}, UnLock: A]}\n", 5, 28, "Together Lift C (step 2 of s, line 5) while A", 1},
    {S "  sequences: {s: [Lock: A, Go, Lock: A, UnLock: A]}\n", 5, 32, "Lock of A (step 3 of s, line 5), which is held already (step 1 of s, line 5)", 1},
    {S "  sequences: {s: [UnLock: A]}\n", 5, 19, "UnLock of A (step 1 of s, line 5), which is not held there", 1},
    {S "  sequences: {s: [Lock: A, Go]}\n", 5, 19, "Lock of A (step 1 of s, line 5) is never released", 1},
    {S "  sequences: {s: [Lock: A, Go, Repeat]}\n", 5, 19, "Lock of A (step 1 of s, line 5) still holds at step 1 of s, line 5 when it is reached on one way", 1},
    {S "  sequences: {s: [Lock: A, t, UnLock: A], t: [Go, Repeat]}\n", 5, 19, "is never released", 1},
    {S "  sequences: {s: [IdPrt: IB, Lock: A, Repeat: {times: 2, steps: [Go, UnLock: A]}]}\n", 5, 30, "Lock of A (step 2 of s, line 5) still holds at step 4 of s, line 5 when it is reached on one way, and not", 1},
    {S "  sequences: {s: [IdPrt: IB, If: {part: a, then: [Lock: A, Go], else: [Go]}, UnLock: A]}\n", 5, 78, "UnLock of A (step 6 of s, line 5), which is not held", 1},
    {S "  sequences: {s: [IdPrt: IB, Lock: A, Go, If: {part: a, then: [UnLock: A]}]}\n", 5, 30, "Lock of A (step 2 of s, line 5) is never released", 1},
    {S "  sequences: {s: [Lock: A, IdPrt: IB, UnLock: A]}\n", 5, 19, "is still held at step 2 of s, line 5, where the sequence ends when there is no part", 1},
    {S "  sequences: {s: [IdPrt: IB, If: {part: a, then: [Lock: A]}, IdPrt: {from: IB, retry_s: 1}, If: {part: a, then: [UnLock: A]}]}\n", 5, 51, "Lock of A (step 3 of s, line 5) still holds at step 5 of s, line 5", 2},
    {S "  sequences: {s: [Repeat]}\n", 5, 19, "go round without taking time", 1},
    {S "  sequences: {s: [Go, Repeat: {steps: [Lock: A, UnLock: A]}]}\n", 5, 40, "step 3 of s, line 5 to step 2 of s, line 5 go round without taking time", 1},
    {S "  sequences: {s: [IdPrt: IB, Repeat: {steps: [If: {part: a, then: [Go]}]}]}\n", 5, 47, "go round without taking time", 1},
    {S "  sequences: {s: [Meet: {name: m, robots: 2}, Repeat]}\n", 5, 19, "go round without taking time", 1},
    /* all of a file */
    {"teams:\n  a: {robots: {R1: {pari: x}}}\n  b: {lockin: x}\n  c: {robots: 5}\n", 4, 15, "teams.c.robots: names and what", 3},
};
/* clang-format on */

static void test_faults(void)
{
    for (size_t i = 0; i < COUNT(fault_rows); i++) {
        const struct fault_row *row = &fault_rows[i];
        struct team_file file;
        struct err_list errors;
        CHECK_INT(row->text, parse(row->text, &file, &errors), STATUS_E_PARSE);
        CHECK_INT(row->text, errors.count, row->count);
        CHECK(row->text, file.teams == NULL && file.team_count == 0);
        const bool found = has_fault(&errors, row->line, row->column, row->says);
        CHECK(row->text, found);
        if (!found || errors.count != row->count) {
            (void)printf("%s", row->text);
            err_list_print(&errors, stdout);
        }
        team_file_free(&file);
    }
}

static const CU_TestInfo tests[] = {
    {"faults", test_faults},
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
