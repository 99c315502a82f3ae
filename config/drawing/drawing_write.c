/* config/drawing/drawing_write.c - writes machines as a draw.io file: states in a ring, bubbles
 * and hexagons placed so that they touch only their own state. */
#include <math.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "base/numbers/number.h"
#include "config/drawing/drawing.h"
#include "config/drawing/drawing_text.h"

enum {
    STATE_WIDTH = 110,
    STATE_HEIGHT = 60,
    BUBBLE = 16,     /* pixels, a popped state */
    PUSH_WIDTH = 40, /* pixels, a pushed state */
    PUSH_HEIGHT = 26,
    /* pixels between bubbles next to a state: more than the touching distance */
    SLOT = 36,
    /* pixels between rows of pushed states right of the ring, and within a row */
    SHELF_STEP = 60,
    NOTE_LINE = 18,
    NOTE_LETTER = 7,
    RING_LEFT = 200,
    TEXT_BYTES = 8192
};

struct writer {
    FILE *out;
    const struct machine *m;
    /* pixels: the ring's radius and its upper edge */
    double radius, top;
    double width[EFSM_STATES_MAX]; /* pixels, width of each state */
    /* bubbles placed next to each state so far */
    unsigned slots[EFSM_STATES_MAX];
    unsigned pairs[EFSM_STATES_MAX][EFSM_STATES_MAX]; /* arrows drawn so far */
    unsigned shelf;                                   /* rows used so far */
};

/* ---- XML ---- */

struct box {
    double x, y, width, height;
};

static void write_shape(FILE *out, const char *id, const char *text, const char *style,
                        struct box b)
{
    (void)fprintf(out, "    <mxCell id=\"%s\" value=\"", id);
    drawing_write_escaped(out, text, strlen(text));
    (void)fprintf(out,
                  "\" style=\"%s\" vertex=\"1\" parent=\"1\"><mxGeometry x=\"%.0f\" y=\"%.0f\" "
                  "width=\"%.0f\" height=\"%.0f\" as=\"geometry\"/></mxCell>\n",
                  style, b.x, b.y, b.width, b.height);
}

/* points [count]: between the ends. */
static void write_edge(FILE *out, const char *id, const char *text, const char *from,
                       const char *to, const char *style, const double (*points)[2],
                       size_t count)
{
    (void)fprintf(out, "    <mxCell id=\"%s\" value=\"", id);
    drawing_write_escaped(out, text, strlen(text));
    (void)fprintf(out,
                  "\" style=\"endArrow=classic;curved=1;%s\" edge=\"1\" parent=\"1\" "
                  "source=\"%s\" target=\"%s\"><mxGeometry relative=\"1\" as=\"geometry\">",
                  style, from, to);
    if (count > 0) {
        (void)fputs("<Array as=\"points\">", out);
    }
    for (size_t i = 0; i < count; i++) {
        (void)fprintf(out, "<mxPoint x=\"%.0f\" y=\"%.0f\"/>", points[i][0], points[i][1]);
    }
    (void)fprintf(out, "%s</mxGeometry></mxCell>\n", count > 0 ? "</Array>" : "");
}

/* ---- texts ---- */

struct text {
    char bytes[TEXT_BYTES];
    size_t used;
};

static void add_text(struct text *t, const char *text)
{
    const size_t room = sizeof t->bytes - t->used;
    const int n = snprintf(t->bytes + t->used, room, "%s", text);
    t->used += (size_t)n < room ? (size_t)n : room - 1;
}

static void add_expression(struct text *t, const struct machine *m, uint16_t root)
{
    const size_t room = sizeof t->bytes - t->used;
    const size_t n = expression_print(&m->draft.pool, root, t->bytes + t->used, room);
    t->used += n < room ? n : room - 1;
}

static void add_assignments(struct text *t, const struct machine *m, struct machine_range range,
                            const char *sign, const char *before, const char *between)
{
    for (size_t i = 0; i < range.count; i++) {
        const struct machine_assignment *a = &m->assignments[range.first + i];
        add_text(t, i == 0 ? before : between);
        add_text(t, machine_name(m, a->name));
        add_text(t, sign);
        add_expression(t, m, a->value);
    }
}

static void add_ports(struct text *t, const struct machine *m, const char *key,
                      const struct machine_port *ports, size_t count)
{
    char number[NUMBER_SHORTEST_MAX];
    for (size_t i = 0; i < count; i++) {
        const struct machine_port *p = &ports[i];
        const bool truth = machine_type(m, p->name) == EXPRESSION_TRUTH;
        const bool constant = ports == m->constants;
        add_text(t, i == 0 ? "\n" : ", ");
        add_text(t, i == 0 ? key : "");
        add_text(t, machine_name(m, p->name));
        add_text(t, truth ? " (truth)" : " (number)");
        if (constant || p->has_otherwise) {
            add_text(t, " = ");
            const double value = constant ? m->draft.pool.names[p->name].value : p->otherwise;
            number_write_shortest(value, number);
            add_text(t, !truth ? number : value > 0.0 ? "true" : "false");
        }
    }
}

/* The note stands above everything else. */
static void write_note(struct writer *w)
{
    const struct machine *m = w->m;
    struct text t = {.used = 0};
    size_t lines = 0;
    size_t longest = 0;
    add_text(&t, "machine ");
    add_text(&t, m->draft.name);
    if (m->draft.purpose[0] != '\0') {
        add_text(&t, "\npurpose: ");
        add_text(&t, m->draft.purpose);
    }
    add_ports(&t, m, "inputs: ", m->inputs, m->input_count);
    add_ports(&t, m, "variables: ", m->variables, m->variable_count);
    add_ports(&t, m, "outputs: ", m->outputs, m->output_count);
    add_ports(&t, m, "constants: ", m->constants, m->constant_count);
    add_text(&t, m->draft.clocked ? "" : "\nclocked: no");
    add_text(&t, m->draft.stays ? "\notherwise: stay" : "");
    for (const char *c = t.bytes; *c; lines++) {
        const size_t bytes = strcspn(c, "\n");
        longest = bytes > longest ? bytes : longest;
        c += bytes + (c[bytes] == '\n' ? 1 : 0);
    }
    const struct box note = {10.0, 10.0, fmax(300.0, NOTE_LETTER * (double)longest + 20.0),
                             NOTE_LINE * (double)lines + 14.0};
    write_shape(w->out, "note", t.bytes, "shape=note;align=left;verticalAlign=top;size=12;",
                note);
    w->top = note.y + note.height + 60.0;
}

/* ---- places ---- */

struct spot {
    double x, y;
};

static struct spot middle_of(const struct writer *w, size_t state)
{
    const double angle = -PI / 2 + 2 * PI * (double)state / (double)w->m->draft.state_count;
    return (struct spot){w->radius * (1.0 + cos(angle)) + RING_LEFT,
                         w->radius * 0.8 * (1.0 + sin(angle)) + w->top + STATE_HEIGHT};
}

/* Bubbles next to a state alternate above and below it, so their number sets its width. */
static void measure_states(struct writer *w)
{
    unsigned bubbles[EFSM_STATES_MAX] = {0};
    double widest = STATE_WIDTH;
    for (size_t i = 0; i < w->m->draft.arc_count; i++) {
        const struct efsm_arc *a = &w->m->table_arcs[i];
        bubbles[a->from] += a->empties || a->pops > 0 ? 1 : 0;
    }
    for (size_t i = 0; i < w->m->draft.state_count; i++) {
        w->width[i] = fmax(STATE_WIDTH, SLOT * (double)((bubbles[i] + 1) / 2) + BUBBLE);
        widest = fmax(widest, w->width[i]);
    }
    w->radius = fmax(160.0, 0.5 * (widest + 150.0) * (double)w->m->draft.state_count);
}

/* Reserves a place for one more bubble next to a state: returns its middle; *down gets the
 * direction in which the next one goes. */
static struct spot reserve_slot(struct writer *w, size_t state, double *down)
{
    const struct spot c = middle_of(w, state);
    const unsigned slot = w->slots[state]++;
    *down = slot % 2 == 0 ? -1.0 : 1.0;
    return (struct spot){c.x - w->width[state] / 2 + BUBBLE + SLOT * (double)(slot / 2),
                         c.y + *down * (STATE_HEIGHT + BUBBLE) / 2};
}

static struct box box_around(struct spot c, double width, double height)
{
    return (struct box){c.x - width / 2, c.y - height / 2, width, height};
}

/* ---- arrows ---- */

enum { ID_BYTES = 32 };

/* The arrow of arc k begins at its state, or at the last bubble next to it. */
static void write_tail(struct writer *w, size_t k, char id[ID_BYTES])
{
    const struct efsm_arc *a = &w->m->table_arcs[k];
    double down = 0.0;
    (void)snprintf(id, ID_BYTES, "s%u", a->from);
    if (!a->empties && a->pops == 0) {
        return;
    }
    struct spot c = reserve_slot(w, a->from, &down);
    if (a->empties) {
        (void)snprintf(id, ID_BYTES, "x%zu", k);
        write_shape(w->out, id, "", "shape=hexagon;perimeter=hexagonPerimeter2;",
                    box_around(c, BUBBLE, BUBBLE));
    }
    for (unsigned p = 0; !a->empties && p < a->pops; p++, c.y += down * (BUBBLE + 2)) {
        (void)snprintf(id, ID_BYTES, "p%zu_%u", k, p);
        write_shape(w->out, id, "", "ellipse;", box_around(c, BUBBLE, BUBBLE));
    }
}

/* The arrow ends at its state, at the pushed state, or at the top of the stack. Any further
 * steps are drawn from there. */
static void write_head(struct writer *w, size_t k, char id[ID_BYTES])
{
    const struct efsm_arc *a = &w->m->table_arcs[k];
    char end[ID_BYTES];
    char next[ID_BYTES];
    char link[ID_BYTES];
    struct spot c = {2 * (w->radius + RING_LEFT) + 60.0,
                     w->top + SHELF_STEP * (double)w->shelf};
    const bool top = a->to == EFSM_POP;
    (void)snprintf(end, sizeof end, "%c%zu", top ? 't' : 's', top ? k : (size_t)a->to);
    w->shelf += a->push_count > 0 || top ? 1 : 0;
    (void)snprintf(id, ID_BYTES, "%s", end);
    for (size_t p = a->push_count; p-- > 0;) {
        (void)snprintf(next, sizeof next, "%s", id);
        (void)snprintf(id, ID_BYTES, "u%zu_%zu", k, p);
        (void)snprintf(link, sizeof link, "c%zu_%zu", k, p);
        write_shape(w->out, id, w->m->draft.states[a->push[p]].name, "ellipse;fontSize=8;",
                    box_around((struct spot){c.x + SHELF_STEP * (double)p, c.y}, PUSH_WIDTH,
                               PUSH_HEIGHT));
        write_edge(w->out, link, "", id, next, "", NULL, 0);
    }
    if (top) {
        c.x += SHELF_STEP * (double)a->push_count;
        write_shape(w->out, end, "", "shape=hexagon;perimeter=hexagonPerimeter2;",
                    box_around(c, 2 * BUBBLE, 22.0));
    }
}

/* Bends an arrow so that those between the same two states do not overlap. */
static size_t bend_arrow(struct writer *w, const struct efsm_arc *a, double points[2][2])
{
    if (a->to == EFSM_POP || a->push_count > 0) {
        return 0;
    }
    const struct spot from = middle_of(w, a->from);
    const struct spot to = middle_of(w, a->to);
    const double number = w->pairs[a->from][a->to]++;
    const double x = to.x - from.x;
    const double y = to.y - from.y;
    const double length = hypot(x, y);
    if (!(length > 0.0)) {
        points[0][0] = from.x + 20.0 + 26.0 * number;
        points[0][1] = from.y - 90.0 - 22.0 * number;
        points[1][0] = from.x + 80.0 + 26.0 * number;
        points[1][1] = from.y - 70.0 - 22.0 * number;
        return 2;
    }
    const double off = 26.0 + 34.0 * number;
    points[0][0] = (from.x + to.x) / 2 - y / length * off;
    points[0][1] = (from.y + to.y) / 2 + x / length * off;
    return 1;
}

static void write_arc(struct writer *w, size_t k)
{
    const struct machine_arc *arc = &w->m->arcs[k];
    const struct efsm_arc *a = &w->m->table_arcs[k];
    struct text label = {.used = 0};
    char id[ID_BYTES];
    char from[ID_BYTES];
    char to[ID_BYTES];
    double points[2][2];
    if (arc->when != 0) {
        add_expression(&label, w->m, arc->when);
    }
    add_assignments(&label, w->m, arc->delayed, "+ = ", " / ", ", ");
    add_assignments(&label, w->m, arc->outputs, " = ", arc->delayed.count > 0 ? ", " : " / ",
                    ", ");
    write_tail(w, k, from);
    write_head(w, k, to);
    const size_t count = bend_arrow(w, a, points);
    (void)snprintf(id, sizeof id, "a%zu", k);
    write_edge(w->out, id, label.bytes, from, to,
               a->waits && !w->m->draft.clocked ? "dashed=1;" : "", (const double(*)[2])points,
               count);
}

/* ---- pages ---- */

static void write_states(const struct writer *w)
{
    for (size_t i = 0; i < w->m->draft.state_count; i++) {
        struct text t = {.used = 0};
        char id[ID_BYTES];
        (void)snprintf(id, sizeof id, "s%zu", i);
        add_text(&t, w->m->draft.states[i].name);
        add_assignments(&t, w->m, w->m->states[i].outputs, " = ", "\n", "\n");
        write_shape(w->out, id, t.bytes,
                    w->m->draft.states[i].final ? "ellipse;shape=doubleEllipse;" : "ellipse;",
                    box_around(middle_of(w, i), w->width[i], STATE_HEIGHT));
    }
}

static void write_start(const struct writer *w)
{
    struct text t = {.used = 0};
    char id[ID_BYTES];
    (void)snprintf(id, sizeof id, "s%u", w->m->table.initial);
    add_assignments(&t, w->m, w->m->starts, "+ = ", "", ", ");
    const struct spot c = middle_of(w, w->m->table.initial);
    write_shape(w->out, "dot", "", "ellipse;fillColor=#000000;",
                box_around((struct spot){c.x - w->width[w->m->table.initial] / 2 - 90.0,
                                         c.y - STATE_HEIGHT},
                           BUBBLE, BUBBLE));
    write_edge(w->out, "start", t.bytes, "dot", id, "", NULL, 0);
}

static void write_machine(struct writer *w)
{
    const char *name = w->m->draft.name;
    (void)fputs("  <diagram id=\"", w->out);
    drawing_write_escaped(w->out, name, strlen(name));
    (void)fputs("\" name=\"", w->out);
    drawing_write_escaped(w->out, name, strlen(name));
    (void)fputs("\"><mxGraphModel dx=\"800\" dy=\"600\" grid=\"1\" gridSize=\"10\" "
                "page=\"0\"><root>\n    <mxCell id=\"0\"/><mxCell id=\"1\" parent=\"0\"/>\n",
                w->out);
    measure_states(w);
    write_note(w);
    write_states(w);
    write_start(w);
    for (size_t k = 0; k < w->m->draft.arc_count; k++) {
        write_arc(w, k);
    }
    (void)fputs("  </root></mxGraphModel></diagram>\n", w->out);
}

void drawing_write_file(const struct machine *const *machines, size_t count, FILE *out)
{
    (void)fputs("<mxfile host=\"tandem\" compressed=\"false\">\n", out);
    for (size_t i = 0; i < count; i++) {
        struct writer w = {.out = out, .m = machines[i]};
        write_machine(&w);
    }
    (void)fputs("</mxfile>\n", out);
}
