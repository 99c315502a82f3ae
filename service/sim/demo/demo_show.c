#include "service/sim/demo/demo_show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "service/list/colour.h"
#include "service/tool/csv_tables.h"
#include "service/tool/json_file.h"
#include "service/tool/lab_clock.h"

enum { OPEN_LOOP, FOLLOWING };

/* A speed's name in messages, in the table head, and in words. */
struct speed_text {
    const char *name, *head, *unit, *is, *sent_text;
};
static const struct speed_text drive_texts[DEMO_SPEED_COUNT] = {
    {"angular_speed_radps", "rad/s", "rad/s", "turns at", "it turns at"},
    {"linear_speed_mps", "m/s", "m/s", "drives at", "drives at"}};
static const struct speed_text arm_texts[DEMO_SPEED_COUNT] = {
    {"joint_speed_ratio", "joints", "of the commanded", "moves joints at",
     "its joints move at"},
    {"line_speed_ratio", "lines", "of the commanded", "lines at", "its tool at"}};

static const struct speed_text *texts_of(const struct demo_show *s)
{
    return s->arms ? arm_texts : drive_texts;
}
static const char *const velocities[DEMO_VELOCITIES] = {"u", "v", "r"};

/* Returns the escape sequence of a colour, "" unless on a terminal. */
static const char *paint_with(const struct demo_show *s, const char *colour)
{
    return s->colour ? colour : "";
}

/* --- laps -------------------------------------------------------------------------------- */

/* printf pads by bytes, but "±" has two. */
static void print_fit(const struct demo_fit *fit)
{
    char text[48];
    if (isfinite(fit->value) && isfinite(fit->low) && isfinite(fit->high)) {
        const double half = 0.5 * (fit->high - fit->low);
        (void)snprintf(text, sizeof text, "%.3f %s%.3f", fit->value, half < 0.001 ? "±<" : "±",
                       fmax(half, 0.001));
        (void)printf("  %14s", text);
    } else {
        (void)printf("  %13s", isfinite(fit->value) ? "too few moves" : "-");
    }
}

static void print_header(struct demo_show *s)
{
    const char *bold = paint_with(s, COLOUR_BOLD);
    const char *plain = paint_with(s, COLOUR_PLAIN);
    if (s->header_shown) {
        return;
    }
    s->header_shown = true;
    if (s->vessels) {
        (void)printf("%s%6s  %-10s gap, RMS over %g s:\n", bold, "", "", s->window_s);
        (void)printf("%6s  %-10s %9s %9s %9s %9s %9s  %s%s\n", "s", "", "u m/s", "v m/s",
                     "r rad/s", "x m", "y m", "within 5 cm, 50 ms", plain);
        return;
    }
    const struct speed_text *texts = texts_of(s);
    const char *angular = texts[DEMO_ANGULAR].head;
    const char *linear = texts[DEMO_LINEAR].head;
    (void)printf("%s%4s  %-20s %8s %9s %7s  %-12s%7s %27s %29s\n", bold, "", "", "real",
                 "virtual", "", "", s->arms ? "tools" : "", "real, calibrated",
                 "virtual, calibrated");
    (void)printf("%4s  %-20s %8s %9s %7s  %-12s%7s  %13s  %12s  %13s  %12s%s\n", "#", "move",
                 "lap s", "lap s", "lag s", "verdict", s->arms ? "mm" : "", angular, linear,
                 angular, linear, plain);
}

static void add_lag(struct demo_show *s, double lag_s, double gap_mm)
{
    const int when = s->promotions > 0;
    if (s->settling) {
        s->settling = false;
        return;
    }
    if (isfinite(lag_s)) {
        s->lag_s_sum[when] += fabs(lag_s);
        s->lag_count[when]++;
    }
    if (isfinite(gap_mm)) {
        s->gap_mm_sum[when] += gap_mm;
        s->gap_count[when]++;
    }
}

static void show_command(struct demo_show *s, const json_t *command)
{
    (void)command;
    s->commands++;
}

static void show_entry(struct demo_show *s, const json_t *entry)
{
    char move[48] = "";
    int used = 0;
    const enum verdict verdict =
        (enum verdict)names_value(&verdict_names, json_file_text(entry, "verdict"));
    const double lag_s = json_file_real(entry, "lag_s");
    const double judged_s = json_file_real(entry, "judged_lag_s");
    const double rotation_rad = json_file_real(entry, "rotation_rad");
    const double displacement_m = json_file_real(entry, "displacement_m");
    if (verdict == VERDICT_COUNT) {
        return;
    }
    s->entries++;
    s->counts[verdict]++;
    s->inconsistent += json_is_false(json_object_get(entry, "consistent"));
    const double gap_mm = json_file_real(entry, "tool_gap_max_mm");
    add_lag(s, lag_s, gap_mm);
    print_header(s);
    if (fabs(rotation_rad) >= 0.005) { /* a line turns the tool only by rounding of its poses */
        used = snprintf(move, sizeof move, "%+.2f rad ", rotation_rad);
    }
    if (fabs(displacement_m) > 0.0) {
        (void)snprintf(move + used, sizeof move - (size_t)used, "%.2f m", displacement_m);
    }
    (void)printf("%4.0f  %-20s", json_file_real(entry, "n"),
                 move[0] ? move : json_file_text(entry, "op"));
    csv_tables_cell(stdout, 8, 3, 'f', json_file_real(entry, "real_lap_s"));
    csv_tables_cell(stdout, 9, 3, 'f', json_file_real(entry, "virtual_lap_s"));
    csv_tables_cell(stdout, 7, 3, '+', lag_s);
    (void)printf("  %s%-12s%s", paint_with(s, colour_of_verdict(verdict)),
                 verdict_name(verdict), paint_with(s, COLOUR_PLAIN));
    if (s->arms) {
        csv_tables_cell(stdout, 7, 1, 'f', gap_mm);
    } else {
        (void)printf("%7s", "");
    }
    for (enum side side = SIDE_REAL; side < SIDE_COUNT; side++) {
        print_fit(&s->fits[side][DEMO_ANGULAR]);
        print_fit(&s->fits[side][DEMO_LINEAR]);
    }
    (void)putchar('\n');
    if (isfinite(judged_s)) {
        (void)printf(
            "      judged by the robots' stamps: %+.3f s; the network's share: %+.3f s\n",
            judged_s, lag_s - judged_s);
    }
}

/* NaN when it is no number. */
static double end_of(const json_t *interval, size_t end)
{
    const json_t *value = json_array_get(interval, end);
    return json_is_number(value) ? json_number_value(value) : nan("");
}

static void show_calibration(struct demo_show *s, const json_t *calibration)
{
    const json_t *sides = json_object_get(calibration, "travel_time");
    for (enum side side = SIDE_REAL; side < SIDE_COUNT; side++) {
        const json_t *fit = json_object_get(sides, side_name(side));
        const json_t *values = json_object_get(fit, "values");
        (void)snprintf(s->verdicts[side], sizeof s->verdicts[side], "%s",
                       json_file_text(fit, "verdict"));
        for (int i = 0; i < DEMO_SPEED_COUNT; i++) {
            const char *name = texts_of(s)[i].name;
            const json_t *interval = json_object_get(json_object_get(fit, "ci95"), name);
            s->fits[side][i] = (struct demo_fit){json_file_real(values, name),
                                                 end_of(interval, 0), end_of(interval, 1)};
        }
    }
}

/* Returns the speed that the simulator sets: a factor of its own, or a value. */
static double applied_speed(const json_t *set, const char *name, double own)
{
    const json_t *adjust = json_object_get(json_object_get(set, "adjust"), name);
    return adjust ? own * json_file_real(adjust, "factor")
                  : json_file_real(json_object_get(set, "sent"), name);
}

static void show_change(struct demo_show *s, const json_t *change)
{
    const json_t *set = json_object_get(change, "set");
    if (strcmp(json_file_text(change, "action"), "promoted") != 0 || !set) {
        return;
    }
    s->promotions++;
    s->settling = true;
    s->lag_s_sum[1] = 0.0;
    s->lag_count[1] = 0;
    s->gap_mm_sum[1] = 0.0;
    s->gap_count[1] = 0;
    (void)printf("%s      parameter set %.0f goes to the simulator:",
                 paint_with(s, COLOUR_BOLD), json_file_real(change, "version"));
    for (int i = 0; i < DEMO_SPEED_COUNT; i++) {
        const struct speed_text *text = &texts_of(s)[i];
        const double sent = applied_speed(set, text->name, s->own[i]);
        if (isfinite(sent)) {
            s->truth[SIDE_VIRTUAL][i] = sent;
            (void)printf("%s %s %.3f %s", i > 0 ? " and" : "", text->sent_text, sent,
                         text->unit);
        }
    }
    (void)printf(" now%s\n", paint_with(s, COLOUR_PLAIN));
}

static void print_speed(const struct demo_show *s, enum side side, int i)
{
    const struct demo_fit *fit = &s->fits[side][i];
    (void)printf(" %s ", texts_of(s)[i].is);
    if (!isfinite(fit->value)) {
        (void)printf("a speed not known yet;");
        return;
    }
    (void)printf("%.4f %s, ", fit->value, texts_of(s)[i].unit);
    if (isfinite(fit->low) && isfinite(fit->high)) {
        (void)printf("95 %% [%.4f, %.4f]", fit->low, fit->high);
    } else {
        (void)printf("too few moves for an interval");
    }
    (void)printf(", true %.4f;", s->truth[side][i]);
}

static bool sum_laps_up(const struct demo_show *s)
{
    (void)printf("\n%llu commands, %llu entries:", (unsigned long long)s->commands,
                 (unsigned long long)s->entries);
    for (enum verdict v = VERDICT_AHEAD; v < VERDICT_COUNT; v++) {
        if (s->counts[v] > 0) {
            (void)printf(" %llu %s", (unsigned long long)s->counts[v], verdict_name(v));
        }
    }
    if (s->inconsistent > 0) {
        (void)printf("; %llu inconsistent", (unsigned long long)s->inconsistent);
    }
    (void)printf("; %llu alarm%s\n", (unsigned long long)s->alarms, s->alarms == 1 ? "" : "s");
    if (s->lag_count[0] > 0 && s->lag_count[1] > 0) {
        const double before_s = s->lag_s_sum[0] / (double)s->lag_count[0];
        const double after_s = s->lag_s_sum[1] / (double)s->lag_count[1];
        (void)printf("mean |lag| %.3f s before the simulator got the real robot's parameters, "
                     "%.3f s after (%.1f times less)\n",
                     before_s, after_s, before_s / after_s);
    }
    if (s->gap_count[0] > 0 && s->gap_count[1] > 0) {
        const double before_mm = s->gap_mm_sum[0] / (double)s->gap_count[0];
        const double after_mm = s->gap_mm_sum[1] / (double)s->gap_count[1];
        (void)printf(
            "tools apart on the way, mean of the largest: %.1f mm before, %.1f mm after "
            "(%.1f times less)\n",
            before_mm, after_mm, before_mm / after_mm);
    }
    for (enum side side = SIDE_REAL; side < SIDE_COUNT; side++) {
        (void)printf("%-7s", side_name(side));
        if (!s->verdicts[side][0]) {
            (void)puts(" not calibrated yet");
            continue;
        }
        for (int i = 0; i < DEMO_SPEED_COUNT; i++) {
            print_speed(s, side, i);
        }
        (void)printf(" fit %s\n", s->verdicts[side]);
    }
    return s->entries > 0;
}

/* --- vessels ----------------------------------------------------------------------------- */

const char demo_show_vessels[] =
    "# Made by tandem demo. What each can do is what its thrusters give; the simulated one may "
    "be pushed any way.\n"
    "real:\n"
    "  vessel: iacquabot\n"
    "  actuation: allocated\n"
    "  noise_u_mps: 0.0005\n"
    "  noise_v_mps: 0.0005\n"
    "  noise_r_radps: 0.0003\n"
    "virtual:\n"
    "  vessel: wamv\n"
    "  effort_timeout_s: 0.5\n";

/* Generates turns and straights that never repeat, within the limits of the real vessel's
 * thrusters. */
bool demo_show_drive(struct demo_show *s, struct mqtt_client *client)
{
    char payload[128];
    const int64_t now_us = lab_clock_monotonic_us();
    s->begun_us = s->begun_us > 0 ? s->begun_us : now_us;
    const double turns_s = 2.0 * PI * lab_s(now_us - s->begun_us);
    const bool begins = !s->following && lab_s(now_us - s->begun_us) >= s->open_s;
    if (begins) {
        s->following = true;
        s->following_us = now_us;
    }
    (void)snprintf(payload, sizeof payload, "{\"tau\":[%.3f,0.000,%.3f]}",
                   50.0 + 15.0 * sin(turns_s / 13.0),
                   10.0 + 8.0 * sin(turns_s / 9.0) + 4.0 * sin(turns_s / 3.1));
    for (enum side side = SIDE_REAL; side <= (s->following ? SIDE_REAL : SIDE_VIRTUAL);
         side++) {
        char topic[64];
        (void)snprintf(topic, sizeof topic, "tandem/v1/r1/%s/control", side_name(side));
        /* The next effort follows at once, so a refused one does not matter. */
        (void)!mqtt_client_publish(client, topic, payload, strlen(payload), 0, false);
    }
    return begins;
}

static void show_fidelity(struct demo_show *s, const json_t *fidelity)
{
    const json_t *states = json_object_get(fidelity, "states");
    const int64_t now_us = lab_clock_monotonic_us();
    const int phase = s->following ? FOLLOWING : OPEN_LOOP;
    const double within_ratio = json_file_real(fidelity, "within_ratio");
    if (s->begun_us == 0 || !(json_file_real(fidelity, "samples") > 0.0)) {
        return;
    }
    print_header(s);
    (void)printf("%6.1f  %s%-10s%s", lab_s(now_us - s->begun_us),
                 paint_with(s, s->following ? COLOUR_GREEN : COLOUR_AMBER),
                 s->following ? "following" : "open loop", paint_with(s, COLOUR_PLAIN));
    for (int i = 0; i < DEMO_VELOCITIES; i++) {
        s->gap[phase][i] = json_file_real(json_object_get(states, velocities[i]), "rmse");
        csv_tables_cell(stdout, 9, 5, 'f', s->gap[phase][i]);
    }
    csv_tables_cell(stdout, 9, 3, 'f', json_file_real(json_object_get(states, "x"), "rmse"));
    csv_tables_cell(stdout, 9, 3, 'f', json_file_real(json_object_get(states, "y"), "rmse"));
    csv_tables_cell(stdout, 9, 0, 'f', 100.0 * within_ratio);
    (void)puts(" %");
    s->within_ratio[phase] = within_ratio;
    /* The window must hold this phase only. */
    s->known[phase] = !s->following || lab_s(now_us - s->following_us) > s->window_s + 1.0;
}

static bool sum_gap_up(const struct demo_show *s)
{
    (void)printf("\n%-46s %9s %9s %9s\n", "gap between real and virtual vessel, RMS", "u m/s",
                 "v m/s", "r rad/s");
    for (int phase = OPEN_LOOP; phase <= FOLLOWING; phase++) {
        (void)printf("%-46s", phase == OPEN_LOOP ? "open loop: both get the same efforts"
                                                 : "following: Tandem drives the virtual one");
        for (int i = 0; i < DEMO_VELOCITIES; i++) {
            csv_tables_cell(stdout, 9, 5, 'f', s->known[phase] ? s->gap[phase][i] : nan(""));
        }
        (void)putchar('\n');
    }
    if (!s->known[OPEN_LOOP] || !s->known[FOLLOWING]) {
        (void)puts("it ended before both were seen for long enough; 30 s will do");
        return false;
    }
    (void)printf("%-46s", "times less");
    for (int i = 0; i < DEMO_VELOCITIES; i++) {
        csv_tables_cell(stdout, 9, 1, 'f', s->gap[OPEN_LOOP][i] / s->gap[FOLLOWING][i]);
    }
    (void)printf("\nwithin 5 cm and 50 ms: %.0f %% of the time before, %.0f %% after; noise of "
                 "the real one's telemetry:\n0.0005 m/s, 0.0005 m/s, 0.0003 rad/s, which the "
                 "gap holds; it comes 10 ms late and more\n",
                 100.0 * s->within_ratio[OPEN_LOOP], 100.0 * s->within_ratio[FOLLOWING]);
    return true;
}

/* --- both sides ----------------------------------------------------------------------- */

static void show_alarm(struct demo_show *s, const json_t *alarm)
{
    s->alarms++;
    (void)printf("%s      alarm %s%s%s: %s%s\n", paint_with(s, COLOUR_RED),
                 json_file_text(alarm, "type"), s->vessels ? "" : " ",
                 s->vessels ? "" : json_file_text(alarm, "side"),
                 json_file_text(alarm, "detail"), paint_with(s, COLOUR_PLAIN));
}

static const struct {
    const char *word; /* the last level of a topic */
    void (*show)(struct demo_show *s, const json_t *document);
} words[] = {{"command", show_command},         {"entry", show_entry},
             {"calibration", show_calibration}, {"change", show_change},
             {"fidelity", show_fidelity},       {"alarm", show_alarm}};

/* A robot subscribes before it publishes online. */
static void show_connection(struct demo_show *s, const struct message *m)
{
    for (enum side side = SIDE_REAL; side < SIDE_COUNT; side++) {
        if (strstr(m->topic, side_name(side))) {
            s->online[side] = memmem(m->payload, m->stored_bytes, "\"online\"", 8) != NULL;
        }
    }
}

void demo_show_receive(void *context, const struct message *message)
{
    struct demo_show *s = context;
    const char *word = strrchr(message->topic, '/') + 1;
    json_t *document = json_loadb(message->payload, message->stored_bytes, 0, NULL);
    if (strcmp(word, "connection") == 0) {
        show_connection(s, message);
    }
    for (size_t i = 0; i < COUNT(words) && document; i++) {
        if (strcmp(word, words[i].word) == 0) {
            words[i].show(s, document);
            (void)fflush(stdout);
        }
    }
    json_decref(document);
}

bool demo_show_summary(const struct demo_show *s)
{
    return s->vessels ? sum_gap_up(s) : sum_laps_up(s);
}
