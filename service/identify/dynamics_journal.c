#include "service/identify/dynamics_journal.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logger/message/codec_native.h"
#include "service/identify/journal_lines.h"

NAMES(journal_stamp_names, JOURNAL_STAMP_COUNT, "arrival", "robot", "simulated");

bool journal_field_from_name(const char *name, struct journal_field *field)
{
    static const char *const vectors[] = {
        [JOURNAL_NU] = "nu[", [JOURNAL_TAU] = "tau[", [JOURNAL_POSE] = "pose["};
    for (size_t i = 0; i < COUNT(vectors); i++) {
        const size_t n = strlen(vectors[i]);
        if (strncmp(name, vectors[i], n) == 0 && isdigit((unsigned char)name[n]) &&
            strcmp(name + n + 1, "]") == 0 && name[n] - '0' < EVENT_AXES_MAX) {
            *field = (struct journal_field){.vector = (enum journal_vector)i,
                                            .index = (size_t)(name[n] - '0')};
            return true;
        }
    }
    return false;
}

/* State of reading, kept between two lines. */
struct reading {
    const struct dynamics_journal *wanted;
    struct dynamics_journal_summary summary;
    char found[128];                /* robots that have telemetry: "r1 real, r1 virtual" */
    char prefix[MESSAGE_TOPIC_MAX]; /* topic prefix of the robot that is being read */
    char boot[EVENT_BOOT_MAX];
    enum journal_stamp stamp; /* clock of this boot's rows */
    bool begun;               /* at least one row was made */
    bool fresh;               /* the next row is the first of a boot */
    bool new_part;            /* that row begins a new part */
    int64_t first_us;         /* time of the first row, from which all times count */
    int64_t last_seq;         /* 1: no sequence number yet */
    size_t tau_count;         /* values of the last virtual/control; 0: none yet */
    double tau[EVENT_AXES_MAX];
    enum status outcome;
    struct err *err;
    char scratch[MESSAGE_PAYLOAD_MAX + 1];
};

static int64_t stamp_of(const struct event *e, enum journal_stamp stamp)
{
    const struct event_telemetry *m = &e->telemetry;
    switch (stamp) {
    case JOURNAL_SIMULATED:
        return m->has_sim ? m->sim_us : LAB_TIME_NONE;
    case JOURNAL_SOURCE:
        return m->source_us;
    case JOURNAL_ARRIVAL:
    case JOURNAL_STAMP_COUNT:
    default:
        return e->t_us;
    }
}

static void begin_boot(struct reading *r, const struct event *e)
{
    r->stamp = e->telemetry.sim_us != LAB_TIME_NONE      ? JOURNAL_SIMULATED
               : e->telemetry.source_us != LAB_TIME_NONE ? JOURNAL_SOURCE
                                                         : JOURNAL_ARRIVAL;
    r->fresh = false;
    r->last_seq = -1;
}

static void follow_sequence(struct reading *r, int64_t seq)
{
    if (seq < 0) {
        return;
    }
    if (r->last_seq >= 0 && seq > r->last_seq + 1) {
        r->summary.sequence_gaps++;
        r->summary.lost += (uint64_t)(seq - r->last_seq - 1);
    }
    r->summary.repeated += r->last_seq >= seq ? 1 : 0;
    r->last_seq = seq > r->last_seq ? seq : r->last_seq;
}

/* The numbers of a sample as vectors; nu and tau are on the model's axes. */
struct sample_values {
    const double *values[JOURNAL_POSE + 1];
    size_t count[JOURNAL_POSE + 1];
    double axes[JOURNAL_TAU + 1][MODEL_AXES_MAX];
    bool fits[JOURNAL_TAU + 1];
};

static void read_sample_values(struct reading *r, const struct event_telemetry *m,
                               struct sample_values *sample_values)
{
    const bool controlled = m->tau_count == 0;
    *sample_values = (struct sample_values){
        .values = {[JOURNAL_NU] = m->nu,
                   [JOURNAL_TAU] = controlled ? r->tau : m->tau,
                   [JOURNAL_POSE] = m->pose},
        .count = {[JOURNAL_NU] = m->nu_count,
                  [JOURNAL_TAU] = controlled ? r->tau_count : m->tau_count,
                  [JOURNAL_POSE] = m->pose_count}};
    for (int v = JOURNAL_NU; r->wanted->model && v <= JOURNAL_TAU; v++) {
        const enum model_axes_match match =
            model_axes_map(r->wanted->model, sample_values->values[v], sample_values->count[v],
                           sample_values->axes[v]);
        sample_values->fits[v] = match == MODEL_AXES_FIT;
        if (!sample_values->fits[v] && sample_values->count[v] > 0) {
            r->summary.unfit[v]++;
            r->summary.unfit_count[v] = sample_values->count[v];
            r->summary.unfit_sideways[v] =
                match == MODEL_AXES_SIDEWAYS ? sample_values->values[v][1] : 0.0;
        }
    }
}

static double value_of(const struct sample_values *sample_values,
                       const struct journal_field *field)
{
    if (field->axis) {
        return sample_values->fits[field->vector]
                   ? sample_values->axes[field->vector][field->index]
                   : (double)NAN;
    }
    return field->index < sample_values->count[field->vector]
               ? sample_values->values[field->vector][field->index]
               : (double)NAN;
}

static void add_sample(struct reading *r, const struct event *e)
{
    const struct event_telemetry *m = &e->telemetry;
    double row[1 + 3 * EVENT_AXES_MAX];
    struct sample_values sample_values;
    if (m->boot[0] && strcmp(m->boot, r->boot) != 0) {
        const bool restart = r->boot[0] != '\0';
        r->summary.restarts += restart ? 1 : 0;
        r->fresh = r->fresh || restart;
        r->new_part = r->new_part || (restart && r->begun);
        memcpy(r->boot, m->boot, sizeof r->boot);
    }
    if (r->fresh) {
        begin_boot(r, e);
    }
    follow_sequence(r, m->seq);
    const int64_t t_us = stamp_of(e, r->stamp);
    if (!r->begun && t_us != LAB_TIME_NONE) {
        r->first_us = t_us;
    }
    row[0] = t_us == LAB_TIME_NONE ? (double)NAN : (double)(t_us - r->first_us) * 1e-6;
    read_sample_values(r, m, &sample_values);
    for (size_t i = 0; i < r->wanted->field_count; i++) {
        row[1 + i] = value_of(&sample_values, &r->wanted->fields[i]);
        r->summary.seen |= isnan(row[1 + i]) ? 0U : 1U << i;
    }
    r->summary.samples++;
    r->summary.stamped[r->stamp]++;
    r->summary.controlled += m->tau_count == 0 && r->tau_count > 0 ? 1 : 0;
    r->outcome = r->wanted->add_row(r->wanted->context, row, r->new_part, r->err);
    r->begun = true;
    r->new_part = false;
}

static void handle_event(void *context, const struct event *event)
{
    struct reading *r = context;
    if (r->outcome != STATUS_OK) {
        return;
    }
    if (event->kind == EVENT_TELEMETRY) {
        add_sample(r, event);
    } else {
        r->summary.malformed++;
    }
}

static void read_control(void *context, const struct event *event)
{
    struct reading *r = context;
    if (event->kind == EVENT_TELEMETRY && event->telemetry.tau_count > 0) {
        r->tau_count = event->telemetry.tau_count;
        memcpy(r->tau, event->telemetry.tau, sizeof r->tau);
    } else {
        r->summary.malformed++;
    }
}

/* Returns whether a message belongs to the wanted robot. Reports an error when none was named
 * and there are two.
 */
static bool is_of_pair(struct reading *r, const char *pair, size_t n, bool telemetry)
{
    if (r->wanted->pair) {
        return strlen(r->wanted->pair) == n && memcmp(r->wanted->pair, pair, n) == 0;
    }
    if (r->summary.pair[0] == '\0' && telemetry) {
        memcpy(r->summary.pair, pair, n);
        r->summary.pair[n] = '\0';
    }
    const bool same = strlen(r->summary.pair) == n && memcmp(r->summary.pair, pair, n) == 0;
    if (!same && telemetry) {
        r->outcome =
            err_set(r->err, STATUS_E_ARG, FAULT_AMBIGUOUS_PAIR, "journal",
                    "telemetry of several pairs ('%s' and '%.*s'): choose one with --pair",
                    r->summary.pair, (int)n, pair);
    }
    return same;
}

/* Collects robots for the error message about a robot that does not exist. */
static void add_found_robot(struct reading *r, const char *topic)
{
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        char name[EVENT_PAIR_MAX + 16];
        const char *pair = NULL;
        size_t n = 0;
        const char *end = s == SIDE_REAL ? "/real/telemetry" : "/virtual/telemetry";
        if (journal_topic_split(topic, end, r->prefix, &pair, &n)) {
            (void)snprintf(name, sizeof name, "%.*s %s", (int)n, pair, side_name(s));
            names_append_new(r->found, sizeof r->found, name);
        }
    }
}

static void read_message(struct reading *r, struct message *m)
{
    const enum side side = r->wanted->side;
    const char *telemetry = side == SIDE_REAL ? "/real/telemetry" : "/virtual/telemetry";
    const char *pair = NULL;
    size_t n = 0;
    const bool sample = journal_topic_split(m->topic, telemetry, r->prefix, &pair, &n);
    const bool control =
        !sample && side == SIDE_VIRTUAL &&
        journal_topic_split(m->topic, "/virtual/control", r->prefix, &pair, &n);
    /* Retained samples are older than the recording. */
    if ((!sample && !control) || !is_of_pair(r, pair, n, sample) || (sample && m->retained)) {
        r->summary.others++;
        add_found_robot(r, m->topic);
        return;
    }
    if (control) {
        /* Efforts have the format of telemetry, which the codec reads. */
        (void)snprintf(m->topic + strlen(m->topic) - strlen("control"), sizeof "telemetry",
                       "telemetry");
    }
    (void)codec_native.decode(r->prefix, m, control ? read_control : handle_event, r);
}

static enum status read_line(void *context, const struct journal_line *line, struct err *err)
{
    struct reading *r = context;
    struct message m;
    (void)err;
    r->summary.lines++;
    const enum status st = message_parse(line->text, line->bytes, r->scratch, &m, NULL);
    if (st == STATUS_OK && strlen(m.topic) + 2 < sizeof m.topic) {
        read_message(r, &m);
    } else if (st != STATUS_E_EMPTY) {
        r->summary.unreadable++;
    }
    return r->outcome;
}

static enum status judge_reading(struct reading *r, enum status st)
{
    if (st == STATUS_OK && r->summary.samples == 0) {
        st = err_set(r->err, STATUS_E_EMPTY, FAULT_NO_DATA, "journal",
                     "no telemetry of %s%s%s side in %llu lines (%llu of them no messages, "
                     "%llu not of the protocol)%s%s",
                     r->summary.pair, r->summary.pair[0] ? "'s " : "the ",
                     side_name(r->wanted->side), (unsigned long long)r->summary.lines,
                     (unsigned long long)r->summary.unreadable,
                     (unsigned long long)r->summary.malformed, r->found[0] ? "; there is " : "",
                     r->found);
    }
    return st;
}

static bool ask_on(void *context, uint64_t done, uint64_t total)
{
    const struct dynamics_journal *wanted = ((const struct reading *)context)->wanted;
    return !wanted->go_on || wanted->go_on(wanted->context, done, total);
}

enum status dynamics_journal_read(const struct dynamics_journal *wanted,
                                  const struct csv_source *inputs, size_t count,
                                  struct file_mark *marks,
                                  struct dynamics_journal_summary *summary, struct err *err)
{
    struct reading *r = calloc(1, sizeof *r);
    if (!r) {
        return err_no_memory(err, "journal", "no memory");
    }
    *r = (struct reading){.wanted = wanted, .fresh = true, .last_seq = -1, .err = err};
    if (wanted->pair) {
        (void)snprintf(r->summary.pair, sizeof r->summary.pair, "%s", wanted->pair);
    }
    const struct journal_lines lines = {inputs, count, marks, read_line, ask_on, r};
    const enum status st = judge_reading(r, journal_lines_read(&lines, err));
    *summary = r->summary;
    free(r);
    return st;
}
