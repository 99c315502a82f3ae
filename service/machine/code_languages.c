/* service/machine/code_languages.c - the languages of `tandem machines generate`. */
#include "service/machine/machine_code.h"

/* No port may have these names: keywords of C, and names defined by microcontroller headers. */
static const char *const c_words[] = {
    "auto",       "break",    "case",      "char",         "const",     "continue", "default",
    "do",         "double",   "else",      "enum",         "extern",    "float",    "for",
    "goto",       "if",       "inline",    "int",          "long",      "register", "restrict",
    "return",     "short",    "signed",    "sizeof",       "static",    "struct",   "switch",
    "typedef",    "union",    "unsigned",  "void",         "volatile",  "while",    "bool",
    "true",       "false",    "asm",       "typeof",       "linux",     "unix",     "class",
    "new",        "delete",   "this",      "private",      "public",    "virtual",  "operator",
    "template",   "using",    "try",       "catch",        "throw",     "friend",   "and",
    "or",         "xor",      "not",       "namespace",    "protected", "typename", "export",
    "explicit",   "min",      "max",       "abs",          "round",     "PI",       "INPUT",
    "OUTPUT",     "HIGH",     "LOW",       "NAN",          "NULL",      "EOF",      "INFINITY",
    "errno",      "stdin",    "stdout",    "stderr",       "F",         "bit",      "word",
    "DEFAULT",    "EXTERNAL", "DEC",       "HEX",          "OCT",       "BIN",      "unused",
    "efsm_value", "nullptr",  "constexpr", "alignas",      "mutable",   "assert",   "isnan",
    "isinf",      "main",     "signbit",   "interrupts",   "sq",        "radians",  "degrees",
    "constrain",  "_Bool",    "_Complex",  "thread_local", "wchar_t",   "noexcept", NULL};

/* No state may have these names: generated names have the same prefix. */
static const char *const c_states_words[] = {"INCOMPLETE", "NON_DETERMINISTIC",
                                             "UNDEFINED",  "STACK_EMPTY",
                                             "STACK_FULL", "init",
                                             "plan",       "update",
                                             "monitor",    "write_outputs",
                                             "active",     "fault",
                                             "state_name", "read",
                                             NULL};

static const struct code_style c_style = {.no = "!",
                                          .both = " && ",
                                          .either = " || ",
                                          .unequal = " != ",
                                          .truths = {"false", "true"},
                                          .infinity = "INFINITY",
                                          .prefix = "",
                                          .words = {[EXPRESSION_MODULO] = "efsm_mod",
                                                    [EXPRESSION_POWER] = "pow",
                                                    [EXPRESSION_ABS] = "fabs",
                                                    [EXPRESSION_SIGN] = "efsm_sign",
                                                    [EXPRESSION_ROUND] = "efsm_round",
                                                    [EXPRESSION_WRAP] = "efsm_wrap",
                                                    [EXPRESSION_MIN] = "efsm_min",
                                                    [EXPRESSION_MAX] = "efsm_max",
                                                    [EXPRESSION_HYPOT] = "efsm_hypot",
                                                    [EXPRESSION_CLAMP] = "efsm_clamp"},
                                          .choice = {"(", " ? ", " : ", ")"}};

/* Names that the class may not have. */
static const char *const python_words[] = {
    "False",  "None",   "True",    "and",           "as",         "assert", "async",
    "await",  "break",  "class",   "continue",      "def",        "del",    "elif",
    "else",   "except", "finally", "for",           "from",       "global", "if",
    "import", "in",     "is",      "lambda",        "nonlocal",   "not",    "or",
    "pass",   "raise",  "return",  "try",           "while",      "with",   "yield",
    "math",   "sys",    "div",     "mod",           "power",      "safe",   "put",
    "take",   "main",   "dict",    "list",          "len",        "print",  "enumerate",
    "zip",    "str",    "float",   "OverflowError", "ValueError", "abs",    NULL};

static const struct code_style python_style = {.no = "not ",
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

/* Every number is a float, because integers of Lua 5.3 and later divide differently. */
static const struct code_style lua_style = {
    .no = "not ",
    .both = " and ",
    .either = " or ",
    .unequal = " ~= ",
    .truths = {"false", "true"},
    .infinity = "math.huge",
    .prefix = "f_",
    .words = {[EXPRESSION_MODULO] = "mod", [EXPRESSION_POWER] = "power"},
    .choice = {"iff(", ", function() return ", " end, function() return ", " end)"}};

const struct code_language code_languages[] = {
    {.name = "c",
     .end = ".c",
     .template = code_template_c,
     .style = &c_style,
     .words = c_words,
     .states_words = c_states_words,
     .time = "t_s",
     .elapsed = "(t_s - m->entered_s)",
     .read = "{{?truth}}(bool){{/}}{{id}}_read(m, &m->{{?input}}in{{|}}v{{/}}.{{name}})",
     .has = "m->{{?input}}in{{|}}v{{/}}.{{name}}.defined"},
    {.name = "lua",
     .end = ".lua",
     .template = code_template_lua,
     .style = &lua_style,
     .time = "t",
     .elapsed = "(t - self.entered)",
     .read = "self:read(self.{{?input}}inp{{|}}v{{/}}, {{name_string}})",
     .has = "(self.{{?input}}inp{{|}}v{{/}}[{{name_string}}] ~= nil)"},
    {.name = "python",
     .end = ".py",
     .template = code_template_python,
     .style = &python_style,
     .words = python_words,
     .time = "t",
     .elapsed = "(t - self.entered)",
     .read = "self.read(self.{{?input}}inp{{|}}v{{/}}, {{name_string}})",
     .has = "(self.{{?input}}inp{{|}}v{{/}}.get({{name_string}}) is not None)"},
    {.name = "table",
     .end = "_table.c",
     .template = code_template_table,
     .style = &c_style,
     .words = c_words,
     .time = "seconds_of(v->t_us)",
     .elapsed = "(seconds_of(v->t_us) - seconds_of(v->now->entered_us))",
     .read = "{{?truth}}(bool){{/}}{{?input}}read_input{{|}}efsm_get{{/}}(v, {{number}})",
     .has = "{{?input}}has_input{{|}}efsm_is_defined{{/}}(v, {{number}})"},
};
const size_t code_language_count = COUNT(code_languages);
