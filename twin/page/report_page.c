#include "twin/page/report_page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/lab_time.h"
#include "identification/numeric/share.h"
#include "logger/message/message.h"
#include "twin/page/html_text.h"
#include "twin/page/report_fits.h"

static const char style[] =
    "@page{size:A4;margin:14mm}"
    "body{font:15px/1.45 system-ui,sans-serif;max-width:62rem;margin:1.5rem auto;padding:0 "
    "1rem;color:#1a1a1a;background:#fff}"
    "h1{border-top:2px solid #1a1a1a;padding-top:.6rem}h1,h2,h3{break-after:avoid}"
    "table{border-collapse:collapse;margin:.6rem 0 1.2rem}"
    "caption{text-align:left;font-weight:600;padding:.3rem 0;break-after:avoid}"
    "th,td{text-align:right;padding:.15rem .6rem;border-bottom:1px solid "
    "#ccc;vertical-align:top;"
    "font-variant-numeric:tabular-nums}"
    "th:first-child,td:first-child,.t{text-align:left}.i,tbody th{white-space:nowrap}"
    "td:last-child{overflow-wrap:anywhere}"
    "thead th{border-bottom:2px solid #888;vertical-align:bottom}"
    "tr,.whole,figure{break-inside:avoid}"
    "figure{margin:0 0 1.2rem}svg{width:100%;height:auto;font-size:13px}"
    "code,pre{background:#f2f2f2;overflow-wrap:anywhere}code{padding:.1rem .3rem}"
    "pre{padding:.6rem;white-space:pre-wrap;font-size:12px}"
    ".note{color:#4a4a4a}"
    "@media print{body{font-size:11px;margin:0;max-width:none;padding:0}"
    "th,td{padding:.1rem .35rem}pre{font-size:9px}}";

/* ---- head ---------------------------------------------------------------------------------
 */

void report_page_begin(const struct svg_text *h, const char *version, const char *title)
{
    html_fill(
        h,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">" REPORT_PAGE_MARK
        " @\">\n<meta name=\"viewport\" content=\"width=device-width\">"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "style-src 'unsafe-inline'\">\n<title>Tandem report: @</title>\n",
        version, title);
    svg_printf(h, "<style>%s</style></head>\n", style);
    html_fill(h, "<body><main>\n<p><strong>Tandem report: @</strong></p>\n", title);
}

static void format_time(double t_s, char out[28])
{
    message_format_time(lab_us(t_s), out);
    out[19] = '\0';
    out[10] = ' ';
}

static void print_versions(const struct svg_text *h, const struct report_scan *scan)
{
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        for (size_t k = 0; k < REPORT_VERSIONS_MAX && scan->version[s][k].entries > 0; k++) {
            char what[32];
            (void)snprintf(what, sizeof what, "%s robot, version", side_name(s));
            html_row(h, "htu", what, scan->version[s][k].name, scan->version[s][k].entries);
        }
    }
}

static void print_runs(const struct svg_text *h, const struct report_pair *pair,
                       const struct report_scan *scan)
{
    char first[28];
    char last[28];
    const uint64_t by_id = scan->count - scan->without_id;
    svg_printf(h, "<h2>What ran</h2>\n");
    if (scan->count == 0) {
        html_element(h, "p", "There is no command of this pair.");
        return;
    }
    format_time(scan->first_s, first);
    format_time(scan->last_s, last);
    html_table(h, "Commands", "what|<value|commands");
    html_row(h, "htu", "commands", "", scan->count);
    html_row(h, "htt", "first, UTC", first, "");
    html_row(h, "htt", "last, UTC", last, "");
    html_row(h, "htu", "replies matched", "by the command's id", by_id);
    if (scan->without_id > 0) {
        html_row(h, "htu", "replies matched", "by their order: the commands had no id",
                 scan->without_id);
    }
    html_row(h, "htt", "kind, mode", pair_kind_name(pair->p->kind),
             pair_mode_name(pair->p->mode));
    print_versions(h, scan);
    html_table_end(h);
}

/* ---- verdicts and lags --------------------------------------------------------------------
 */

static void print_share(const struct svg_text *h, const char *what, uint64_t count,
                        uint64_t total)
{
    const struct share share = share_find((double)count, (double)total, 0.95);
    char percent[24];
    char interval[48];
    (void)snprintf(percent, sizeof percent, "%.1f %%", 100.0 * share.value);
    (void)snprintf(interval, sizeof interval, "%.1f to %.1f %%", 100.0 * share.lo,
                   100.0 * share.hi);
    html_row(h, "hutt", what, count, percent, interval);
}

static void print_verdicts(const struct svg_text *h, const struct report_scan *scan)
{
    svg_printf(h, "<h2>Verdicts</h2>\n");
    html_table(h, "Share of commands, with Wilson's interval", "verdict|commands|<share|<95 %");
    for (enum verdict v = VERDICT_AHEAD; v < VERDICT_COUNT; v++) {
        if (scan->verdict[v] > 0) {
            print_share(h, verdict_name(v), scan->verdict[v], scan->count);
        }
    }
    if (scan->inconsistent > 0) {
        print_share(h, "replies differ (of any verdict)", scan->inconsistent, scan->count);
    }
    html_table_end(h);
}

/* Copies the points of these verdicts. */
static size_t choose_points(const struct report_scan *scan, bool sync, bool others,
                            struct lag_point *out)
{
    size_t n = 0;
    for (size_t k = 0; k < scan->point_count; k++) {
        const uint8_t v = scan->points[k].verdict;
        const bool is_sync = v == VERDICT_SYNC;
        const bool is_other = !is_sync && v != VERDICT_AHEAD && v != VERDICT_BEHIND;
        if (is_sync == sync && is_other == others) {
            out[n++] = scan->points[k].at;
        }
    }
    return n;
}

static void print_lags(const struct svg_text *h, const struct report_pair *pair,
                       const struct report_scan *scan)
{
    struct lag_point points[LAG_PICTURE_POINTS_MAX];
    const double tolerance_s = lab_s(pair->p->sync_tolerance_us);
    const size_t apart = choose_points(scan, false, false, points);
    const size_t sync = choose_points(scan, true, false, points + apart);
    const size_t other = choose_points(scan, false, true, points + apart + sync);
    const struct lag_series series[] = {
        {"AHEAD and BEHIND", points, apart, LAG_MARK_SIGN},
        {"SYNC", points + apart, sync, LAG_MARK_CIRCLE},
        {"UNRESOLVED", points + apart + sync, other, LAG_MARK_CROSS}};
    const struct lag_panel panel = {.x_label = "time of the command, UTC",
                                    .y_label = "lag, s",
                                    .series = series,
                                    .series_count = other > 0 ? 3 : 2,
                                    .x_is_time = true,
                                    .band_low = -tolerance_s,
                                    .band_high = tolerance_s,
                                    .mark_y = nan("")};
    char text[160];
    char caption[256];
    (void)snprintf(text, sizeof text,
                   "%zu points: real lap minus virtual lap. The band is %g s wide on either "
                   "side of 0; the table of verdicts has the numbers.",
                   scan->point_count, tolerance_s);
    (void)snprintf(caption, sizeof caption,
                   "Lag: real lap minus virtual lap; above 0 the real robot was slower. The "
                   "band is the tolerance of SYNC, ±%g s.%s",
                   tolerance_s,
                   scan->total > LAG_PICTURE_POINTS_MAX
                       ? " Of each of 1000 intervals the least and the greatest lag are drawn."
                       : "");
    if (scan->point_count == 0) {
        html_element(h, "p", "No command has a lag: never did both robots reply.");
    } else {
        report_picture_write(h, &panel, "Lag of each command", text, caption);
    }
}

enum { N, ID, T, OP, ROTATION, DISPLACEMENT, LAG, VERDICT, DIFFERS, FIRST_OF_SIDE };
enum { LAP, WAIT, MOTION, TRANSPORT, STATUS, VERSION, PARTS };

static void print_robot(const struct svg_text *h, enum side s, const struct report_value *v)
{
    const struct report_value *of = &v[FIRST_OF_SIDE + (size_t)s * PARTS];
    html_fill(h, "<td class=\"t\">@</td>", side_name(s));
    for (size_t k = LAP; k <= TRANSPORT; k++) {
        html_cell_number(h, of[k].number);
    }
    html_fill(h, "<td class=\"t\">@@@</td></tr>\n", of[STATUS].text,
              of[VERSION].text[0] ? ", " : "", of[VERSION].text);
}

/* A command has a row for each robot, which are not parted by the end of a page. */
static void print_worst_entry(const struct svg_text *h, const struct report_worst *worst)
{
    /* clang-format off */
    static const char *const names[FIRST_OF_SIDE + 2 * PARTS] = {
        "n", "id", "t", "op", "rotation_rad", "displacement_m", "lag_s", "verdict", "differs",
        "real_lap_s", "real_wait_s", "real_motion_s", "real_transport_s", "real_status", "real_version",
        "virtual_lap_s", "virtual_wait_s", "virtual_motion_s", "virtual_transport_s", "virtual_status",
        "virtual_version"};
    /* clang-format on */
    struct report_value v[FIRST_OF_SIDE + 2 * PARTS];
    char time[28];
    char n[32];
    char lag[32];
    char size[64];
    (void)report_read(worst->json, worst->bytes, names, COUNT(names), v);
    format_time(v[T].number, time);
    (void)snprintf(n, sizeof n, "%.0f", v[N].number);
    (void)snprintf(lag, sizeof lag, "%+.4g", v[LAG].number);
    (void)snprintf(size, sizeof size, " %.4g rad, %.4g m", v[ROTATION].number,
                   v[DISPLACEMENT].number);
    html_fill(h,
              "</tbody><tbody class=\"whole\"><tr><th scope=\"row\" rowspan=\"2\">@</th>"
              "<td class=\"t\" rowspan=\"2\">@</td><td class=\"t\" rowspan=\"2\">@@<br>@</td>"
              "<td class=\"t\" rowspan=\"2\">@@@</td><td rowspan=\"2\">@</td>",
              n, time + 11, v[OP].text, size, v[ID].text, v[VERDICT].text,
              v[DIFFERS].text[0] ? "; differs in " : "", v[DIFFERS].text, lag);
    print_robot(h, SIDE_REAL, v);
    svg_printf(h, "<tr>");
    print_robot(h, SIDE_VIRTUAL, v);
}

static void print_worst(const struct svg_text *h, const struct report_scan *scan)
{
    if (scan->worst_count == 0) {
        return;
    }
    svg_printf(h, "<h2>Largest lags</h2>\n");
    html_table(
        h,
        "Commands with the largest lags, and their parts in seconds. Commands without a "
        "lag (TIMEOUT) are not among them.",
        "n|<time|<command|<verdict|lag|<robot|lap|wait|motion|transport|<reply, version");
    for (size_t k = 0; k < scan->worst_count; k++) {
        print_worst_entry(h, &scan->worst[k]);
    }
    html_table_end(h);
}

/* ---- clocks -------------------------------------------------------------------------------
 */

static void print_clocks(const struct svg_text *h, const struct report_pair *pair)
{
    html_element(h, "h2", "Clocks");
    html_table(h, "The robots' clocks against the lab's",
               "robot|<state|offset, s|± s|drift, ppm|jitter, s|probes|set|restarts|samples "
               "lost|pace");
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        const struct pair_side *side = &pair->pair->side[s];
        const struct clock_map *c = &side->clock;
        const bool known = c->state != CLOCK_MAP_NONE;
        double pace = nan("");
        double pace_se = nan("");
        (void)pace_read(&side->pace, &pace, &pace_se);
        html_row(h, "htnnnnuuuun", side_name(s), clock_map_state_name(c->state),
                 known ? clock_map_offset_us(c, c->at_us) * 1e-6 : nan(""),
                 known ? clock_map_sd_us(c, c->at_us) * 1e-6 : nan(""),
                 c->state == CLOCK_MAP_LOCKED ? c->drift * 1e6 : nan(""),
                 known ? c->jitter_us * 1e-6 : nan(""), (uint64_t)c->probes, (uint64_t)c->jumps,
                 (uint64_t)c->restarts, side->seq_missing, pace);
    }
    html_table_end(h);
}

/* ---- alarms, changes ----------------------------------------------------------------------
 */

enum { RECORD_MEMBERS_MAX = 6 };

/* A list while it is read. */
struct listing {
    const struct svg_text *h; /* NULL: records are counted only */
    uint64_t count, shown_max;
    uint64_t by_type[ALARM_TYPE_COUNT];
    size_t name_count;
    const char *names[RECORD_MEMBERS_MAX]; /* [name_count] members shown, the time first */
};

static bool count_record(struct listing *list, const char *json, size_t bytes)
{
    static const char *const names[] = {"type"};
    struct report_value type;
    (void)report_read(json, bytes, names, 1, &type);
    const size_t k = names_value(&alarm_type_names, type.text);
    if (k < ALARM_TYPE_COUNT) {
        list->by_type[k]++;
    }
    list->count++;
    return true;
}

static bool add_record(void *context, const char *json, size_t bytes)
{
    struct listing *list = context;
    struct report_value v[RECORD_MEMBERS_MAX];
    char time[28];
    if (!list->h) {
        return count_record(list, json, bytes);
    }
    (void)report_read(json, bytes, list->names, list->name_count, v);
    format_time(v[0].number, time);
    html_fill(list->h, "<tr><th scope=\"row\">@</th>", time);
    for (size_t k = 1; k < list->name_count; k++) {
        if (isfinite(v[k].number)) {
            (void)snprintf(v[k].text, sizeof v[k].text, "%.0f", v[k].number);
        }
        html_fill(list->h, "<td class=\"t\">@</td>", v[k].text);
    }
    svg_printf(list->h, "</tr>\n");
    return ++list->count < list->shown_max;
}

static void print_types(const struct svg_text *h, const struct listing *all)
{
    html_table(h, "Alarms by type", "type|alarms");
    for (size_t k = 0; k < ALARM_TYPE_COUNT; k++) {
        if (all->by_type[k] > 0) {
            html_row(h, "hu", alarm_type_name((enum alarm_type)k), all->by_type[k]);
        }
    }
    html_table_end(h);
}

static enum status print_list(const struct svg_text *h, const struct report_pair *pair,
                              enum report_list list)
{
    const bool alarms = list == REPORT_ALARMS;
    const struct listing shown[] = {
        {.h = h,
         .shown_max = 50,
         .name_count = 5,
         .names = {"t", "code", "side", "id", "detail"}},
        {.h = h,
         .shown_max = 100,
         .name_count = 6,
         .names = {"t", "action", "by", "version", "detail", "code_version"}}};
    struct listing rows = shown[!alarms];
    struct listing all = {.h = NULL};
    char caption[64] = "All, the oldest first";
    enum status status = pair->each(pair->context, list, add_record, &all);
    html_element(h, "h2", alarms ? "Alarms" : "Changes of parameter sets and versions");
    if (status != STATUS_OK || all.count == 0) {
        html_element(h, "p", "None.");
        return status;
    }
    if (alarms) {
        print_types(h, &all);
    }
    if (all.count > rows.shown_max) {
        (void)snprintf(caption, sizeof caption, "The first %llu of %llu",
                       (unsigned long long)rows.shown_max, (unsigned long long)all.count);
    }
    html_table(h, caption,
               alarms ? "time, UTC|<alarm|<robot|<command|<detail"
                      : "time, UTC|<change|<by|<set|<detail|<Tandem's version");
    status = pair->each(pair->context, list, add_record, &rows);
    html_table_end(h);
    return status;
}

/* ---- the whole ----------------------------------------------------------------------------
 */

enum status report_page_pair(const struct svg_text *h, const struct report_pair *pair,
                             struct report_scan *scan)
{
    memset(scan, 0, sizeof *scan);
    scan->total = pair->entries;
    enum status status = pair->each(pair->context, REPORT_ENTRIES, report_scan_entry, scan);
    report_scan_end(scan);
    html_fill(h, "<h1>Pair @</h1>\n", pair->p->id);
    print_runs(h, pair, scan);
    if (scan->count > 0) {
        print_verdicts(h, scan);
        print_lags(h, pair, scan);
        print_worst(h, scan);
    }
    html_fill(h, "<p class=\"note\">Fits, fidelity and clocks are those of @.</p>\n",
              pair->state);
    report_fits_write(h, pair);
    print_clocks(h, pair);
    status = status == STATUS_OK ? print_list(h, pair, REPORT_ALARMS) : status;
    status = status == STATUS_OK ? print_list(h, pair, REPORT_CHANGES) : status;
    return status;
}

static void print_left_out(const struct svg_text *h, const struct report_origin *origin)
{
    bool any = false;
    svg_printf(h, "<h1>Rejected input</h1>\n");
    for (size_t k = 0; k < origin->left_out_count; k++) {
        if (origin->left_out[k].count > 0) {
            if (!any) {
                html_table(h, "What is in no result, or not as it came", "what|count");
            }
            html_row(h, "hu", origin->left_out[k].what, origin->left_out[k].count);
            any = true;
        }
    }
    if (any) {
        html_table_end(h);
    } else {
        html_element(h, "p", "None.");
    }
}

void report_page_end(const struct svg_text *h, const struct report_origin *origin)
{
    print_left_out(h, origin);
    html_fill(h, "<h1>How to make this again</h1>\n<p>Tandem @: <code>@</code></p>\n",
              origin->version, origin->command);
    if (origin->note) {
        html_element(h, "p", origin->note);
    }
    if (origin->input_count > 0) {
        html_table(h, "Inputs", "file|bytes|<SHA-256");
        for (size_t k = 0; k < origin->input_count; k++) {
            const struct report_input *input = &origin->inputs[k];
            html_row(h, "hut", input->name, input->bytes, input->sha256);
        }
        html_table_end(h);
    }
    html_fill(h,
              "<details open><summary>Lab file: effective values, without secrets</summary>"
              "<pre>@</pre></details>\n</main></body></html>\n",
              origin->lab);
}
