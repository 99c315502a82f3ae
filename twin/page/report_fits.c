#include "twin/page/report_fits.h"

#include <math.h>
#include <stdio.h>

#include "twin/page/html_text.h"
#include "twin/report/following_report.h"
#include "twin/report/lag_picture.h"

/* ---- every fit ----------------------------------------------------------------------------
 */

static void print_texts(const struct svg_text *h, const char *title,
                        const char (*texts)[ESTIMATE_TEXT_MAX], size_t count)
{
    if (count == 0) {
        return;
    }
    html_element(h, "p", title);
    svg_printf(h, "<ul>\n");
    for (size_t k = 0; k < count; k++) {
        html_element(h, "li", texts[k]);
    }
    svg_printf(h, "</ul>\n");
}

static void print_estimate(const struct svg_text *h, const char *caption,
                           const struct estimate *e)
{
    bool open = false;
    for (size_t i = 0; i < e->p; i++) {
        open = open || isfinite(e->lo_open[i]);
    }
    html_table(
        h, caption,
        open ? "term|estimate|standard error|95 %|95 %, also with effects that these data do "
               "not exclude"
             : "term|estimate|standard error|95 %");
    for (size_t i = 0; i < e->p; i++) {
        if (!isfinite(e->value[i])) {
            html_row(h, open ? "htttt" : "httt", e->name[i], "not determined", "", "", "");
        } else {
            html_row(h, open ? "hnnii" : "hnni", e->name[i], e->value[i], e->se[i], e->lo[i],
                     e->hi[i], e->lo_open[i], e->hi_open[i]);
        }
    }
    html_table_end(h);
    const size_t first_note = estimate_first_note(e);
    print_texts(h, "Reasons of the verdict:", e->reasons, first_note);
    print_texts(h, "Notes:", e->reasons + first_note, e->reason_count - first_note);
    print_texts(h, "Advice:", e->advice, e->advice_count);
}

void report_picture_write(const struct svg_text *h, const struct lag_panel *panel,
                          const char *title, const char *description, const char *caption)
{
    svg_printf(h, "<figure>");
    lag_picture_write(&(struct lag_picture){.title = title,
                                            .description = description,
                                            .panels = panel,
                                            .panel_count = 1,
                                            .embedded = true},
                      h->output, h->context);
    html_fill(h, "<figcaption>@</figcaption>\n</figure>\n", caption);
}

static void name_program(char *out, size_t size, enum side s, const char *version)
{
    (void)snprintf(out, size, "%s robot%s%s", side_name(s), version[0] ? ", version " : "",
                   version);
}

/* ---- travel times -------------------------------------------------------------------------
 */

/* Lists the moves of a fit: predicted time, and residual. */
static size_t list_residuals(const struct report_pair *pair, enum side s,
                             struct lag_point *points)
{
    union {
        struct travel_move travel[PAIR_WINDOW_MAX];
        struct profile_move commanded[PAIR_WINDOW_MAX];
    } moves;
    int64_t t_us[2];
    const struct pair_fits *f = pair->fits;
    const size_t n = f->commanded
                         ? pair_commanded_moves(pair->pair, pair->p, s, moves.commanded, t_us)
                         : pair_moves(pair->pair, pair->p, s, moves.travel, t_us);
    for (size_t k = 0; k < n; k++) {
        const struct travel_move *m = &moves.travel[k];
        const double lap_s = f->commanded ? moves.commanded[k].lap_s : m->lap_s;
        points[k].x = f->commanded
                          ? profile_time_predict(&f->profile[s], &moves.commanded[k])
                          : travel_time_predict(&f->fit[s], m->rotation_rad, m->displacement_m);
        points[k].y = lap_s - points[k].x;
    }
    return n;
}

static void print_residuals(const struct svg_text *h, const struct report_pair *pair,
                            enum side s, double sd_s)
{
    struct lag_point points[PAIR_WINDOW_MAX];
    const size_t n = list_residuals(pair, s, points);
    const struct lag_series series = {NULL, points, n, LAG_MARK_CIRCLE};
    const struct lag_panel panel = {.x_label = "time by the fit, s",
                                    .y_label = "measured minus fitted, s",
                                    .series = &series,
                                    .series_count = 1,
                                    .band_low = isfinite(sd_s) ? -1.96 * sd_s : 0.0,
                                    .band_high = isfinite(sd_s) ? 1.96 * sd_s : 0.0,
                                    .mark_y = nan("")};
    char words[160];
    const int written = snprintf(words, sizeof words, "%s robot: residuals of %zu move%s.",
                                 side_name(s), n, n == 1 ? "" : "s");
    if (isfinite(sd_s)) {
        (void)snprintf(words + written, sizeof words - (size_t)written,
                       " The band has 95 %% of normal residuals, sd %.3g s.", sd_s);
    }
    report_picture_write(h, &panel, "Residuals of the travel times", words, words);
}

static void print_calibration(const struct svg_text *h, const struct report_pair *pair)
{
    const struct pair_fits *f = pair->fits;
    svg_printf(h, "<h2>Travel times</h2>\n");
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        char who[EVENT_VERSION_MAX + 32];
        char caption[EVENT_VERSION_MAX + 128];
        name_program(who, sizeof who, s, f->version[s]);
        const size_t n = !f->known[s] ? 0 : f->commanded ? f->profile[s].n : f->fit[s].n;
        if (n == 0) {
            (void)snprintf(caption, sizeof caption, "%s: no fit, because it made no moves.",
                           who);
            html_element(h, "p", caption);
            continue;
        }
        const struct estimate *e = f->commanded ? &f->profile[s].estimate : &f->fit[s].estimate;
        (void)snprintf(
            caption, sizeof caption, "%s: the last %zu moves of %llu, %s, %s", who, n,
            (unsigned long long)pair->pair->side[s].moves,
            travel_method_name(f->commanded ? f->profile[s].method : f->fit[s].method),
            estimate_verdict_name(e->verdict));
        print_estimate(h, caption, e);
        print_residuals(h, pair, s,
                        f->commanded ? f->profile[s].residual_s_sd : f->fit[s].residual_s_sd);
    }
}

/* ---- dynamics -----------------------------------------------------------------------------
 */

static void print_data(const struct svg_text *h, const struct model *model,
                       const struct dynamics_result *r)
{
    const struct data_summary *d = &r->summary;
    html_table(h, "Data of the fit", "what|value");
    html_row(h, "hu", "samples recorded", (uint64_t)d->rows);
    html_row(h, "hu", "samples used", (uint64_t)d->used);
    html_row(h, "hn", "duration, s", d->duration_s);
    html_row(h, "hn", "rate, Hz", d->rate_hz);
    html_row(h, "hu", "gaps", (uint64_t)d->gaps);
    html_row(h, "hu", "incomplete samples", (uint64_t)d->incomplete);
    html_table_end(h);
    html_table(h,
               "Range of the data, and share of the variance that older samples predict of "
               "the newer ones",
               "velocity|least to greatest|held-out R²|rmse, simulated");
    for (size_t a = 0; a < model->axis_count; a++) {
        html_row(h, "hinn", model->axes[a].velocity, d->nu[a].min, d->nu[a].max,
                 r->held_out_r2[a], r->run_rmse[a]);
    }
    html_table_end(h);
    html_table(h, "Checks", "check|<verdict|<detail");
    for (size_t k = 0; k < PARAMETERS_CHECKS; k++) {
        html_row(h, "htt", parameter_check_name((enum parameter_check)k),
                 estimate_verdict_name(r->checks.check[k].verdict), r->checks.check[k].detail);
    }
    html_table_end(h);
}

static void print_trace(const struct svg_text *h, const struct model *model, size_t axis,
                        const struct dynamics_trace *trace)
{
    struct lag_point measured[DYNAMICS_TRACE_MAX];
    struct lag_point simulated[DYNAMICS_TRACE_MAX];
    const struct lag_series series[] = {{"measured", measured, trace->n, LAG_MARK_LINE},
                                        {"simulated", simulated, trace->n, LAG_MARK_DASHES}};
    const struct lag_panel panel = {.x_label = "time, s",
                                    .y_label = model->axes[axis].velocity,
                                    .series = series,
                                    .series_count = 2,
                                    .mark_y = nan("")};
    char words[160];
    for (size_t k = 0; k < trace->n; k++) {
        const double t_s = (double)trace->t_s[k];
        measured[k] = (struct lag_point){t_s, (double)trace->measured[axis][k]};
        simulated[k] = (struct lag_point){t_s, (double)trace->simulated[axis][k]};
    }
    (void)snprintf(words, sizeof words,
                   "%s: measured, and simulated by the fit from the efforts alone.",
                   model->axes[axis].velocity_words);
    report_picture_write(h, &panel, "Measured and simulated motion", words, words);
}

static void print_dynamics_side(const struct svg_text *h, const struct pair_dynamics *d,
                                enum side s)
{
    const struct model *model = pair_dynamics_model(d);
    const struct dynamics_side *side = &d->side[s];
    const struct dynamics_result *r = &side->result;
    char text[DYNAMICS_OBSTACLE_MAX + 64];
    char obstacle[DYNAMICS_OBSTACLE_MAX];
    if (!side->fitted) {
        pair_dynamics_obstacle(d, s, obstacle);
        (void)snprintf(text, sizeof text, "%s robot: no fit has ended. %s", side_name(s),
                       obstacle);
        html_element(h, "p", text);
        return;
    }
    (void)snprintf(text, sizeof text, "%s robot: %s by %s, %zu samples, %s", side_name(s),
                   model->name, dynamics_method_name(r->fit.method), r->fit.n,
                   estimate_verdict_name(r->fit.estimate.verdict));
    print_estimate(h, text, &r->fit.estimate);
    print_data(h, model, r);
    for (size_t a = 0; a < model->axis_count && r->trace.n > 0; a++) {
        print_trace(h, model, a, &r->trace);
    }
}

/* ---- fidelity -----------------------------------------------------------------------------
 */

static void print_fidelity(const struct svg_text *h, const struct report_pair *pair)
{
    const struct model *model = pair_following_model(pair->following);
    struct fidelity_report r;
    fidelity_report_read(pair->following, pair->p, &r);
    svg_printf(h, "<h2>Fidelity</h2>\n");
    if (r.n == 0) {
        html_element(h, "p", "No sample of one robot could be compared with the other's.");
        return;
    }
    html_table(h, "The virtual robot's motion against the real one's, over the window",
               "state|root mean square error|mean absolute error|R²");
    for (size_t i = 0; i < r.states; i++) {
        char name[32];
        following_state_name(model, i, name);
        html_row(h, "hnnn", name, r.rmse[i], r.mae[i], r.r2[i]);
    }
    html_table_end(h);
    html_table(h, "Target", "what|value");
    html_row(h, "hu", "samples", r.n);
    html_row(h, "hn", "share within the target", r.within_ratio);
    html_row(h, "hn", "share wanted", pair->p->following->target_ratio);
    html_row(h, "hn", "distance of the target, m", pair->p->following->target_m);
    html_table_end(h);
}

void report_fits_write(const struct svg_text *h, const struct report_pair *pair)
{
    print_calibration(h, pair);
    if (pair->dynamics) {
        svg_printf(h, "<h2>Dynamics</h2>\n");
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            if (pair->dynamics->side[s].followed) {
                print_dynamics_side(h, pair->dynamics, s);
            }
        }
    }
    if (pair->following) {
        print_fidelity(h, pair);
    }
}
