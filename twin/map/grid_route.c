#include "twin/map/grid_route.h"

#include <math.h>
#include <string.h>

enum {
    STRAIGHT =
        29, /* cost of a free cell's side, and of its diagonal: 41 / 29 is sqrt 2 - 4e-4 */
    DIAGONAL = 41,
    UNIT = 16,    /* of a cell's factor */
    LISTS = 4096, /* costs on the list at one time differ by less */
    NONE = -1,
    WORK_PREPARED = 12,  /* per cell of the map, */
    WORK_EXPANDED = 64, /* per cell that is reached, */
    WORK_LINE = 12       /* and per cell that a line crosses */
};
_Static_assert(DIAGONAL *COSTMAP_FACTOR_MAX + DIAGONAL + 1 < LISTS,
               "room for the dearest step");

/* A search in progress. */
struct run {
    struct grid_search *s;
    size_t width, height;
    size_t start, goal;
    uint32_t reach2;
    int64_t *budget;
    uint32_t
        factor[COSTMAP_OCCUPIED + 1]; /* of each value of a cell, in UNIT; 0: not entered */
    size_t open;                      /* cells in lists */
};

size_t grid_search_bytes(size_t cells)
{
    const size_t bytes = cells * (2 * sizeof(uint32_t) + 2 * sizeof(int32_t) + 1);
    return (bytes + LISTS * sizeof(int32_t) + 63) / 64 * 64;
}

void grid_search_init(struct grid_search *s, const struct costmap *map, void *memory)
{
    const size_t cells = map->width * map->height;
    *s = (struct grid_search){.map = map, .near2 = memory};
    s->cost = s->near2 + cells;
    s->next = (int32_t *)(s->cost + cells);
    s->before = s->next + cells;
    s->list = s->before + cells;
    s->cell = (uint8_t *)(s->list + LISTS);
    memcpy(s->cell, map->cell, cells);
}

void grid_search_block(struct grid_search *s, size_t cell)
{
    s->cell[cell] = COSTMAP_OCCUPIED;
}

/* ---- distances to obstacles -------------------------------------------------------------- */

/* Distance along y to the nearest occupied cell of the column, into cost[]. */
static void measure_columns(const struct grid_search *s, size_t width, size_t height)
{
    const uint32_t far = (uint32_t)(width + height);
    for (size_t i = 0; i < width * height; i++) {
        const uint32_t above = i < width ? far : s->cost[i - width] + 1;
        s->cost[i] = s->cell[i] == COSTMAP_OCCUPIED ? 0 : above < far ? above : far;
    }
    for (size_t i = width * (height - 1); i-- > 0;) {
        const uint32_t below = s->cost[i + width] + 1;
        s->cost[i] = below < s->cost[i] ? below : s->cost[i];
    }
}

/* The nearest occupied cell of all, from those of each column: the lower envelope of a parabola
 * per column (Meijster, Roerdink, Hesselink: A general algorithm for computing distance
 * transforms in linear time, 2000). */
static void measure_row(const uint32_t *column, uint32_t *near2, ptrdiff_t width)
{
    ptrdiff_t from[GRID_SIDE_MAX],
        least[GRID_SIDE_MAX]; /* x where a parabola begins, its column */
    ptrdiff_t q = 0;
    from[0] = least[0] = 0;
#define AT(x, k) (((x) - (k)) * ((x) - (k)) + (ptrdiff_t)column[k] * (ptrdiff_t)column[k])
    for (ptrdiff_t u = 1; u < width; u++) {
        while (q >= 0 && AT(from[q], least[q]) > AT(from[q], u)) {
            q--;
        }
        if (q < 0) {
            q = 0;
            least[0] = u;
            continue;
        }
        const ptrdiff_t x = (AT(0, u) - AT(0, least[q])) / (2 * (u - least[q])); /* >= 0 */
        if (x + 1 < width) {
            q++;
            least[q] = u;
            from[q] = x + 1;
        }
    }
    for (ptrdiff_t u = width; u-- > 0;) {
        near2[u] = (uint32_t)AT(u, least[q]);
        q -= u == from[q];
    }
#undef AT
}

static void measure_distances(const struct run *run)
{
    measure_columns(run->s, run->width, run->height);
    for (size_t y = 0; y < run->height; y++) {
        measure_row(run->s->cost + y * run->width, run->s->near2 + y * run->width,
                    (ptrdiff_t)run->width);
    }
}

/* ---- the search -------------------------------------------------------------------------- */

static uint32_t cost_to_goal(const struct run *run, size_t cell)
{
    const size_t x = cell % run->width, y = cell / run->width;
    const size_t goal_x = run->goal % run->width, goal_y = run->goal / run->width;
    const uint32_t dx = (uint32_t)(x > goal_x ? x - goal_x : goal_x - x);
    const uint32_t dy = (uint32_t)(y > goal_y ? y - goal_y : goal_y - y);
    return dx > dy ? STRAIGHT * (dx - dy) + DIAGONAL * dy
                   : STRAIGHT * (dy - dx) + DIAGONAL * dx;
}

static int32_t *list_of(const struct run *run, size_t cell)
{
    return &run->s->list[(run->s->cost[cell] + cost_to_goal(run, cell)) % LISTS];
}

static void open_cell(struct run *run, size_t cell, uint32_t cost)
{
    struct grid_search *s = run->s;
    s->cost[cell] = cost;
    int32_t *list = list_of(run, cell);
    s->before[cell] = NONE;
    s->next[cell] = *list;
    if (*list != NONE) {
        s->before[*list] = (int32_t)cell;
    }
    *list = (int32_t)cell;
    run->open++;
}

static void close_cell(struct run *run, size_t cell)
{
    struct grid_search *s = run->s;
    if (s->before[cell] == NONE) {
        *list_of(run, cell) = s->next[cell];
    } else {
        s->next[s->before[cell]] = s->next[cell];
    }
    if (s->next[cell] != NONE) {
        s->before[s->next[cell]] = s->before[cell];
    }
    run->open--;
}

static bool is_blocked(const struct run *run, size_t cell)
{
    return run->s->near2[cell] < run->reach2;
}

/* May the robot go from a cell to its neighbour? Out of an obstacle's reach it may. */
static bool can_go(const struct run *run, size_t from, size_t to)
{
    return run->factor[run->s->cell[to]] > 0 &&
           (!is_blocked(run, to) ||
            (is_blocked(run, from) && run->s->near2[to] > run->s->near2[from]));
}

/* The neighbour k of a cell, 0 .. 7; SIZE_MAX: off the map. Its length in *length. */
static size_t find_neighbour(const struct run *run, size_t cell, int k, uint32_t *length)
{
    static const int8_t step[8][2] = {{1, 0}, {0, 1},  {-1, 0},  {0, -1},
                                      {1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
    const size_t x = cell % run->width + (size_t)(ptrdiff_t)step[k][0];
    const size_t y = cell / run->width + (size_t)(ptrdiff_t)step[k][1];
    *length = k < 4 ? STRAIGHT : DIAGONAL;
    return x < run->width && y < run->height ? y * run->width + x : SIZE_MAX;
}

/* Half of a step is in either cell. A start in a cell that nobody enters costs as a free one.
 */
static uint32_t step_cost(const struct run *run, size_t from, size_t to, uint32_t length)
{
    const uint32_t left = run->factor[run->s->cell[from]];
    return length * ((left > 0 ? left : UNIT) + run->factor[run->s->cell[to]]) / (2 * UNIT);
}

static void expand_cell(struct run *run, size_t cell)
{
    for (int k = 0; k < 8; k++) {
        uint32_t length = 0;
        const size_t to = find_neighbour(run, cell, k, &length);
        if (to == SIZE_MAX || !can_go(run, cell, to)) {
            continue;
        }
        const uint32_t cost = run->s->cost[cell] + step_cost(run, cell, to, length);
        if (cost < run->s->cost[to]) {
            if (run->s->cost[to] != UINT32_MAX) {
                close_cell(run, to);
            }
            open_cell(run, to, cost);
        }
    }
}

/* Returns FOUND, ENCLOSED or TOO_LONG; *reached counts the cells. */
static enum grid_route_outcome search_cells(struct run *run, size_t *reached)
{
    struct grid_search *s = run->s;
    for (size_t i = 0; i < LISTS; i++) {
        s->list[i] = NONE;
    }
    memset(s->cost, 0xff, run->width * run->height * sizeof s->cost[0]);
    uint32_t total = cost_to_goal(run, run->start);
    open_cell(run, run->start, 0);
    for (*reached = 0; run->open > 0; ++*reached) {
        while (s->list[total % LISTS] == NONE) {
            total++;
            --*run->budget;
        }
        const size_t cell = (size_t)s->list[total % LISTS];
        close_cell(run, cell);
        *run->budget -= WORK_EXPANDED;
        if (cell == run->goal || *run->budget < 0) {
            return cell == run->goal ? GRID_ROUTE_FOUND : GRID_ROUTE_TOO_LONG;
        }
        expand_cell(run, cell);
    }
    return GRID_ROUTE_ENCLOSED;
}

/* ---- the route --------------------------------------------------------------------------- */

/* The cell before this one on the way: costs tell it. */
static size_t find_previous(const struct run *run, size_t cell)
{
    for (int k = 0; k < 8; k++) {
        uint32_t length = 0;
        const size_t from = find_neighbour(run, cell, k, &length);
        if (from != SIZE_MAX && run->s->cost[from] != UINT32_MAX && can_go(run, from, cell) &&
            run->s->cost[from] + step_cost(run, from, cell, length) == run->s->cost[cell]) {
            return from;
        }
    }
    return run->start;
}

/* Writes the cells of the way into next[], and returns their number. */
static size_t trace_way(const struct run *run)
{
    int32_t *way = run->s->next;
    size_t count = 0;
    for (size_t cell = run->goal; cell != run->start; cell = find_previous(run, cell)) {
        way[count++] = (int32_t)cell;
    }
    way[count++] = (int32_t)run->start;
    for (size_t i = 0; i < count / 2; i++) {
        const int32_t other = way[i];
        way[i] = way[count - 1 - i];
        way[count - 1 - i] = other;
    }
    return count;
}

static void find_centre(const struct run *run, size_t cell, double uv[2])
{
    uv[0] = (double)(cell % run->width) + 0.5;
    uv[1] = (double)(cell / run->width) + 0.5;
}

/* May the robot drive straight from a to b, in cells, at no more than this cost? */
static bool can_see(const struct run *run, const double a[2], const double b[2], double most)
{
    const double d[2] = {b[0] - a[0], b[1] - a[1]};
    const double length = hypot(d[0], d[1]);
    size_t at[2], end[2];
    double next[2], each[2];
    double t = 0.0, cost = 0.0;
    for (int k = 0; k < 2; k++) {
        at[k] = (size_t)a[k];
        end[k] = (size_t)b[k];
        each[k] = fabs(d[k]) > 0.0 ? 1.0 / fabs(d[k]) : HUGE_VAL;
        next[k] = !(fabs(d[k]) > 0.0) ? HUGE_VAL
                  : d[k] > 0.0        ? ((double)at[k] + 1.0 - a[k]) * each[k]
                                      : (a[k] - (double)at[k]) * each[k];
    }
    for (size_t left = run->width + run->height; left > 0; left--) {
        const size_t cell = at[1] * run->width + at[0];
        const bool last = at[0] == end[0] && at[1] == end[1];
        const double leaves = last ? 1.0 : fmin(fmin(next[0], next[1]), 1.0);
        const uint32_t factor = run->factor[run->s->cell[cell]];
        *run->budget -= WORK_LINE;
        cost += (leaves - t) * length * STRAIGHT * factor / UNIT;
        if (factor == 0 || is_blocked(run, cell) || cost > most) {
            return false;
        }
        if (last) {
            return true;
        }
        /* Through a corner it goes into the cell across. */
        const double crossed = fmin(next[0], next[1]);
        for (int k = 0; k < 2; k++) {
            if (next[k] <= crossed && at[k] != end[k]) {
                at[k] += d[k] > 0.0 ? 1 : (size_t)-1;
                next[k] += each[k];
            } else if (next[k] <= crossed) {
                next[k] = HUGE_VAL;
            }
        }
        t = leaves;
    }
    return false;
}

/* A route while it is written, in cells. */
struct writer {
    const struct run *run;
    struct grid_route *out;
    double last[2];
    bool full;
};

static void add_point(struct writer *w, const double uv[2])
{
    if (w->out->count == GRID_ROUTE_POINTS_MAX) {
        w->full = true;
        return;
    }
    costmap_from_cells(w->run->s->map, uv, w->out->points_m[w->out->count++]);
    w->out->length_m += w->run->s->map->cell_m * hypot(uv[0] - w->last[0], uv[1] - w->last[1]);
    memcpy(w->last, uv, sizeof w->last);
}

static void add_cell(struct writer *w, size_t k)
{
    double uv[2];
    find_centre(w->run, (size_t)w->run->s->next[k], uv);
    add_point(w, uv);
}

/* Follows the cells until the robot is out of the reach of obstacles; returns the place on the
 * way. Only bends are written. */
static size_t leave_obstacle(struct writer *w, size_t count)
{
    const int32_t *way = w->run->s->next;
    size_t k = 0;
    for (; k + 1 < count && is_blocked(w->run, (size_t)way[k]); k++) {
        if (k == 0 || way[k + 1] - way[k] != way[k] - way[k - 1]) {
            add_cell(w, k);
        }
    }
    if (k > 0) {
        add_cell(w, k);
    }
    return k;
}

/* Does the robot see the centre of cell k of the way, or the goal, for k the count? A line may
 * cost what the steps cost; the rest is for roundings, and for ends beside a centre. */
static bool can_reach(const struct writer *w, size_t from, size_t k, size_t count,
                      const double goal[2])
{
    const uint32_t *cost = w->run->s->cost;
    const int32_t *way = w->run->s->next;
    const size_t cell = (size_t)way[k < count ? k : count - 1];
    double uv[2];
    find_centre(w->run, cell, uv);
    return can_see(w->run, w->last, k < count ? uv : goal,
                   1.04 * (cost[cell] - cost[way[from]]) + 2 * DIAGONAL);
}

/* Straight lines, each as far as it goes. Neighbours see each other, but for a start in a cell
 * that nobody enters. */
static void write_way(struct writer *w, size_t count, const double goal[2])
{
    size_t from = leave_obstacle(w, count);
    bool centred = from > 0;
    while (!w->full && *w->run->budget >= 0) {
        size_t far = from;
        while (far < count && can_reach(w, from, far + 1, count, goal)) {
            far++;
        }
        if (far == count) {
            break;
        }
        far += far == from && centred;
        if (far >= count) {
            break;
        }
        add_cell(w, far);
        from = far;
        centred = true;
    }
    add_point(w, goal);
}

static enum grid_route_outcome check_ends(const struct run *run, double clearance_m)
{
    const uint8_t goal = run->goal == SIZE_MAX ? COSTMAP_FREE : run->s->cell[run->goal];
    return run->start == SIZE_MAX     ? GRID_ROUTE_START_OUTSIDE
           : run->goal == SIZE_MAX    ? GRID_ROUTE_GOAL_OUTSIDE
           : goal == COSTMAP_OCCUPIED ? GRID_ROUTE_GOAL_BLOCKED
           : run->factor[goal] == 0   ? GRID_ROUTE_GOAL_UNKNOWN
           : !(clearance_m > 0.0)     ? GRID_ROUTE_GOAL_BLOCKED
                                      : GRID_ROUTE_FOUND;
}

static void set_factors(struct run *run)
{
    const double most = run->s->map->unknown_factor;
    for (int v = 0; v <= COSTMAP_UNKNOWN; v++) {
        const double share = (double)v / COSTMAP_UNKNOWN;
        run->factor[v] = v == COSTMAP_FREE ? UNIT
                         : most > 0.0 ? (uint32_t)lround(UNIT * (1.0 + (most - 1.0) * share))
                                      : 0;
    }
}

enum grid_route_outcome grid_search_route(struct grid_search *s, const double from_m[2],
                                          const double to_m[2], double clearance_m,
                                          int64_t *budget, struct grid_route *out)
{
    const struct costmap *map = s->map;
    struct run run = {.s = s,
                      .width = map->width,
                      .height = map->height,
                      .start = costmap_find(map, from_m),
                      .goal = costmap_find(map, to_m),
                      .reach2 = (uint32_t)fmin(costmap_reach(map, clearance_m), 4e9),
                      .budget = budget};
    size_t reached = 0;
    double goal[2];
    memset(out, 0, sizeof *out);
    set_factors(&run);
    enum grid_route_outcome outcome = check_ends(&run, clearance_m);
    *budget -= (int64_t)WORK_PREPARED * (int64_t)(map->width * map->height);
    if (outcome != GRID_ROUTE_FOUND || *budget < 0) {
        return outcome != GRID_ROUTE_FOUND ? outcome : GRID_ROUTE_TOO_LONG;
    }
    measure_distances(&run);
    if (is_blocked(&run, run.goal)) {
        return GRID_ROUTE_GOAL_BLOCKED;
    }
    outcome = search_cells(&run, &reached);
    out->reached_m2 = (double)reached * map->cell_m * map->cell_m;
    if (outcome != GRID_ROUTE_FOUND) {
        return outcome;
    }
    struct writer w = {.run = &run, .out = out};
    costmap_to_cells(map, from_m, w.last);
    costmap_to_cells(map, to_m, goal);
    out->cost = s->cost[run.goal];
    if (hypot(goal[0] - w.last[0], goal[1] - w.last[1]) > 0.0) {
        write_way(&w, trace_way(&run), goal);
    }
    return *budget < 0 ? GRID_ROUTE_TOO_LONG
           : w.full    ? GRID_ROUTE_TOO_MANY_BENDS
                       : GRID_ROUTE_FOUND;
}

ENUM_NAMES(grid_route_outcome, GRID_ROUTE_OUTCOME_COUNT, GRID_ROUTE_OUTCOMES(NAMES_TEXT));
