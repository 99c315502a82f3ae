#include "service/demo/demo_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#define BOLD  "\033[1m"
#define DIM   "\033[2m"
#define RED   "\033[31m"
#define GREEN "\033[32m"
#define AMBER "\033[33m"
#define BLUE  "\033[36m"
#define PLAIN "\033[0m"

static const char *const fit_names[DEMO_SPEED_COUNT] = {"angular_speed_radps",
                                                        "linear_speed_mps"};
static const char *const fit_units[DEMO_SPEED_COUNT] = {"rad/s", "m/s"};

static const char *colour_of(enum verdict verdict)
{
    switch (verdict) {
    case VERDICT_AHEAD:
        return BLUE;
    case VERDICT_BEHIND:
        return AMBER;
    case VERDICT_SYNC:
        return GREEN;
    case VERDICT_UNRESOLVED:
        return DIM;
    case VERDICT_TIMEOUT:
    case VERDICT_INCONSISTENT:
    case VERDICT_VIRTUAL_ONLY:
    case VERDICT_REAL_ONLY:
    case VERDICT_OVERFLOW:
    case VERDICT_COUNT:
        break;
    }
    return RED;
}

static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : nan("");
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

/* "-" for what is not there. */
static const char *show_number(double value, const char *format, char out[24])
{
    if (isfinite(value)) {
        /* NOLINTNEXTLINE(clang-diagnostic-format-nonliteral): formats are this file's own. */
        (void)snprintf(out, 24, strcmp(format, "lag") == 0 ? "%+.3f" : "%.3f", value);
    } else {
        (void)snprintf(out, 24, "-");
    }
    return out;
}

static const char *show_fit(const struct demo_fit *fit, char out[24])
{
    if (isfinite(fit->value) && isfinite(fit->low) && isfinite(fit->high)) {
        (void)snprintf(out, 24, "%.3f ±%.3f", fit->value, 0.5 * (fit->high - fit->low));
    } else {
        (void)snprintf(out, 24, "-");
    }
    return out;
}

/* printf pads by bytes, but "±" has two. */
static void print_fit(const struct demo_fit *fit)
{
    char out[24];
    (void)show_fit(fit, out);
    const int extra = strchr(out, '-') == out ? 0 : 1;
    (void)printf("  %*s", 13 + extra, out);
}

static void print_header(struct demo_table *t)
{
    if (t->header_shown) {
        return;
    }
    t->header_shown = true;
    (void)printf("%s%4s  %-20s %8s %9s %7s  %-12s %27s %29s\n", t->colour ? BOLD : "", "", "",
                 "real", "virtual", "", "", "real, calibrated", "virtual, calibrated");
    (void)printf("%4s  %-20s %8s %9s %7s  %-12s  %13s  %12s  %13s  %12s%s\n", "#", "move",
                 "lap s", "lap s", "lag s", "verdict", "rad/s", "m/s", "rad/s", "m/s",
                 t->colour ? PLAIN : "");
}

static void note_lag(struct demo_table *t, double lag_s)
{
    if (t->settling) {
        t->settling = false;
    } else if (isfinite(lag_s)) {
        const int when = t->promotions > 0;
        t->lag_s_sum[when] += fabs(lag_s);
        t->lag_count[when]++;
    }
}

static void take_entry(struct demo_table *t, const json_t *entry)
{
    char move[48];
    char real[24];
    char virtual[24];
    char lag[24];
    const enum verdict verdict =
        (enum verdict)names_value(&verdict_names, text_of(entry, "verdict"));
    if (verdict == VERDICT_COUNT) {
        t->unreadable++;
        return;
    }
    t->entries++;
    t->counts[verdict]++;
    note_lag(t, number_of(entry, "lag_s"));
    print_header(t);
    const double rotation_rad = number_of(entry, "rotation_rad");
    const double displacement_m = number_of(entry, "displacement_m");
    int used = 0;
    move[0] = '\0';
    if (fabs(rotation_rad) > 0.0) {
        used = snprintf(move, sizeof move, "%+.2f rad ", rotation_rad);
    }
    if (fabs(displacement_m) > 0.0) {
        (void)snprintf(move + used, sizeof move - (size_t)used, "%.2f m", displacement_m);
    }
    (void)printf("%4.0f  %-20s %8s %9s %7s  %s%-12s%s", number_of(entry, "n"),
                 move[0] ? move : text_of(entry, "op"),
                 show_number(number_of(entry, "real_lap_s"), "lap", real),
                 show_number(number_of(entry, "virtual_lap_s"), "lap", virtual),
                 show_number(number_of(entry, "lag_s"), "lag", lag),
                 t->colour ? colour_of(verdict) : "", verdict_name(verdict),
                 t->colour ? PLAIN : "");
    for (enum side side = SIDE_REAL; side < SIDE_COUNT; side++) {
        print_fit(&t->fits[side][DEMO_ANGULAR]);
        print_fit(&t->fits[side][DEMO_LINEAR]);
    }
    (void)putchar('\n');
    (void)fflush(stdout);
}

static void take_calibration(struct demo_table *t, const json_t *calibration)
{
    const json_t *sides = json_object_get(calibration, "travel_time");
    for (enum side side = SIDE_REAL; side < SIDE_COUNT; side++) {
        const json_t *fit = json_object_get(sides, side_name(side));
        const json_t *values = json_object_get(fit, "values");
        const json_t *intervals = json_object_get(fit, "ci95");
        (void)snprintf(t->verdicts[side], sizeof t->verdicts[side], "%s",
                       text_of(fit, "verdict"));
        for (int i = 0; i < DEMO_SPEED_COUNT; i++) {
            const json_t *interval = json_object_get(intervals, fit_names[i]);
            const json_t *low = json_array_get(interval, 0);
            const json_t *high = json_array_get(interval, 1);
            t->fits[side][i] = (struct demo_fit){
                .value = number_of(values, fit_names[i]),
                .low = json_is_number(low) ? json_number_value(low) : nan(""),
                .high = json_is_number(high) ? json_number_value(high) : nan("")};
        }
    }
}

static void take_change(struct demo_table *t, const json_t *change)
{
    const json_t *values = json_object_get(json_object_get(change, "set"), "values");
    if (strcmp(text_of(change, "action"), "promoted") != 0 || !values) {
        return;
    }
    t->promotions++;
    t->settling = true;
    t->lag_s_sum[1] = 0.0;
    t->lag_count[1] = 0;
    for (int i = 0; i < DEMO_SPEED_COUNT; i++) {
        t->truth[SIDE_VIRTUAL][i] = number_of(values, fit_names[i]);
    }
    (void)printf(
        "%s      parameter set %.0f goes to the simulator: it turns at %.3f rad/s and drives "
        "at %.3f m/s now%s\n",
        t->colour ? BOLD : "", number_of(change, "version"),
        t->truth[SIDE_VIRTUAL][DEMO_ANGULAR], t->truth[SIDE_VIRTUAL][DEMO_LINEAR],
        t->colour ? PLAIN : "");
    (void)fflush(stdout);
}

static void take_alarm(struct demo_table *t, const json_t *alarm)
{
    t->alarms++;
    (void)printf("%s      alarm %s %s: %s%s\n", t->colour ? RED : "", text_of(alarm, "type"),
                 text_of(alarm, "side"), text_of(alarm, "detail"), t->colour ? PLAIN : "");
    (void)fflush(stdout);
}

void demo_table_take(struct demo_table *t, const char *topic, const char *payload, size_t bytes)
{
    const char *word = strrchr(topic, '/');
    word = word ? word + 1 : topic;
    if (strcmp(word, "command") == 0) {
        t->commands++;
        return;
    }
    json_t *document = json_loadb(payload, bytes, 0, NULL);
    if (!document) {
        t->unreadable++;
    } else if (strcmp(word, "entry") == 0) {
        take_entry(t, document);
    } else if (strcmp(word, "calibration") == 0) {
        take_calibration(t, document);
    } else if (strcmp(word, "change") == 0) {
        take_change(t, document);
    } else if (strcmp(word, "alarm") == 0) {
        take_alarm(t, document);
    }
    json_decref(document);
}

static void print_speed(const struct demo_table *t, enum side side, int i)
{
    const struct demo_fit *fit = &t->fits[side][i];
    (void)printf(" %s ", i == DEMO_ANGULAR ? "turns at" : "drives at");
    if (!isfinite(fit->value)) {
        (void)printf("a speed not known yet;");
        return;
    }
    (void)printf("%.4f %s, ", fit->value, fit_units[i]);
    if (isfinite(fit->low) && isfinite(fit->high)) {
        (void)printf("95 %% [%.4f, %.4f]", fit->low, fit->high);
    } else {
        (void)printf("too few moves for an interval");
    }
    (void)printf(", true %.4f;", t->truth[side][i]);
}

void demo_table_summary(const struct demo_table *t)
{
    (void)printf("\n%llu commands, %llu entries:", (unsigned long long)t->commands,
                 (unsigned long long)t->entries);
    for (enum verdict v = VERDICT_AHEAD; v < VERDICT_COUNT; v++) {
        if (t->counts[v] > 0) {
            (void)printf(" %llu %s", (unsigned long long)t->counts[v], verdict_name(v));
        }
    }
    (void)printf("; %llu alarm%s\n", (unsigned long long)t->alarms, t->alarms == 1 ? "" : "s");
    if (t->lag_count[0] > 0 && t->lag_count[1] > 0) {
        const double before_s = t->lag_s_sum[0] / (double)t->lag_count[0];
        const double after_s = t->lag_s_sum[1] / (double)t->lag_count[1];
        (void)printf("mean |lag| %.3f s before the simulator got the real robot's parameters, "
                     "%.3f s after (%.1f times less)\n",
                     before_s, after_s, before_s / after_s);
    }
    for (enum side side = SIDE_REAL; side < SIDE_COUNT; side++) {
        (void)printf("%-7s", side_name(side));
        if (!t->verdicts[side][0]) {
            (void)puts(" not calibrated yet");
            continue;
        }
        for (int i = 0; i < DEMO_SPEED_COUNT; i++) {
            print_speed(t, side, i);
        }
        (void)printf(" fit %s\n", t->verdicts[side]);
    }
}
