/* The course of a vessel and its guidance. Numbers marked "own" were computed apart from the
 * code, by bisection and plane geometry in a Python script. */
#include "tests/support/check.h"

#include "base/numbers/constants.h"
#include "base/numbers/random.h"
#include "twin/mission/course_drive.h"

static struct course course;

static struct course_plan plan_of(const char *vessel, const struct world_point *points,
                                  size_t n)
{
    struct course_plan plan = {.vessel = usv3_vessel_find(vessel),
                               .speed_mps = 0.5,
                               .lookahead_m = 6,
                               .turn_in_m = 4,
                               .clearance_m = 2,
                               .point_count = n};
    memcpy(plan.points, points, n * sizeof points[0]);
    return plan;
}

static void add_disc(struct course_plan *plan, const char *name, double x_m, double y_m,
                     double radius_m)
{
    struct world_obstacle disc = {.shape = WORLD_CIRCLE, .radius_m = radius_m};
    (void)snprintf(disc.name, sizeof disc.name, "%s", name);
    CU_ASSERT_FATAL(world_add(&plan->map, &disc, &(struct world_point){x_m, y_m}, 1) ==
                    STATUS_OK);
}

static void test_limits(void)
{
    const struct usv3_vessel *wamv = usv3_vessel_find("wamv");
    const struct usv3_vessel *iacquabot = usv3_vessel_find("iacquabot");
    CHECK_NEAR("own", course_turn_limit_radps(wamv), 1.104795889514075, 1e-12, 0);
    CHECK_NEAR("own", course_turn_limit_radps(iacquabot), 0.21257978448459247, 1e-12, 0);
    CHECK_NEAR("own", course_speed_limit_mps(wamv), 1.899997925168126, 1e-12, 0);
    CHECK_NEAR("own", course_speed_limit_mps(iacquabot), 1.6832149996334707, 1e-12, 0);
}

static void test_lines_and_arcs(void)
{
    static const struct world_point points[] = {{0, 0}, {30, 0}, {30, 30}, {60, 45}};
    static const double lengths[] = {26, 6.283185307179588, 22, 7.165617023966815,
                                     29.541019662496844};
    const struct course_plan plan = plan_of("wamv", points, COUNT(points));
    struct err err = {0};
    CHECK_INT(err.text, course_make(&plan, &course, &err), STATUS_OK);
    CHECK_INT("pieces", course.count, COUNT(lengths));
    for (size_t i = 0; i < COUNT(lengths); i++) {
        CHECK_NEAR("own", course.pieces[i].length_m, lengths[i], 1e-12, 0);
    }
    CHECK_NEAR("own", course.pieces[3].radius_m, 6.47213595499958, 1e-12, 0);
    CHECK_INT("to the left", course.pieces[1].turn, 1);
    CHECK_INT("to the right", course.pieces[3].turn, -1);

    struct course_place place = {0};
    course_find(&course, &(struct world_point){10, 1.5}, 5, &place);
    CHECK_NEAR("along", place.along_m, 10, 1e-12, 0);
    CHECK_NEAR("to the left of it", place.across_m, 1.5, 1e-12, 0);
    CHECK_NEAR("curvature of the turn", course_curvature_ahead(&course, &place, 17), 0.25,
               1e-12, 0);
    CHECK_NEAR("straight behind it", course_curvature_ahead(&course, &place, 23), 0, 0, 0);
    course_find(&course, &(struct world_point){27.976248656882625, 1.111325347816126}, 5,
                &place);
    CHECK_INT("in the turn", place.piece, 1);
    CHECK_NEAR("own", place.along_m, 2.4, 1e-12, 0);
    CHECK_NEAR("inside of the turn", place.across_m, 0.5, 1e-9, 0);
    CHECK_NEAR("direction", place.heading_rad, 0.6, 1e-12, 0);
    CHECK("not at its end", !place.ended);
    course_find(&course, &(struct world_point){61, 45.5}, 5, &place);
    CHECK("at its end", place.ended);
}

static void test_disc(void)
{
    static const struct world_point points[] = {{0, 0}, {40, 0}};
    struct course_plan plan = plan_of("wamv", points, COUNT(points));
    struct err err = {0};
    add_disc(&plan, "buoy", 20, 1, 3);
    CHECK_INT(err.text, course_make(&plan, &course, &err), STATUS_OK);
    CHECK_INT("line, arc, line", course.count, 3);
    CHECK_NEAR("own", course.length_m, 40.80543614027574, 1e-12, 0);
    CHECK_NEAR("own", course.pieces[0].length_m, 19.390719429665317, 1e-12, 0);
    CHECK_INT("the short way, the buoy to the left", course.pieces[1].turn, 1);

    /* A second one closes the short side: both are passed above. */
    add_disc(&plan, "pier", 20, -7, 3.5);
    CHECK_INT(err.text, course_make(&plan, &course, &err), STATUS_OK);
    CHECK_INT("line, arc, line", course.count, 3);
    CHECK_INT("above", course.pieces[1].turn, -1);

    /* Discs on both sides of the line, one after the other. */
    plan = plan_of("wamv", points, COUNT(points));
    add_disc(&plan, "first", 12, 1, 2);
    add_disc(&plan, "second", 28, -2.5, 2);
    CHECK_INT(err.text, course_make(&plan, &course, &err), STATUS_OK);
    CHECK_INT("two arcs", course.count, 5);
    CHECK_INT("below the first", course.pieces[1].turn, 1);
    CHECK_INT("above the second", course.pieces[3].turn, -1);
}

/* No point of any course is nearer to a disc than its clearance. */
static void test_clearance(void)
{
    unsigned made = 0;
    struct random_source random = random_stream(5, 0);
    for (int run = 0; run < 300; run++) {
        struct world_point points[] = {{0, 0}, {50, 0}, {50, 40}, {0, 40}};
        struct course_plan plan = plan_of("wamv", points, COUNT(points));
        struct err err = {0};
        double length_m = 0;
        for (int i = 0; i < 4; i++) {
            add_disc(&plan, "disc", 60 * random_uniform(&random), 50 * random_uniform(&random),
                     0.5 + 4 * random_uniform(&random));
        }
        if (course_make(&plan, &course, &err) != STATUS_OK) {
            CHECK("it says where", err.where[0] && err.text[0]);
            continue;
        }
        made++;
        struct world_point at = plan.points[0];
        double heading = course.pieces[0].heading_rad;
        for (size_t k = 0; k < course.count; k++) {
            const struct course_piece *p = &course.pieces[k];
            CHECK_NEAR("direction goes on", remainder(p->heading_rad - heading, 2 * PI), 0, 0,
                       1e-6);
            for (int i = 0; i < 50; i++) { /* by steps of the direction, apart from the code */
                const double step_m = p->length_m / 50;
                heading += p->turn ? 0.5 * p->turn * step_m / p->radius_m : 0.0;
                at.x_m += step_m * cos(heading);
                at.y_m += step_m * sin(heading);
                heading += p->turn ? 0.5 * p->turn * step_m / p->radius_m : 0.0;
                CHECK("clear", !world_blocked(&plan.map, at.x_m, at.y_m, 1.95));
            }
            length_m += p->length_m;
        }
        CHECK_NEAR("length", length_m, course.length_m, 1e-12, 0);
        CHECK_NEAR("it leads to the last way-point", hypot(at.x_m, at.y_m - 40), 0, 0, 0.02);
    }
    CHECK("most can be passed", made > 100);
    (void)printf("%u of 300 courses around four discs\n", made);
}

static void test_refused(void)
{
    static const struct {
        const char *row, *vessel;
        double speed_mps;
        size_t count;
        struct world_point points[4];
        struct world_obstacle disc; /* radius 0: none */
        struct world_point at;
        const char *where, *text;
    } rows[] = {
        {"too tight",
         "iacquabot",
         0.5,
         3,
         {{0, 0}, {30, 0}, {5, 10}},
         {.radius_m = 0},
         {0, 0},
         "way-point 2 (30.00, 0.00)",
         "a turn of 158 deg has a radius of 0.77 m, but iacquabot at 0.5 m/s turns no tighter "
         "than "
         "2.35 m: a turn of at most 119 deg was expected"},
        {"back",
         "wamv",
         0.8,
         3,
         {{0, 0}, {30, 0}, {0, 0}},
         {.radius_m = 0},
         {0, 0},
         "way-point 2 (30.00, 0.00)",
         "a turn of 180 deg has a radius of 0.00 m"},
        {"too short",
         "wamv",
         0.8,
         4,
         {{0, 0}, {30, 0}, {30, 7}, {60, 7}},
         {.radius_m = 0},
         {0, 0},
         "way-point 3 (30.00, 7.00)",
         "the line to it is 1.00 m too short for the turns"},
        {"same place",
         "wamv",
         0.8,
         3,
         {{0, 0}, {30, 0}, {30, 0}},
         {.radius_m = 0},
         {0, 0},
         "way-point 3 (30.00, 0.00)",
         "is the same place as way-point 2 (30.00, 0.00)"},
        {"too fast",
         "wamv",
         2.0,
         2,
         {{0, 0}, {30, 0}},
         {.radius_m = 0},
         {0, 0},
         "speed_mps",
         "2 m/s is too fast for wamv: below its top speed 1.90 m/s"},
        {"in a disc",
         "wamv",
         0.8,
         2,
         {{0, 0}, {30, 0}},
         {.name = "buoy", .radius_m = 2},
         {30, 3},
         "way-point 2 (30.00, 0.00)",
         "lies in the disc that the course must leave free around buoy: 3.00 m from its "
         "centre, at "
         "least 4.00 m"},
        {"turn at a disc",
         "wamv",
         0.8,
         3,
         {{0, 0}, {30, 0}, {30, 30}},
         {.name = "buoy", .radius_m = 0.3},
         {27.4, 2.6},
         "way-point 2 (30.00, 0.00)",
         "the course turns at (27.89, 0.47), nearer than clearance_m 2 m"},
        {"a wall",
         "wamv",
         0.8,
         2,
         {{0, 0}, {30, 0}},
         {.name = "quay", .shape = WORLD_WALL},
         {5, 9},
         "quay",
         "is a wall, but a course goes around circles only"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err err = {0};
        struct course_plan plan = plan_of(rows[i].vessel, rows[i].points, rows[i].count);
        plan.speed_mps = rows[i].speed_mps;
        if (rows[i].disc.radius_m > 0 || rows[i].disc.shape == WORLD_WALL) {
            const struct world_point points[] = {rows[i].at, {9, 9}};
            CHECK_INT(rows[i].row,
                      world_add(&plan.map, &rows[i].disc, points,
                                rows[i].disc.shape == WORLD_WALL ? 2 : 1),
                      STATUS_OK);
        }
        CHECK(rows[i].row, course_make(&plan, &course, &err) != STATUS_OK);
        CHECK_TEXT(rows[i].row, err.where, rows[i].where);
        err.text[strlen(rows[i].text)] = '\0';
        CHECK_TEXT(rows[i].row, err.text, rows[i].text);
    }
    /* Names of discs and places of a course from the vessel's own place. */
    struct err err = {0};
    const struct world_point points[] = {{2, 0}, {30, 0}, {5, 3}};
    struct course_plan plan = plan_of("wamv", points, 3);
    plan.has_start = true;
    CHECK("refused", course_make(&plan, &course, &err) != STATUS_OK);
    CHECK_TEXT("counted as in the file", err.where, "way-point 1 (30.00, 0.00)");
    /* Discs side by side leave no way. */
    plan = plan_of("wamv", points, 2);
    plan.map.bounds = (struct world_bounds){0, -6, 40, 6};
    for (int i = -2; i <= 2; i++) {
        add_disc(&plan, "chain", 15, 3 * i, 1);
    }
    err = (struct err){0};
    CHECK_INT("out of bounds", course_make(&plan, &course, &err), STATUS_E_RANGE);
    CHECK_TEXT("where", err.where, "way-point 2 (30.00, 0.00)");
}

static void test_law(void)
{
    const double *theta = usv3_vessel_find("wamv")->theta;
    CHECK_NEAR("own", course_crab_rad(theta, 0.8, 10, 0.05), 0.1615481638444194, 1e-12, 0);
    CHECK_NEAR("own", course_crab_rad(theta, 0.8, -12.218, 0), -0.35414980393272644, 1e-12, 0);
    CHECK_NEAR("own", course_crab_rad(theta, 0.8, 0, 0.2), -0.5352652449189871, 1e-12, 0);
    CHECK_NEAR("own, cut", course_crab_rad(theta, 0.8, 0, -1), 0.848062078981481, 1e-12, 0);
    CHECK_NEAR("own", course_heading_rad(PI / 2, 1.5, 6, 0.2), 1.1258176636680324, 1e-12, 0);
    CHECK_NEAR("own", course_heading_rad(3.1, -2, 6, -0.1), -2.761434752782944, 1e-12, 0);
}

/* How a course ends that goes wrong. */
static void test_failures(void)
{
    static const struct world_point points[] = {{0, 0}, {30, 0}};
    static const struct {
        const char *row;
        double period_s, y_m;
        bool back;
        enum course_failure failure;
    } rows[] = {
        {"off the course", 0.1, 6, false, COURSE_OFF},
        {"no way made", 0.1, 0, false, COURSE_STUCK},
        {"too seldom", 0.5, 0, false, COURSE_GAP},
        {"its clock went back", 0.1, 0, true, COURSE_GAP},
    };
    const struct course_plan plan = plan_of("wamv", points, 2);
    const struct course_limits limits = {.off_m = 5, .patience_s = 20};
    struct err err = {0};
    CHECK_INT(err.text, course_make(&plan, &course, &err), STATUS_OK);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct course_drive drive;
        struct course_sample sample = {.t_s = 100, .pose = {0, rows[i].y_m, 0}};
        double tau[USV3_AXES];
        course_drive_init(&drive, &plan, &course, &limits);
        for (int k = 0; k < 1000 && drive.state < COURSE_DONE; k++) {
            course_drive_step(&drive, &sample, tau);
            sample.t_s += rows[i].back && k == 9 ? -50 : rows[i].period_s;
            CHECK("within the thrusters", fabs(tau[0]) <= 180 && fabs(tau[2]) <= 122.5);
        }
        CHECK_INT(rows[i].row, drive.state, COURSE_FAILED);
        CHECK_INT(rows[i].row, drive.failure, rows[i].failure);
        course_drive_step(&drive, &sample, tau);
        CHECK_NEAR("no effort any more", fabs(tau[0]) + fabs(tau[2]), 0, 0, 0);
    }
    struct course_drive drive;
    double tau[USV3_AXES];
    course_drive_init(&drive, &plan, &course, &limits);
    course_drive_step(&drive, &(struct course_sample){.t_s = 1}, tau);
    CHECK("it drives", tau[0] > 0);
    course_drive_quit(&drive);
    course_drive_step(&drive, &(struct course_sample){.t_s = 1.1}, tau);
    CHECK_INT("quit at rest", drive.state, COURSE_FAILED);
    CHECK_INT("quit", drive.failure, COURSE_QUIT);
}

/* A vessel at the origin is asked to drive courses that lie elsewhere. */
static void test_never_near(void)
{
    static const struct {
        const char *row;
        size_t count;
        struct world_point points[4];
        enum course_state state;
        enum course_failure failure;
    } rows[] = {
        {"its end is nearer", 2, {{500, 500}, {60, 0}}, COURSE_BRAKING, COURSE_OFF},
        {"aside of all lines",
         4,
         {{-200, -100}, {-100, -100}, {-60, -100}, {-60, -50}},
         COURSE_BRAKING,
         COURSE_OFF},
        {"far behind the end", 2, {{-100, 0}, {-60, 0}}, COURSE_BRAKING, COURSE_OFF},
        {"just behind the end", 2, {{-40, 0}, {-2, 0}}, COURSE_BRAKING, COURSE_FINE},
        {"in its middle", 3, {{-100, 0}, {-50, 0}, {50, 0}}, COURSE_DRIVING, COURSE_FINE},
    };
    const struct course_limits limits = {.off_m = 5, .patience_s = 20};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct course_plan plan = plan_of("wamv", rows[i].points, rows[i].count);
        struct course_drive drive;
        struct err err = {0};
        double tau[USV3_AXES];
        CHECK_INT(rows[i].row, course_make(&plan, &course, &err), STATUS_OK);
        course_drive_init(&drive, &plan, &course, &limits);
        course_drive_step(&drive, &(struct course_sample){.t_s = 1, .nu = {0.5}}, tau);
        CHECK_INT(rows[i].row, drive.state, rows[i].state);
        CHECK_INT(rows[i].row, drive.failure, rows[i].failure);
    }
}

/* Legs to and fro through a dense field of discs: what is tried for all of them is limited, so
 * that a plan costs a step of the lab milliseconds only. */
static void test_dense_field(void)
{
    struct world_point points[COURSE_POINTS_MAX];
    struct err err = {0};
    uint32_t state = 2;
    for (size_t i = 0; i < COUNT(points); i++) {
        points[i] = (struct world_point){i / 2 % 2 == 0 ? 300 : 0, -10 + 0.32 * (double)i};
    }
    points[0] = (struct world_point){0, -20};
    struct course_plan plan = plan_of("wamv", points, 62);
    plan.speed_mps = 0.05;
    plan.turn_in_m = plan.clearance_m = 0.3;
    for (int i = 0; i < 126; i++) {
        double share[3];
        for (int k = 0; k < 3; k++) {
            state = state * 1664525U + 1013904223U;
            share[k] = (double)(state >> 8) / (1 << 24);
        }
        add_disc(&plan, "disc", 20 + 260 * share[0], -12 + 24 * share[1], 0.2 + 1.6 * share[2]);
    }
    CHECK_INT("refused", course_make(&plan, &course, &err), STATUS_E_FULL);
    CHECK("why", strstr(err.text, "too many discs to be laid in time"));
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("course", NULL, NULL);
    CU_add_test(suite, "limits", test_limits);
    CU_add_test(suite, "lines and arcs", test_lines_and_arcs);
    CU_add_test(suite, "disc", test_disc);
    CU_add_test(suite, "clearance", test_clearance);
    CU_add_test(suite, "refused", test_refused);
    CU_add_test(suite, "law", test_law);
    CU_add_test(suite, "failures", test_failures);
    CU_add_test(suite, "a course elsewhere", test_never_near);
    CU_add_test(suite, "a dense field", test_dense_field);
    return check_run();
}
