#include "service/identify/identify_request.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text/utf8.h"
#include "identification/model/model.h"
#include "service/bag/bag_reader.h"
#include "service/tool/version.h"

struct identify_request identify_request_defaults(void)
{
    return (struct identify_request){.side = "real",
                                     .delay_max_s = -1.0,
                                     .command_timeout_s = 1.0,
                                     .next = {.seconds = 60.0, .seed = 1.0}};
}

enum fragment_format identify_fragment_format(const struct identify_request *request)
{
    return (enum fragment_format)names_value(&fragment_format_names, request->write);
}

bool identify_doubts(const struct identify_request *request)
{
    return !request->plausible || strcmp(request->plausible, "off") != 0;
}

ENUM_NAMES(identify_outcome, IDENTIFY_OUTCOMES, "contradicts", "marginal", "fail");

enum status identify_fail_if(const struct identify_request *request, unsigned *bits,
                             struct err *err)
{
    unsigned found = 0;
    for (const char *word = request->fail_if; word && *word;) {
        char name[16];
        const size_t n = strcspn(word, ",");
        (void)snprintf(name, sizeof name, "%.*s", (int)(n < 15 ? n : 15), word);
        const size_t at = names_value(&identify_outcome_names, name);
        if (at == IDENTIFY_OUTCOMES) {
            return err_set(err, STATUS_E_ARG, FAULT_UNKNOWN_VALUE, "fail-if",
                           "--fail-if: unknown word '%s', contradicts, marginal and fail are "
                           "known",
                           name);
        }
        found |= 1U << at;
        word += n + (word[n] == ',');
    }
    if ((found & 1U << IDENTIFY_CONTRADICTS) && !request->reference) {
        return err_set(err, STATUS_E_ARG, FAULT_NEEDS_KEY, "fail-if",
                       "--fail-if contradicts needs --reference, the parameters in use");
    }
    *bits = found;
    return STATUS_OK;
}

void identify_blame_held_out(const struct identify_request *request, enum status st,
                             struct err *err)
{
    const struct csv_source *inputs = request->validate;
    bool named =
        st == STATUS_OK || !err || err->code == STATUS_E_STALE || err->code == STATUS_E_NOMEM;
    for (size_t i = 0; i < request->validate_count && !named; i++) {
        named = strcmp(err->where, inputs[i].path) == 0;
    }
    if (!named) {
        (void)snprintf(err->where, sizeof err->where, "%s",
                       request->validate_count == 1 ? inputs[0].path : "held-out recordings");
    }
}

void identify_report_outcome(const struct identify_caller *caller,
                             const struct estimate *estimate, bool contradicts)
{
    if (caller->outcome) {
        *caller->outcome =
            (contradicts ? 1U << IDENTIFY_CONTRADICTS : 0U) |
            (estimate->verdict >= ESTIMATE_MARGINAL ? 1U << IDENTIFY_MARGINAL : 0U) |
            (estimate->verdict == ESTIMATE_FAIL ? 1U << IDENTIFY_FAIL : 0U);
    }
}

enum {
    MOTION = 1 << MODEL_OF_MOTION,
    TRAVEL = 1 << MODEL_OF_MOVES,
    MOVES = TRAVEL | 1 << MODEL_OF_COMMANDS,
    WHEELS = 1 << MODEL_OF_WHEELS,
    POSES = 1 << MODEL_OF_POSES,
    SERVOS = 1 << MODEL_OF_SERVOS,
    ALL = MOTION | MOVES | WHEELS | POSES | SERVOS | 1 << MODEL_OF_JOINTS
};

enum { WORD = 31, LIST = 1023, NAME = 99 };

#define AT(member) offsetof(struct identify_request, member)

/* clang-format off */
const struct identify_option identify_options[] = {
    /* name, letter, kind, -, min, max, placeholder, help; query, longest, data, at */
    {{"model", 'm', ARGUMENT_TEXT, NULL, 0, 0, "NAME",
     "what to fit, see above (needed)"}, "model", WORD, ALL, AT(model)},
    {{"method", 0, ARGUMENT_TEXT, NULL, 0, 0, "METHOD",
     "how to fit; each model has its own (auto)"}, "method", WORD, MOTION | MOVES, AT(method)},
    {{"columns", 0, ARGUMENT_TEXT, NULL, 0, 0, "ROLE=NAME,...",
     "columns to read, where they are not called as the roles, with their unit where it is not SI: t=stamp:ns, "
     "theta=yaw:deg; @FILE holds them"}, "columns", LIST, ALL, AT(column_words)},
    {{"side", 0, ARGUMENT_TEXT, NULL, 0, 0, "real|virtual",
     "side whose laps or telemetry are used if both exist (real)"}, "side", WORD, ALL, AT(side)},
    {{"journal", 0, ARGUMENT_FLAG, NULL, 0, 0, NULL,
     "files are journals; else decided from their beginning"}, NULL, 0, MOTION | TRAVEL, AT(journal)},
    {{"pair", 0, ARGUMENT_TEXT, NULL, 0, 0, "ID",
     "pair whose telemetry or moves are used if there are several"}, "pair", WORD, MOTION | TRAVEL, AT(pair)},
    {{"validate", 0, ARGUMENT_LIST, NULL, 0, 0, "FILE",
     "also predict this recording, which takes no part in the fit; may be given several times"},
     NULL, 0, ALL, AT(held_out)},
    {{"biases", 0, ARGUMENT_FLAG, NULL, 0, 0, NULL,
     "also fit a constant effort per axis (motion)"}, "biases", 0, MOTION, AT(biases)},
    {{"delay-max", 0, ARGUMENT_REAL, NULL, 0, 10, "S",
     "longest delay from effort to velocity to look for, up to 10, 0 for none (by the recording; motion)"},
     "delay_max_s", 0, MOTION, AT(delay_max_s)},
    {{"hold", 0, ARGUMENT_TEXT, NULL, 0, 0, "zoh|linear|auto",
     "an effort acts until the next row (zoh), as the mean of both (linear), or as the data show (auto; motion)"},
     "hold", WORD, MOTION, AT(hold)},
    {{"robust", 0, ARGUMENT_FLAG, NULL, 0, 0, NULL,
     "ignore samples that lie far from the others, and count them (motion)"},
     "robust", 0, MOTION, AT(robust)},
    {{"ridge", 0, ARGUMENT_REAL, NULL, 0, 1e6, "SHARE",
     "draw estimates of linear methods to zero, by this share of each column's square (0; motion)"},
     "ridge", 0, MOTION, AT(ridge)},
    {{"heading-m", 0, ARGUMENT_REAL, NULL, 0, 100, "M",
     "metres of position that weigh like a radian of heading; 0: by the spread of residuals (odometry)"},
     "heading_m", 0, WHEELS, AT(heading_m)},
    {{"arm", 0, ARGUMENT_TEXT, NULL, 0, 0, "NAME",
     "the kind of arm whose links are corrected: ur5, ur5e, paper (ur5; arm_kinematics)"}, "arm", WORD, POSES, AT(arm)},
    {{"plausible", 0, ARGUMENT_TEXT, NULL, 0, 0, "on|off",
     "doubt values that look like another unit's: milliseconds, degrees, millimetres, kilonewtons (on)"},
     "plausible", WORD, ALL, AT(plausible)},
    {{"reference", 0, ARGUMENT_TEXT, NULL, 0, 0, "SET",
     "compare with the parameters in use: NAME=VALUE,... by name or symbol, delay_s too, or a JSON file with "
     "\"values\" as --json prints"}, "reference", LIST, ALL, AT(reference)},
    {{"fail-if", 0, ARGUMENT_TEXT, NULL, 0, 0, "WORD,...",
     "exit with 3 when it is so: contradicts (the parameters in use do not hold, with --reference), "
     "marginal (the verdict is MARGINAL or FAIL), fail"}, NULL, 0, ALL, AT(fail_if)},
    {{"list", 0, ARGUMENT_FLAG, NULL, 0, 0, NULL,
     "only list the topics of ROS 2 bags: types, counts, rates, what can be decoded"}, NULL, 0, ALL, AT(list)},
    {{"topics", 0, ARGUMENT_TEXT, NULL, 0, 0, "ROLE=TOPIC,...",
     "topics of a bag: command=/cmd_vel,motion=/odom (by type, if each has one topic)"}, NULL, 0, ALL, AT(topics)},
    {{"clock", 0, ARGUMENT_TEXT, NULL, 0, 0, "stamps|log",
     "times of a bag: those of headers, or of the recorder (stamps)"}, NULL, 0, ALL, AT(clock)},
    {{"command-timeout", 0, ARGUMENT_REAL, NULL, 0, 1e9, "S",
     "a command of a bag is held no longer than this (1)"}, NULL, 0, ALL, AT(command_timeout_s)},
    {{"plot", 0, ARGUMENT_TEXT, NULL, 0, 0, "FILE.svg",
     "plot measured and simulated velocities, and residuals, as SVG; needs gnuplot (motion)"},
     NULL, 0, MOTION, AT(plot)},
    {{"repeat", 0, ARGUMENT_FLAG, NULL, 0, 0, NULL,
     "only compare the recordings, each fitted by itself; three files or more"}, NULL, 0, ALL, AT(repeat)},
    {{"write", 0, ARGUMENT_TEXT, NULL, 0, 0, "mjcf|urdf|sdf|json",
     "print a fragment for a simulator's file instead of the result"}, NULL, 0, ALL, AT(write)},
    {{"name", 0, ARGUMENT_TEXT, NULL, 0, 0, "JOINT",
     "name of the joint in the fragment (joint1; --write)"}, NULL, 0, MOTION | SERVOS, AT(fragment.joint)},
    {{"inertia", 0, ARGUMENT_REAL, NULL, 0, 1e9, "KGM2",
     "inertia about the axis, where a fit knows ratios only (0.01; --write)"}, NULL, 0, MOTION | SERVOS,
     AT(fragment.inertia_kgm2)},
    {{"torque-per-unit", 0, ARGUMENT_REAL, NULL, 0, 1e9, "NM",
     "torque of a unit of effort, for efforts in A or V (1; --write)"}, NULL, 0, MOTION | 1 << MODEL_OF_JOINTS,
     AT(fragment.torque_per_unit)},
    {{"mass", 0, ARGUMENT_REAL, NULL, 0, 1e9, "KG",
     "mass of the hull that the file already has (0; --write)"}, NULL, 0, MOTION, AT(fragment.mass_kg)},
    {{"yaw-inertia", 0, ARGUMENT_REAL, NULL, 0, 1e9, "KGM2",
     "the same of its yaw inertia (0; --write)"}, NULL, 0, MOTION, AT(fragment.yaw_inertia_kgm2)},
    {{"details", 0, ARGUMENT_FLAG, NULL, 0, 0, NULL,
     "print all reasons, correlations, checks and data, not one screen"}, NULL, 0, ALL, AT(details)},
    {{"next", 0, ARGUMENT_TEXT, NULL, 0, 0, "OUT.csv",
     "write commands for the next recording that tell most, within the limits; from rest (motion)"},
     NULL, 0, MOTION, AT(next.path)},
    {{"next-for", 0, ARGUMENT_REAL, NULL, 1, 600, "S",
     "length of these commands in whole segments, such as 0.5 s, before the robot is stopped (60; --next)"},
     NULL, 0, MOTION, AT(next.seconds)},
    {{"criterion", 0, ARGUMENT_TEXT, NULL, 0, 0, "mission|all",
     "what they make certain: positions on a mission, or all parameters (mission; --next)"},
     NULL, 0, MOTION, AT(next.criterion)},
    {{"mission", 0, ARGUMENT_TEXT, NULL, 0, 0, "FILE.csv",
     "commands of the mission (the recording; --next)"}, NULL, 0, MOTION, AT(next.mission)},
    {{"limits", 0, ARGUMENT_TEXT, NULL, 0, 0, "NAME=VALUE,...",
     "largest velocities, positions and commands: speed=0.9,position=0.4 (velocities and commands as "
     "recorded, positions without a limit; --next)"}, NULL, 0, MOTION, AT(next.limits)},
    {{"slew", 0, ARGUMENT_REAL, NULL, 0, 1e9, "X",
     "a command crosses at most X times its range a second (no limit; --next)"}, NULL, 0, MOTION,
     AT(next.slew_per_s)},
    {{"seed", 0, ARGUMENT_REAL, NULL, 0, 1e9, "N",
     "of the random commands among which it chooses (1; --next)"}, NULL, 0, MOTION, AT(next.seed)},
    {{"force", 0, ARGUMENT_FLAG, NULL, 0, 0, NULL, "replace OUT.csv (--next)"}, NULL, 0, MOTION, AT(next.force)},
    {{"json", 0, ARGUMENT_FLAG, NULL, 0, 0, NULL,
     "print the result as one JSON document and nothing else"}, NULL, 0, ALL, AT(json)},
    {{NULL, 0, ARGUMENT_TEXT, NULL, 0, 0, NULL, "what the recording is called"}, "name", NAME, ALL, AT(name)},
    {{NULL, 0, ARGUMENT_FLAG, NULL, 0, 0, NULL, "also measured and modelled values, sample by sample"},
     "curves", 0, ALL, AT(curves)},
    {{NULL, 0, ARGUMENT_REAL, NULL, 0, 1e9, NULL, "the body's last bytes are a recording to predict"},
     "held_out_bytes", 0, ALL, AT(held_out_bytes)},
    {{NULL, 0, ARGUMENT_TEXT, NULL, 0, 0, NULL, "what that recording is called"}, "held_out_name", NAME, ALL,
     AT(held_out_name)},
};
/* clang-format on */
_Static_assert(COUNT(identify_options) <= IDENTIFY_OPTIONS_MAX, "raise IDENTIFY_OPTIONS_MAX");
const size_t identify_option_count = COUNT(identify_options);

void *identify_option_value(const struct identify_option *option,
                            struct identify_request *request)
{
    return (char *)request + option->at;
}

size_t identify_options_arguments(struct identify_request *request, unsigned data,
                                  struct argument rows[IDENTIFY_OPTIONS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < COUNT(identify_options); i++) {
        if (identify_options[i].argument.name && (identify_options[i].data & data)) {
            rows[count] = identify_options[i].argument;
            rows[count++].value = identify_option_value(&identify_options[i], request);
        }
    }
    return count;
}

bool identify_option_given(const struct identify_option *option,
                           const struct identify_request *request)
{
    const struct identify_request nothing = identify_request_defaults();
    const void *value = (const char *)request + option->at;
    const void *usual = (const char *)&nothing + option->at;
    switch (option->argument.kind) {
    case ARGUMENT_TEXT:
        return *(const char *const *)value != NULL;
    case ARGUMENT_FLAG:
        return *(const bool *)value;
    case ARGUMENT_LIST:
        return ((const struct argument_list *)value)->count > 0;
    case ARGUMENT_REAL:
    case ARGUMENT_INTEGER:
        break;
    }
    return *(const double *)value > *(const double *)usual;
}

const char *identify_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool identify_is_journal(const struct csv_source *input)
{
    struct stat kind;
    char head[64] = "";
    if (!input->text && bag_kind_of(input->path) == BAG_LINES) {
        return true;
    }
    if (input->text) {
        const size_t n = input->bytes < sizeof head - 1 ? input->bytes : sizeof head - 1;
        memcpy(head, input->text, n);
    } else if (strcmp(input->path, "-") != 0 && stat(input->path, &kind) == 0) {
        if (S_ISDIR(kind.st_mode)) {
            return true;
        }
        if (!S_ISREG(kind.st_mode)) {
            return false;
        }
        FILE *in = fopen(input->path, "rb");
        const size_t n = in ? fread(head, 1, sizeof head - 1, in) : 0;
        head[n] = '\0';
        if (in) {
            (void)fclose(in);
        }
    }
    const char *begin = head + utf8_mark(head, sizeof head);
    return begin[strspn(begin, " \t\r\n")] == '{';
}

enum status identify_read_tables(struct table *table, const struct csv_source *inputs,
                                 size_t count, size_t *part_start, struct identify_files *files,
                                 struct err *err)
{
    files->count = count;
    for (size_t i = 0; i < count; i++) {
        part_start[i] = table->count;
        files->file[i].name = identify_base_name(inputs[i].path);
        const enum status st = table_read(table, &inputs[i], &files->file[i].mark, err);
        if (st != STATUS_OK) {
            return st;
        }
    }
    part_start[count] = table->count;
    return STATUS_OK;
}

bool identify_go_on(const struct identify_caller *caller, double share, uint64_t done,
                    uint64_t total)
{
    const double part = total > 0 ? (double)done / (double)total : 0.0;
    return !caller->go_on || caller->go_on(caller->context, "reading", share * part);
}

enum status identify_give_up(struct err *err)
{
    return err_set(err, STATUS_E_STALE, FAULT_CANCELLED, "identify", "cancelled");
}

enum status identify_ask_on(const struct identify_caller *caller, const char *stage,
                            double share, struct err *err)
{
    return !caller->go_on || caller->go_on(caller->context, stage, share)
               ? STATUS_OK
               : identify_give_up(err);
}
