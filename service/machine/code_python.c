/* service/machine/code_python.c - generates a machine as a Python module. */
#include <stdlib.h>

#include "service/machine/machine_code.h"

/* Names that the class may not have. */
static const char *const words[] = {
    "False",  "None",   "True",    "and",           "as",         "assert", "async",
    "await",  "break",  "class",   "continue",      "def",        "del",    "elif",
    "else",   "except", "finally", "for",           "from",       "global", "if",
    "import", "in",     "is",      "lambda",        "nonlocal",   "not",    "or",
    "pass",   "raise",  "return",  "try",           "while",      "with",   "yield",
    "math",   "sys",    "div",     "mod",           "power",      "safe",   "put",
    "take",   "main",   "dict",    "list",          "len",        "print",  "enumerate",
    "zip",    "str",    "float",   "OverflowError", "ValueError", "abs",    NULL};

static const struct code_style style = {.no = "not ",
                                        .both = " and ",
                                        .either = " or ",
                                        .unequal = " != ",
                                        .truths = {"False", "True"},
                                        .infinity = "math.inf",
                                        .prefix = "f_",
                                        .words = {[EXPRESSION_DIVIDE] = "div",
                                                  [EXPRESSION_MODULO] = "mod",
                                                  [EXPRESSION_POWER] = "power"},
                                        .choice = {"(", " if ", " else ", ")"},
                                        .choice_last = true};

/* C returns an infinity or NaN where Python raises. */
static const char helpers[] =
    "import math\n"
    "import sys\n\n\n"
    "def div(a, b):\n"
    "    if b != 0:\n"
    "        return a / b\n"
    "    return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * "
    "math.copysign(1.0, b)\n\n\n"
    "def mod(a, b):\n"
    "    if b == 0 or math.isinf(a) or a != a or b != b:\n"
    "        return math.nan\n"
    "    r = math.fmod(a, b)\n"
    "    return r + b if r * b < 0 else r\n\n\n"
    "def power(a, b):\n"
    "    odd = math.isfinite(b) and math.fmod(b, 2.0) in (1.0, -1.0)\n"
    "    try:\n"
    "        return math.pow(a, b)\n"
    "    except OverflowError:\n"
    "        return -math.inf if a < 0 and odd else math.inf\n"
    "    except ValueError:\n"
    "        return math.nan if a != 0 else math.copysign(math.inf, a) if odd else "
    "math.inf\n\n\n"
    "def safe(f):\n"
    "    def g(x):\n"
    "        try:\n"
    "            return f(x)\n"
    "        except OverflowError:\n"
    "            return math.inf\n"
    "        except ValueError:\n"
    "            return math.nan\n"
    "    return g\n\n\n"
    "f_sqrt, f_sin, f_cos, f_tan = map(safe, (math.sqrt, math.sin, math.cos, math.tan))\n"
    "f_exp, f_abs, f_atan, f_atan2, f_tanh = safe(math.exp), abs, math.atan, math.atan2, "
    "math.tanh\n\n\n"
    "def f_log(x): return -math.inf if x == 0 else safe(math.log)(x)\n"
    "def f_floor(x): return math.copysign(math.floor(x), x) if math.isfinite(x) else x\n"
    "def f_ceil(x): return math.copysign(math.ceil(x), x) if math.isfinite(x) else x\n"
    "def f_round(x): return f_floor(x + 0.5)\n"
    "def f_sign(x): return 1.0 if x > 0 else -1.0 if x < 0 else 0.0\n"
    "def f_min(a, b): return b if b < a else a\n"
    "def f_max(a, b): return b if b > a else a\n"
    "def f_clamp(x, a, b): return a if x < a else b if x > b else x\n"
    "def f_hypot(a, b): return safe(math.sqrt)(a * a + b * b)\n"
    "def f_wrap(x): return x - 2.0 * math.pi * f_floor((x + math.pi) / (2.0 * math.pi))\n\n\n";

static const char methods[] =
    "    def fault(self, sink):\n"
    "        self.next, self.blocked, self.next_stack, self.next_v = sink, True, self.stack, "
    "{}\n\n"
    "    def update(self, t):\n"
    "        \"\"\"Makes the plan the present state.\"\"\"\n"
    "        if not self.planned:\n"
    "            return\n"
    "        self.planned = False\n"
    "        if self.next != self.state:\n"
    "            self.entered = t\n"
    "        self.state, self.stack = self.next, self.next_stack\n"
    "        self.v.update(self.next_v)\n"
    "        self.next_v = {}\n\n"
    "    def read(self, values, k):\n"
    "        x = values.get(k)\n"
    "        if x is None:\n"
    "            self.undefined = True\n"
    "            return math.nan\n"
    "        return x\n\n";

static const char test_begin[] =
    "\n\ndef put(x):\n"
    "    return \"-\" if x is None else str(int(x)) if isinstance(x, bool) else \"nan\" if x "
    "!= x "
    "else \"%.17g\" % x\n\n\n"
    "def take(s, truth):\n"
    "    return None if s in (\"\", \"-\") else float(s) != 0 if truth else float(s)\n\n\n";

static void name_value(void *context, FILE *out, size_t name, bool asks)
{
    const struct code *c = context;
    const char *field = c->machine->roles[name] == MACHINE_INPUT ? "inp" : "v";
    if (c->machine->roles[name] == MACHINE_TIME) {
        (void)fputs(asks                        ? "True"
                    : name == MACHINE_TIME_NAME ? "t"
                                                : "(t - self.entered)",
                    out);
        return;
    }
    (void)fprintf(out, asks ? "(self.%s.get(" : "self.read(self.%s, ", field);
    code_string(out, machine_name(c->machine, (uint8_t)name));
    (void)fputs(asks ? ") is not None)" : ")", out);
}

static void write_assignment(const struct code *c, const char *indent, const char *table,
                             const struct machine_assignment *a)
{
    code_print(c, "%sself.undefined = False\n%sx = ", indent, indent);
    code_expression(&c->writer, a->value);
    code_print(c, "\n%s", indent);
    code_print_key(c, table, a->name, " = None if self.undefined else x\n");
}

static void write_ports(const struct code *c, const char *word,
                        const struct machine_port *ports, size_t count)
{
    code_print(c, "    %s = [", word);
    for (size_t i = 0; i < count; i++) {
        code_print(c, "%s", i > 0 ? ", " : "");
        code_string(c->out, machine_name(c->machine, ports[i].name));
    }
    code_print(c, "]\n");
}

static void write_init(const struct code *c)
{
    const struct machine *m = c->machine;
    const char *initial = m->table.states[m->table.initial].name;
    code_print(c,
               "\n    def __init__(self, t=0.0):\n        self.init(t)\n\n"
               "    def init(self, t):\n"
               "        self.inp, self.out = dict.fromkeys(self.inputs), "
               "dict.fromkeys(self.outputs)\n"
               "        self.v = dict.fromkeys(self.variables)  # undefined: nothing has a "
               "default\n"
               "        self.next_v, self.stack, self.next_stack, self.fired = {}, [], [], []\n"
               "        self.state = self.next = \"%s\"\n"
               "        self.entered, self.undefined, self.blocked, self.planned = t, False, "
               "False, False\n",
               initial);
    for (size_t k = 0; k < m->starts.count; k++) {
        write_assignment(c, "        ", "self.v", &m->assignments[m->starts.first + k]);
    }
    code_print(c, "\n    def active(self):\n"
                  "        \"\"\"Neither at a fault nor in a final state.\"\"\"\n"
                  "        return not self.state.startswith(\"__\")");
    for (size_t i = 0; i < m->table.state_count; i++) {
        if (m->table.states[i].final) {
            code_print(c, " and self.state != \"%s\"", m->table.states[i].name);
        }
    }
    code_print(c, "\n\n%s", methods);
    code_print(c,
               "    def monitor(self):\n"
               "        \"\"\"Exactly one arrow has to fire.\"\"\"\n"
               "        if len(self.fired) != 1%s:\n"
               "            self.fault(\"__NON_DETERMINISTIC__\" if self.fired else "
               "\"__INCOMPLETE__\")\n        return len(self.fired) == 1\n\n",
               m->table.stays ? " and self.fired" : "");
}

static void write_guards(const struct code *c)
{
    for (size_t s = 0; s < c->states.count; s++) {
        if (!code_has_arcs(c, s)) {
            continue;
        }
        code_print(c, "        if curr == \"%s\":\n", c->machine->table.states[s].name);
        for (size_t i = 0; i < c->machine->table.arc_count; i++) {
            if (c->machine->table.arcs[i].from != s) {
                continue;
            }
            code_print(c, "            # ");
            code_arc(c, i);
            code_print(c, "\n            if ");
            code_guard(c, i);
            code_print(c,
                       ":\n                self.fired.append(%zu)\n"
                       "            if self.undefined:\n                self.fired = [%zu]\n"
                       "                return self.fault(\"__UNDEFINED__\")\n",
                       i, i);
        }
    }
}

static void write_stack(const struct code *c, const struct efsm_arc *arc)
{
    static const char in[] = "            ";
    static const char fault[] = "                return self.fault";
    if (arc->empties) {
        code_print(c, "%sst.clear()\n", in);
    }
    if (arc->pops > 0) {
        code_print(c, "%sif len(st) < %d:\n%s(\"__STACK_EMPTY__\")\n%sdel st[-%d:]\n", in,
                   arc->pops, fault, in, arc->pops);
    }
    if (arc->push_count > 0) {
        code_print(c, "%sif len(st) + %d > %d:\n%s(\"__STACK_FULL__\")\n", in, arc->push_count,
                   EFSM_STACK_MAX, fault);
    }
    for (size_t i = 0; i < arc->push_count; i++) {
        code_print(c, "%sst.append(\"%s\")\n", in, c->machine->table.states[arc->push[i]].name);
    }
    if (arc->to == EFSM_POP) {
        code_print(c, "%sif not st:\n%s(\"__STACK_EMPTY__\")\n%sself.next = st.pop()\n", in,
                   fault, in);
    } else {
        code_print(c, "%sself.next = \"%s\"\n", in, c->machine->table.states[arc->to].name);
    }
}

static void write_arcs(const struct code *c)
{
    const struct machine *m = c->machine;
    for (size_t i = 0; i < m->table.arc_count; i++) {
        const struct machine_range delayed = m->arcs[i].delayed;
        code_print(c, "        if arc == %zu:  # ", i);
        code_arc(c, i);
        code_print(c, "\n");
        for (size_t k = 0; k < delayed.count; k++) {
            const struct machine_assignment *a = &m->assignments[delayed.first + k];
            code_print_key(c, "            self.next_v", a->name, " = ");
            code_expression(&c->writer, a->value);
            code_print(c, "\n");
        }
        if (delayed.count > 0) {
            code_print(c, "            if self.undefined:\n"
                          "                return self.fault(\"__UNDEFINED__\")\n");
        }
        write_stack(c, &m->table.arcs[i]);
        code_print(c, "            self.blocked = %s\n",
                   m->table.arcs[i].waits ? "True" : "False");
    }
    for (size_t i = 0; i < m->table.state_count; i++) {
        if (m->table.states[i].final) {
            code_print(c, "        self.blocked = self.blocked or self.next == \"%s\"\n",
                       m->table.states[i].name);
        }
    }
}

static void write_plan(const struct code *c)
{
    code_print(
        c, "    def plan(self, t):\n"
           "        \"\"\"Plans the next state from the present values.\"\"\"\n"
           "        self.fired, self.undefined, self.blocked, self.planned = [], False, "
           "True, False\n"
           "        self.next, self.next_stack, self.next_v = self.state, "
           "list(self.stack), {}\n"
           "        if not self.active():\n            return\n        self.planned = True\n"
           "        curr, st = self.state, self.next_stack\n");
    write_guards(c);
    code_print(c, "        if not self.monitor():\n            return\n"
                  "        arc = self.fired[0]\n");
    write_arcs(c);
    code_print(c, "\n");
}

static void write_range(const struct code *c, const char *indent, struct machine_range range)
{
    for (size_t k = 0; k < range.count; k++) {
        write_assignment(c, indent, "self.out", &c->machine->assignments[range.first + k]);
    }
}

static void write_state_outputs(const struct code *c, size_t s)
{
    const struct machine *m = c->machine;
    code_print(c, "        if self.state == \"%s\":\n", m->table.states[s].name);
    write_range(c, "            ", m->states[s].outputs);
    for (size_t i = 0; i < m->table.arc_count; i++) {
        if (m->table.arcs[i].from != s || m->arcs[i].outputs.count == 0) {
            continue;
        }
        code_print(c, "            self.undefined = False  # ");
        code_arc(c, i);
        code_print(c, "\n            x = ");
        code_guard(c, i);
        code_print(c, "\n            if x and not self.undefined:\n");
        write_range(c, "                ", m->arcs[i].outputs);
    }
}

static void write_outputs(const struct code *c)
{
    const struct machine *m = c->machine;
    code_print(c, "    def write_outputs(self, t):\n"
                  "        \"\"\"Outputs of the state and its variables; at a fault none has a "
                  "value.\"\"\"\n        self.out = dict.fromkeys(self.outputs)\n"
                  "        if self.state.startswith(\"__\"):\n            return\n");
    for (size_t k = 0; k < m->output_count; k++) {
        const struct machine_port *port = &m->outputs[k];
        if (port->variable != MACHINE_NONE) {
            code_print_key(c, "        self.out", port->name, " = ");
            code_print_key(c, "self.v", port->name, "\n");
        } else if (port->has_otherwise) {
            code_print_key(c, "        self.out", port->name, " = ");
            if (machine_type(m, port->name) == EXPRESSION_TRUTH) {
                code_print(c, "%s\n", port->otherwise > 0.0 ? "True" : "False");
            } else {
                code_number(c->out, &style, port->otherwise);
                code_print(c, "\n");
            }
        }
    }
    for (size_t s = 0; s < m->table.state_count; s++) {
        if (code_has_outputs(c, s)) {
            write_state_outputs(c, s);
        }
    }
}

static void write_test(const struct code *c)
{
    const struct machine *m = c->machine;
    const char *id = c->machine_name.names[0];
    code_print(c,
               "%sdef main():\n    \"\"\"Inputs as CSV on standard input, a header line "
               "first.\"\"\"\n    truths = [",
               test_begin);
    for (size_t i = 0; i < m->input_count; i++) {
        code_print(c, "%s%s", i > 0 ? ", " : "",
                   machine_type(m, m->inputs[i].name) == EXPRESSION_TRUTH ? "True" : "False");
    }
    code_print(c, "]\n    shown = [");
    for (size_t i = 0; i < m->output_count; i++) {
        if (code_is_own(c, i)) {
            code_string(c->out, machine_name(m, m->outputs[i].name));
            code_print(c, ", ");
        }
    }
    code_print(c, "]\n    m = %s()\n    print(\"", id);
    code_header(c->out, m);
    code_print(
        c,
        "\")\n    sys.stdin.readline()\n    for k, line in enumerate(sys.stdin):\n"
        "        if not m.active():\n            break\n        t = k * %lld.0 / 1e6\n"
        "        for name, s, truth in zip(m.inputs, line.rstrip(\"\\r\\n\").split(\",\"), "
        "truths):\n            m.inp[name] = take(s, truth)\n"
        "        m.write_outputs(t)\n        r = [str(k), put(t)]\n"
        "        r += [put(m.inp[n]) for n in m.inputs] + [m.state] + [put(m.v[n]) for n in "
        "m.variables]\n"
        "        r += [put(m.out[n]) for n in shown] + [\" \".join(m.stack)]\n"
        "        m.plan(t)\n        r.append(\" \".join(map(str, m.fired)))\n"
        "        m.update(t)\n        print(\",\".join(r + [m.state, put(m.blocked)]))\n\n\n"
        "if __name__ == \"__main__\" and sys.argv[1:] == [\"--test\"]:\n    main()\n",
        (long long)c->period_us);
}

void code_write_python(FILE *out, const struct machine *machine, int64_t period_us)
{
    struct code *c = code_start(out, machine, period_us, &style, name_value, words, NULL);
    if (!c) {
        return;
    }
    code_print(
        c,
        "\"\"\"Generated by `tandem machines generate` from the machine %s: change that, "
        "not this.\nOne block of plan() is one arrow.\"\"\"\n%sclass %s:\n",
        machine->table.name, helpers, c->machine_name.names[0]);
    write_ports(c, "inputs", machine->inputs, machine->input_count);
    write_ports(c, "variables", machine->variables, machine->variable_count);
    write_ports(c, "outputs", machine->outputs, machine->output_count);
    write_init(c);
    write_plan(c);
    write_outputs(c);
    write_test(c);
    free(c);
}
