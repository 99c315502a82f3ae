/* tests/unit/test_identify.c - `tandem identify` called by a program: from memory as from a
 * file, with progress reports, and cancelled. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>
#include <jansson.h>
#include <math.h>

#include "service/identify/identify.h"
#include "service/identify/identify_curves.h"
#include "service/identify/move_list.h"

static const char vessel_file[] = TANDEM_SOURCE_DIR "/tests/golden/usv_W.csv";
static const char moves_file[] = TANDEM_SOURCE_DIR "/tests/golden/smartlog.csv";

/* Calls of go_on. */
struct watch {
    size_t asked, patience; /* go_on returns false after this count; 0: never */
    bool wrong;             /* a share that is none */
    double last_share;      /* of end_within() */
    size_t within;
    char stages[256];
};

static bool go_on(void *context, const char *stage, double share)
{
    struct watch *watch = context;
    const size_t n = strlen(watch->stages);
    if (!strstr(watch->stages, stage)) {
        (void)snprintf(watch->stages + n, sizeof watch->stages - n, "%s ", stage);
    }
    watch->wrong = watch->wrong || !(share >= 0.0 && share <= 1.0);
    watch->asked++;
    return watch->patience == 0 || watch->asked < watch->patience;
}

static char *read_file(const char *path, size_t *bytes)
{
    FILE *in = fopen(path, "rb");
    CU_ASSERT_FATAL(in != NULL);
    char *text = malloc(1 << 20);
    CU_ASSERT_FATAL(text != NULL);
    *bytes = fread(text, 1, 1 << 20, in);
    (void)fclose(in);
    return text;
}

/* Result as text, for free(); "" unless STATUS_OK. */
static char *run_identify(const char *model, const struct identify_request *request,
                          enum status *st, struct err *err)
{
    char *text = NULL;
    size_t bytes = 0;
    const struct model_row *found = model_row_find(model);
    CU_ASSERT_FATAL(found != NULL);
    FILE *out = open_memstream(&text, &bytes);
    CU_ASSERT_FATAL(out != NULL);
    *st = identify_check(found, request, err);
    *st = *st == STATUS_OK ? identify_run(found, request, out, err) : *st;
    CHECK_INT("written", fclose(out), 0);
    return text;
}

static void set_columns(struct identify_request *request)
{
    CHECK_INT("columns",
              column_map_read("tau_u=Tu,tau_v=Tv,tau_r=Tr,u=u_meas,v=v_meas,r=r_meas", false,
                              &request->columns, NULL),
              STATUS_OK);
}

static void test_memory(void)
{
    static const struct {
        const char *model, *path, *name, *stages;
    } rows[] = {
        {"usv3", vessel_file, "usv_W.csv",
         "reading starting output_error other windows checking "},
        {"travel_time", moves_file, "smartlog.csv", "reading "},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        enum status st[2] = {STATUS_COUNT, STATUS_COUNT};
        struct watch watch = {.asked = 0};
        size_t bytes = 0;
        char *text = read_file(rows[i].path, &bytes);
        const struct csv_source file = {.path = rows[i].path};
        const struct csv_source memory = {.path = rows[i].name, .text = text, .bytes = bytes};
        struct identify_request request = {
            .side = "real", .delay_max_s = -1.0, .json = true, .files = &file, .file_count = 1};
        if (i == 0) {
            set_columns(&request);
        }
        char *from_file = run_identify(rows[i].model, &request, &st[0], NULL);
        request.files = &memory;
        request.caller = (struct identify_caller){NULL, go_on, &watch};
        char *from_memory = run_identify(rows[i].model, &request, &st[1], NULL);
        CHECK_INT(rows[i].model, st[0], STATUS_OK);
        CHECK_INT(rows[i].model, st[1], STATUS_OK);
        CHECK("a result", strlen(from_file) > 500);
        CHECK_TEXT(rows[i].model, from_memory, from_file);
        CHECK("asked often", watch.asked >= 1);
        CHECK("a share", !watch.wrong);
        CHECK_TEXT(rows[i].model, watch.stages, rows[i].stages);
        free(from_file);
        free(from_memory);
        free(text);
    }
}

/* Whenever the answer is no, the work ends, nothing is written, and nothing is lost. */
static void test_patience(void)
{
    const struct csv_source file = {.path = vessel_file};
    struct identify_request request = {.side = "real",
                                       .delay_max_s = -1.0,
                                       .json = true,
                                       .files = &file,
                                       .file_count = 1,
                                       .method = "pem"};
    size_t ended = 0;
    set_columns(&request);
    request.validate[request.validate_count++] = file;
    for (size_t patience = 1; patience < 200; patience += 1 + patience / 2) {
        struct watch watch = {.patience = patience};
        enum status st = STATUS_COUNT;
        struct err err = {0};
        request.caller = (struct identify_caller){NULL, go_on, &watch};
        char *text = run_identify("usv3", &request, &st, &err);
        CHECK_INT("asked no further", watch.asked, st == STATUS_OK ? watch.asked : patience);
        if (st == STATUS_OK) {
            CHECK("there are no more questions", watch.asked < patience);
            free(text);
            break;
        }
        CHECK_INT("ended", st, STATUS_E_STALE);
        CHECK_TEXT("why", fault_name(err.fault), "cancelled");
        CHECK_TEXT("nothing written", text, "");
        free(text);
        ended++;
    }
    CHECK("in many places", ended > 5);
}

/* The golden recording over and over, as text for free(). */
static char *make_long(size_t copies, size_t *bytes)
{
    size_t n = 0;
    char *text = read_file(vessel_file, &n);
    char *out = malloc(2 * n * copies);
    CU_ASSERT_FATAL(out != NULL);
    size_t used = 0;
    for (size_t k = 0; k < copies; k++) {
        for (const char *line = text; line < text + n; line = strchr(line, '\n') + 1) {
            const size_t length = strcspn(line, "\n") + 1;
            char *comma = NULL;
            const double t_s = strtod(line, &comma);
            if (*line != '#') {
                used += (size_t)sprintf(out + used, "%.2f", t_s + 150.0 * (double)k);
                memcpy(out + used, comma, length - (size_t)(comma - line));
                used += length - (size_t)(comma - line);
            } else if (k == 0) {
                memcpy(out + used, line, length);
                used += length;
            }
        }
    }
    free(text);
    *bytes = used;
    return out;
}

/* One iteration over a long recording takes long: a cancellation ends it. */
static bool end_within(void *context, const char *stage, double share)
{
    struct watch *watch = context;
    const bool again = strcmp(stage, "output_error") == 0 && !(share > watch->last_share) &&
                       !(share < watch->last_share);
    watch->last_share = share;
    watch->within += again;
    return watch->within < 3;
}

static void test_within(void)
{
    size_t bytes = 0;
    char *text = make_long(10, &bytes);
    const struct csv_source input = {.path = "long.csv", .text = text, .bytes = bytes};
    struct watch watch = {.asked = 0};
    struct err err = {0};
    struct identify_request request = {.side = "real",
                                       .delay_max_s = -1.0,
                                       .files = &input,
                                       .file_count = 1,
                                       .caller = {NULL, end_within, &watch},
                                       .method = "output_error"};
    enum status st = STATUS_COUNT;
    set_columns(&request);
    char *out = run_identify("usv3", &request, &st, &err);
    CHECK_INT("asked within an iteration", watch.within, 3);
    CHECK_INT("ended", st, STATUS_E_STALE);
    CHECK_TEXT("why", fault_name(err.fault), "cancelled");
    free(out);
    free(text);
}

/* Errors of held-out recordings name them. */
static void test_held_out(void)
{
    static const char few[] = "rotation_rad,lap_s\n";
    static const char short_rows[] = "t_s,Tu,Tv,Tr,u_meas,v_meas,r_meas\n0,1,1,1,0,0,0\n"
                                     "0.1,1,1,1,0,0,0\n";
    const struct csv_source whole = {.path = vessel_file};
    struct identify_request request = {
        .side = "real",
        .delay_max_s = -1.0,
        .files = &whole,
        .file_count = 1,
        .method = "weak",
        .validate = {{.path = "day2.csv", .text = short_rows, .bytes = sizeof short_rows - 1}},
        .validate_count = 1};
    struct err err = {0};
    enum status st = STATUS_OK;
    set_columns(&request);
    free(run_identify("usv3", &request, &st, &err));
    CHECK_INT("too few", st, STATUS_E_EMPTY);
    CHECK_TEXT("named", err.where, "day2.csv");
    request.validate[1] =
        (struct csv_source){.path = "day3.csv", .text = few, .bytes = sizeof few - 1};
    request.validate_count = 2;
    err = (struct err){0};
    free(run_identify("usv3", &request, &st, &err));
    CHECK_TEXT("the one at fault", err.where, "day3.csv");
}

static void test_faults(void)
{
    static const struct {
        const char *row, *model, *method, *side, *columns, *text;
        enum status st;
        unsigned line, column;
        const char *where, *code;
    } rows[] = {
        {"method", "usv3", "best", "real", "", "", STATUS_E_ARG, 0, 0, "method",
         "unknown_value"},
        {"method of another", "travel_time", "pem", "real", "", "", STATUS_E_ARG, 0, 0,
         "method", "unknown_value"},
        {"side", "travel_time", NULL, "left", "", "", STATUS_E_ARG, 0, 0, "side",
         "unknown_value"},
        {"role", "usv3", NULL, "real", "w=x", "", STATUS_E_ARG, 0, 0, "columns",
         "unknown_name"},
        {"empty", "usv3", NULL, "real", "", "", STATUS_E_PARSE, 1, 0, "up.csv",
         "missing_header"},
        {"text", "usv3", NULL, "real", "", "t,tau_u,tau_v,tau_r,u,v,r\n0,1,0,0,fast,0,0\n",
         STATUS_E_PARSE, 2, 9, "up.csv", "not_a_number"},
        {"column", "usv3", NULL, "real", "u=surge", "t,u\n", STATUS_E_PARSE, 1, 0, "up.csv",
         "missing_column"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct csv_source input = {
            .path = "up.csv", .text = rows[i].text, .bytes = strlen(rows[i].text)};
        struct identify_request request = {.side = rows[i].side,
                                           .delay_max_s = -1.0,
                                           .method = rows[i].method,
                                           .files = &input,
                                           .file_count = 1};
        struct err err = {0};
        enum status st = STATUS_COUNT;
        CHECK_INT(rows[i].row, column_map_read(rows[i].columns, false, &request.columns, &err),
                  STATUS_OK);
        char *text = run_identify(rows[i].model, &request, &st, &err);
        CHECK_INT(rows[i].row, st, rows[i].st);
        CHECK_INT(rows[i].row, err.line, rows[i].line);
        CHECK_INT(rows[i].row, err.column, rows[i].column);
        CHECK_TEXT(rows[i].row, err.where, rows[i].where);
        CHECK_TEXT(rows[i].row, fault_name(err.fault), rows[i].code);
        CHECK_TEXT(rows[i].row, text, "");
        free(text);
    }
    struct identify_request request = {.side = "real", .delay_max_s = -1.0};
    CHECK_INT("no role", column_map_read("=u", false, &request.columns, NULL), STATUS_E_ARG);
    CHECK_INT("no column", column_map_read("u=,v=b", false, &request.columns, NULL),
              STATUS_E_ARG);
    CHECK_INT("no file over HTTP", column_map_read("@x", false, &request.columns, NULL),
              STATUS_E_ARG);
    CHECK("none", model_row_find("walk") == NULL);
    CHECK_TEXT("base", identify_base_name("/a/b.csv"), "b.csv");
}

/* A long recording in two runs: it is cut into stretches, and its only peak is not lost. */
static void test_curve_choice(void)
{
    enum { N = 5000, PEAK = 3333, FIRST = 1700 };
    static double t_s[N], y[N], residual[N], effort[N];
    static char text[1 << 18];
    const size_t runs[] = {0, FIRST, N};
    const struct curve_set set = {
        .part = "recording",
        .name = "a.csv",
        .n = N,
        .t_s = t_s,
        .run_count = 2,
        .run_start = runs,
        .column_count = 2,
        .column = {{"u_mps", "speed", y, residual}, {"tau_n", "force", effort, NULL}}};
    struct json_writer w;
    bool found = false;
    for (size_t k = 0; k < N; k++) {
        t_s[k] = 100.0 + 0.5 * (double)k;
        y[k] = (double)k;
        residual[k] = k == PEAK ? 8.0 : k % 2 ? 0.25 : (double)NAN;
        effort[k] = 3.0;
    }
    json_write_start(&w, text, sizeof text, NULL, NULL);
    identify_curves_write(&w, &set);
    json_t *curve = json_loadb(text, w.used, 0, NULL);
    json_t *axis = json_object_get(json_object_get(curve, "axes"), "u_mps");
    json_t *measured = json_object_get(axis, "measured");
    json_t *modelled = json_object_get(axis, "modelled");
    const size_t n = json_array_size(measured);
    CHECK("some of them", n > CURVE_POINTS_MAX / 2 && n <= CURVE_POINTS_MAX);
    for (size_t i = 0; i < n; i++) {
        const double value = json_number_value(json_array_get(measured, i));
        const double off = value - json_number_value(json_array_get(modelled, i));
        const bool peak = lround(value) == PEAK;
        found = found || peak;
        CHECK_NEAR("a known residual", off, peak ? 8.0 : 0.25, 0, 0);
        CHECK_NEAR("time", json_number_value(json_array_get(json_object_get(curve, "t_s"), i)),
                   0.5 * value, 0, 0);
    }
    CHECK("the peak", found);
    const size_t second =
        (size_t)json_integer_value(json_array_get(json_object_get(curve, "runs"), 1));
    CHECK("the second run",
          json_number_value(json_array_get(measured, second)) >= FIRST &&
              json_number_value(json_array_get(measured, second - 1)) < FIRST);
    json_decref(curve);
}

static double largest_residual(const json_t *curve, const char *name)
{
    const json_t *axis = json_object_get(json_object_get(curve, "axes"), name);
    const json_t *measured = json_object_get(axis, "measured");
    const json_t *modelled = json_object_get(axis, "modelled");
    double most = 0.0;
    for (size_t i = 0; i < json_array_size(measured); i++) {
        const double size = fabs(json_number_value(json_array_get(measured, i)) -
                                 json_number_value(json_array_get(modelled, i)));
        most = size > most ? size : most;
    }
    return most;
}

/* Curves of a recording and a held-out one come only when they are asked for. */
static void test_curves(void)
{
    static const struct {
        const char *model, *method, *path, *axis;
        double most;
    } rows[] = {{"usv3", "weak", vessel_file, "u_mps", 0.3},
                {"travel_time", "ols", moves_file, "lap_s", 60.0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct csv_source file = {.path = rows[i].path};
        struct identify_request request = {.side = "real",
                                           .delay_max_s = -1.0,
                                           .json = true,
                                           .curves = true,
                                           .method = rows[i].method,
                                           .files = &file,
                                           .file_count = 1,
                                           .validate = {file},
                                           .validate_count = 1};
        enum status st = STATUS_COUNT;
        struct err err = {0};
        if (i == 0) {
            set_columns(&request);
        }
        char *text = run_identify(rows[i].model, &request, &st, &err);
        json_t *result = json_loads(text, 0, NULL);
        const json_t *curves = json_object_get(result, "curves");
        CHECK_INT(rows[i].model, json_array_size(curves), 2);
        for (size_t k = 0; k < json_array_size(curves); k++) {
            const double most = largest_residual(json_array_get(curves, k), rows[i].axis);
            CHECK(rows[i].model, most > 0.0 && most < rows[i].most);
        }
        json_decref(result);
        free(text);
        request.validate_count = 0;
        request.validate[0].path = NULL;
        text = run_identify(rows[i].model, &request, &st, &err);
        result = json_loads(text, 0, NULL);
        CHECK_INT(rows[i].model, json_array_size(json_object_get(result, "curves")), 1);
        json_decref(result);
        free(text);
        request.curves = false;
        text = run_identify(rows[i].model, &request, &st, &err);
        CHECK(rows[i].model, !strstr(text, "\"curves\""));
        free(text);
    }
}

static enum status fail_range(struct move_list *list, size_t from, size_t n,
                              enum travel_method method, const char *name)
{
    const bool all = from == 0 && n == list->own_count && method == TRAVEL_AUTO && !name;
    return all ? STATUS_E_MATH : STATUS_OK;
}

/* A failed fit of moves is the fit's, as that of a table is its data's. */
static void test_failed_moves(void)
{
    const struct identify_request request = {.side = "real"};
    const struct move_form form = {.fit = fail_range};
    struct move_list list = {.request = &request, .form = &form};
    struct err err = {0};
    CHECK_INT("failed", move_list_fit(&list, &err), STATUS_E_MATH);
    CHECK_TEXT("code", fault_name(err.fault), "fit_failed");
    CHECK_TEXT("where", err.where, "identify");
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("identify", NULL, NULL);
    CU_add_test(suite, "from memory", test_memory);
    CU_add_test(suite, "cancelled", test_patience);
    CU_add_test(suite, "cancelled within an iteration", test_within);
    CU_add_test(suite, "held out", test_held_out);
    CU_add_test(suite, "choice of samples", test_curve_choice);
    CU_add_test(suite, "curves", test_curves);
    CU_add_test(suite, "faults", test_faults);
    CU_add_test(suite, "failed fit of moves", test_failed_moves);
    return check_run();
}
