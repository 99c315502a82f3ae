/* service/machine/code_lua.c - generates a machine as a Lua module, 5.1 to 5.4, for
 * CoppeliaSim. */
#include <stdlib.h>

#include "service/machine/machine_code.h"

static const struct code_style style = {
    .no = "not ",
    .both = " and ",
    .either = " or ",
    .unequal = " ~= ",
    .truths = {"false", "true"},
    .infinity = "math.huge",
    .prefix = "f_",
    .words = {[EXPRESSION_MODULO] = "mod", [EXPRESSION_POWER] = "power"},
    .choice = {"iff(", ", function() return ", " end, function() return ", " end)"}};

/* Every number is a float, because integers of Lua 5.3 and later divide differently. */
static const char helpers[] =
    "local M = {}\n"
    "M.__index = M\n\n"
    "local function mod(a, b)\n"
    "  if b == 0 or a ~= a or b ~= b or a == math.huge or a == -math.huge then return 0 / 0 "
    "end\n"
    "  local r = math.fmod(a, b)\n"
    "  if r * b < 0 then r = r + b end\n"
    "  return r\n"
    "end\n"
    "local function power(a, b) return a ^ b end\n"
    "local function iff(c, x, y) if c then return x() end return y() end\n"
    "local f_abs, f_sqrt, f_exp, f_log = math.abs, math.sqrt, math.exp, math.log\n"
    "local f_sin, f_cos, f_tan = math.sin, math.cos, math.tan\n"
    "local function f_atan(x) return math.atan(x) end\n"
    "local f_atan2 = math.atan2 or math.atan\n"
    "local f_tanh = math.tanh or function(x) -- 5.4 may have none: its last digit may differ\n"
    "  if x > 20 then return 1.0 elseif x < -20 then return -1.0 end\n"
    "  local e = math.exp(2 * x)\n"
    "  return (e - 1) / (e + 1)\n"
    "end\n"
    "local function f_floor(x)\n"
    "  if x == 0 or x == math.huge or x == -math.huge or x ~= x then return x end\n"
    "  return math.floor(x) + 0.0\n"
    "end\n"
    "local function f_ceil(x) return -f_floor(-x) end\n"
    "local function f_round(x) return f_floor(x + 0.5) end\n"
    "local function f_sign(x)\n"
    "  if x > 0 then return 1.0 elseif x < 0 then return -1.0 end\n"
    "  return 0.0\n"
    "end\n"
    "local function f_min(a, b) if b < a then return b end return a end\n"
    "local function f_max(a, b) if b > a then return b end return a end\n"
    "local function f_clamp(x, a, b)\n"
    "  if x < a then return a elseif x > b then return b end\n"
    "  return x\n"
    "end\n"
    "local function f_hypot(a, b) return math.sqrt(a * a + b * b) end\n"
    "local function f_wrap(x)\n"
    "  return x - 2.0 * math.pi * f_floor((x + math.pi) / (2.0 * math.pi))\n"
    "end\n\n"
    "function M:read(values, k)\n"
    "  local x = values[k]\n"
    "  if x == nil then\n"
    "    self.undefined = true\n"
    "    return 0 / 0\n"
    "  end\n"
    "  return x\n"
    "end\n\n"
    "function M.new(t)\n"
    "  local self = setmetatable({}, M)\n"
    "  self:init(t)\n"
    "  return self\n"
    "end\n\n";

static const char methods[] = "function M:fault(sink)\n"
                              "  self.next = sink\n"
                              "  self.blocked = true\n"
                              "  self.next_stack = self.stack\n"
                              "  self.next_v = {}\n"
                              "end\n\n"
                              "-- Makes the plan the present state.\n"
                              "function M:update(t)\n"
                              "  if not self.planned then return end\n"
                              "  self.planned = false\n"
                              "  if self.next ~= self.state then self.entered = t end\n"
                              "  self.state, self.stack = self.next, self.next_stack\n"
                              "  for k, x in pairs(self.next_v) do self.v[k] = x end\n"
                              "  self.next_v = {}\n"
                              "end\n\n";

static const char test_begin[] =
    "\nif arg and arg[1] == \"--test\" then -- inputs as CSV on standard input, a header line "
    "first\n"
    "  local function put(x)\n"
    "    if x == nil then return \"-\" end\n"
    "    if x == true then return \"1\" elseif x == false then return \"0\" end\n"
    "    if x ~= x then return \"nan\" end\n"
    "    return string.format(\"%.17g\", x)\n"
    "  end\n"
    "  local function take(s, truth)\n"
    "    if s == \"\" or s == \"-\" then return nil end\n"
    "    if truth then return tonumber(s) ~= 0 end\n"
    "    return tonumber(s) + 0.0\n"
    "  end\n";

static void name_value(void *context, FILE *out, size_t name, bool asks)
{
    const struct code *c = context;
    const char *field = c->machine->roles[name] == MACHINE_INPUT ? "inp" : "v";
    if (c->machine->roles[name] == MACHINE_TIME) {
        (void)fputs(asks                        ? "true"
                    : name == MACHINE_TIME_NAME ? "t"
                                                : "(t - self.entered)",
                    out);
        return;
    }
    (void)fprintf(out, asks ? "(self.%s[" : "self:read(self.%s, ", field);
    code_string(out, machine_name(c->machine, (uint8_t)name));
    (void)fputs(asks ? "] ~= nil)" : ")", out);
}

static void write_assignment(const struct code *c, const char *indent, const char *table,
                             const struct machine_assignment *a)
{
    code_print(c, "%sself.undefined = false\n%sx = ", indent, indent);
    code_expression(&c->writer, a->value);
    code_print(c, "\n%sif self.undefined then x = nil end\n%s", indent, indent);
    code_print_key(c, table, a->name, " = x\n");
}

static void write_init(const struct code *c)
{
    const struct machine *m = c->machine;
    code_print(
        c,
        "function M:init(t)\n"
        "  self.inp, self.out, self.stack, self.next_stack = {}, {}, {}, {}\n"
        "  self.v, self.next_v = {}, {} -- every value undefined: nothing has a default\n"
        "  self.state, self.next = \"%s\", \"%s\"\n"
        "  self.entered, self.undefined, self.blocked, self.planned = t, false, false, "
        "false\n  self.fired = {}\n%s",
        m->table.states[m->table.initial].name, m->table.states[m->table.initial].name,
        m->starts.count > 0 ? "  local x\n" : "");
    for (size_t k = 0; k < m->starts.count; k++) {
        write_assignment(c, "  ", "self.v", &m->assignments[m->starts.first + k]);
    }
    code_print(c, "end\n\n-- Neither at a fault nor in a final state.\nfunction M:active()\n"
                  "  return string.sub(self.state, 1, 2) ~= \"__\"");
    for (size_t i = 0; i < m->table.state_count; i++) {
        if (m->table.states[i].final) {
            code_print(c, " and self.state ~= \"%s\"", m->table.states[i].name);
        }
    }
    code_print(c, "\nend\n\n%s", methods);
    code_print(c, "-- Exactly one arrow has to fire.\nfunction M:monitor()\n"
                  "  if #self.fired == 1 then return true end\n");
    if (m->table.stays) {
        code_print(c, "  if #self.fired == 0 then return false end\n");
    }
    code_print(c, "  self:fault(#self.fired == 0 and \"__INCOMPLETE__\" or "
                  "\"__NON_DETERMINISTIC__\")\n  return false\nend\n\n");
}

static void write_guards(const struct code *c)
{
    const char *word = "if";
    for (size_t s = 0; s < c->states.count; s++) {
        if (!code_has_arcs(c, s)) {
            continue;
        }
        code_print(c, "  %s curr == \"%s\" then\n", word, c->machine->table.states[s].name);
        word = "elseif";
        for (size_t i = 0; i < c->machine->table.arc_count; i++) {
            if (c->machine->table.arcs[i].from != s) {
                continue;
            }
            code_print(c, "    -- ");
            code_arc(c, i);
            code_print(c, "\n    if ");
            code_guard(c, i);
            code_print(c,
                       " then fired[#fired + 1] = %zu end\n"
                       "    if self.undefined then\n      self.fired = {%zu}\n"
                       "      return self:fault(\"__UNDEFINED__\")\n    end\n",
                       i, i);
        }
    }
    code_print(c, "  end\n");
}

static void write_stack(const struct code *c, const struct efsm_arc *arc)
{
    if (arc->empties) {
        code_print(c, "    st = {}\n    self.next_stack = st\n");
    }
    if (arc->pops > 0) {
        code_print(c,
                   "    if #st < %d then return self:fault(\"__STACK_EMPTY__\") end\n"
                   "    for _ = 1, %d do st[#st] = nil end\n",
                   arc->pops, arc->pops);
    }
    if (arc->push_count > 0) {
        code_print(c, "    if #st + %d > %d then return self:fault(\"__STACK_FULL__\") end\n",
                   arc->push_count, EFSM_STACK_MAX);
    }
    for (size_t i = 0; i < arc->push_count; i++) {
        code_print(c, "    st[#st + 1] = \"%s\"\n",
                   c->machine->table.states[arc->push[i]].name);
    }
    if (arc->to == EFSM_POP) {
        code_print(c, "    if #st == 0 then return self:fault(\"__STACK_EMPTY__\") end\n"
                      "    self.next = st[#st]\n    st[#st] = nil\n");
    } else {
        code_print(c, "    self.next = \"%s\"\n", c->machine->table.states[arc->to].name);
    }
}

static void write_arcs(const struct code *c)
{
    const struct machine *m = c->machine;
    for (size_t i = 0; i < m->table.arc_count; i++) {
        const struct machine_range delayed = m->arcs[i].delayed;
        code_print(c, "  %s arc == %zu then -- ", i == 0 ? "if" : "elseif", i);
        code_arc(c, i);
        code_print(c, "\n");
        for (size_t k = 0; k < delayed.count; k++) {
            const struct machine_assignment *a = &m->assignments[delayed.first + k];
            code_print_key(c, "    self.next_v", a->name, " = ");
            code_expression(&c->writer, a->value);
            code_print(c, "\n");
        }
        if (delayed.count > 0) {
            code_print(c,
                       "    if self.undefined then return self:fault(\"__UNDEFINED__\") end\n");
        }
        write_stack(c, &m->table.arcs[i]);
        code_print(c, "    self.blocked = %s\n", m->table.arcs[i].waits ? "true" : "false");
    }
    code_print(c, m->table.arc_count > 0 ? "  end\n" : "\n");
    for (size_t i = 0; i < m->table.state_count; i++) {
        if (m->table.states[i].final) {
            code_print(c, "  if self.next == \"%s\" then self.blocked = true end\n",
                       m->table.states[i].name);
        }
    }
}

static void write_plan(const struct code *c)
{
    code_print(c, "-- Plans the next state from the present values.\nfunction M:plan(t)\n"
                  "  self.fired, self.undefined, self.blocked, self.planned = {}, false, true, "
                  "false\n  self.next, self.next_stack, self.next_v = self.state, {}, {}\n"
                  "  for i, s in ipairs(self.stack) do self.next_stack[i] = s end\n"
                  "  if not self:active() then return end\n  self.planned = true\n"
                  "  local curr, st, fired = self.state, self.next_stack, self.fired\n");
    write_guards(c);
    code_print(c, "  if not self:monitor() then return end\n  local arc = fired[1]\n");
    write_arcs(c);
    code_print(c, "end\n\n");
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
    code_print(c, "  if self.state == \"%s\" then\n", m->table.states[s].name);
    write_range(c, "    ", m->states[s].outputs);
    for (size_t i = 0; i < m->table.arc_count; i++) {
        if (m->table.arcs[i].from != s || m->arcs[i].outputs.count == 0) {
            continue;
        }
        code_print(c, "    self.undefined = false -- ");
        code_arc(c, i);
        code_print(c, "\n    x = ");
        code_guard(c, i);
        code_print(c, "\n    if x and not self.undefined then\n");
        write_range(c, "      ", m->arcs[i].outputs);
        code_print(c, "    end\n");
    }
    code_print(c, "  end\n");
}

static void write_outputs(const struct code *c)
{
    const struct machine *m = c->machine;
    code_print(c, "-- Outputs of the state and its variables; at a fault none has a value.\n"
                  "function M:write_outputs(t)\n  local x\n  self.out = {}\n"
                  "  if string.sub(self.state, 1, 2) == \"__\" then return end\n");
    for (size_t k = 0; k < m->output_count; k++) {
        const struct machine_port *port = &m->outputs[k];
        if (port->variable != MACHINE_NONE) {
            code_print_key(c, "  self.out", port->name, " = ");
            code_print_key(c, "self.v", port->name, "\n");
        } else if (port->has_otherwise) {
            code_print_key(c, "  self.out", port->name, " = ");
            if (machine_type(m, port->name) == EXPRESSION_TRUTH) {
                code_print(c, "%s\n", port->otherwise > 0.0 ? "true" : "false");
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
    code_print(c, "end\n\n");
}

static void write_ports(const struct code *c, const char *word,
                        const struct machine_port *ports, size_t count)
{
    code_print(c, "M.%s = {", word);
    for (size_t i = 0; i < count; i++) {
        code_print(c, "%s", i > 0 ? ", " : "");
        code_string(c->out, machine_name(c->machine, ports[i].name));
    }
    code_print(c, "}\n");
}

static void write_test(const struct code *c)
{
    const struct machine *m = c->machine;
    code_print(c, "%s  local truths = {", test_begin);
    for (size_t i = 0; i < m->input_count; i++) {
        code_print(c, "%s%s", i > 0 ? ", " : "",
                   machine_type(m, m->inputs[i].name) == EXPRESSION_TRUTH ? "true" : "false");
    }
    code_print(c, "}\n  local shown = {");
    for (size_t i = 0; i < m->output_count; i++) {
        if (code_is_own(c, i)) {
            code_string(c->out, machine_name(m, m->outputs[i].name));
            code_print(c, ", ");
        }
    }
    code_print(c, "}\n  local m, k = M.new(0.0), 0\n  print(\"");
    code_header(c->out, m);
    code_print(
        c,
        "\")\n  io.read()\n  for line in io.lines() do\n"
        "    if not m:active() then break end\n    local t, i = k * %lld.0 / 1e6, 0\n"
        "    for s in (line:gsub(\"\\r\", \"\") .. \",\"):gmatch(\"([^,]*),\") do\n"
        "      i = i + 1\n"
        "      if M.inputs[i] then m.inp[M.inputs[i]] = take(s, truths[i]) end\n    end\n"
        "    m:write_outputs(t)\n    local r = {string.format(\"%%d\", k), put(t)}\n"
        "    for _, n in ipairs(M.inputs) do r[#r + 1] = put(m.inp[n]) end\n"
        "    r[#r + 1] = m.state\n"
        "    for _, n in ipairs(M.variables) do r[#r + 1] = put(m.v[n]) end\n"
        "    for _, n in ipairs(shown) do r[#r + 1] = put(m.out[n]) end\n"
        "    r[#r + 1] = table.concat(m.stack, \" \")\n    m:plan(t)\n"
        "    r[#r + 1] = table.concat(m.fired, \" \")\n    m:update(t)\n"
        "    r[#r + 1] = m.state\n    r[#r + 1] = put(m.blocked)\n"
        "    print(table.concat(r, \",\"))\n    k = k + 1\n  end\nend\n\nreturn M\n",
        (long long)c->period_us);
}

void code_write_lua(FILE *out, const struct machine *machine, int64_t period_us)
{
    struct code *c = code_start(out, machine, period_us, &style, name_value, NULL, NULL);
    if (!c) {
        return;
    }
    code_print(
        c,
        "-- Generated by `tandem machines generate` from the machine %s: change that, not "
        "this.\n-- One block of plan() is one arrow.\n%s",
        machine->table.name, helpers);
    write_init(c);
    write_plan(c);
    write_outputs(c);
    write_ports(c, "inputs", machine->inputs, machine->input_count);
    write_ports(c, "variables", machine->variables, machine->variable_count);
    write_ports(c, "outputs", machine->outputs, machine->output_count);
    write_test(c);
    free(c);
}
