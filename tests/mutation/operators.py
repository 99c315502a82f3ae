"""Small faults for C sources: each is one token or statement that a tired programmer gets wrong."""
import re

TOKEN = re.compile(r"""
    (?P<space>\s+|\\\n|//[^\n]*|/\*.*?\*/)
  | (?P<directive>(?:^|(?<=\n))[ \t]*\#(?:\\\n|[^\n])*)
  | (?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
  | (?P<number>(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[uUlLfF]*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
""", re.X | re.S)
RELATIONAL = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",)}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "++": "--", "--": "++",
              "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*="}
LOGICAL = {"&&": "||", "||": "&&"}
KEYWORDS = {"if", "for", "while", "do", "switch", "case", "default", "return", "else", "goto", "break", "continue",
            "static", "const", "struct", "enum", "union", "typedef", "extern", "inline", "unsigned", "signed", "int",
            "char", "double", "float", "long", "short", "void", "bool", "size_t", "sizeof", "assert"}
UNCHANGED = {"assert", "sizeof", "_Static_assert", "offsetof"}


class Mutant:
    def __init__(self, operator, start, end, text):
        self.operator, self.start, self.end, self.text = operator, start, end, text

    def apply(self, source):
        return source[:self.start] + self.text + source[self.end:]


def tokens_of(source):
    """[(kind, text, start)] without spaces, comments and directives."""
    found = []
    for match in TOKEN.finditer(source):
        if match.lastgroup not in ("space", "directive"):
            found.append((match.lastgroup, match[0], match.start()))
    return found


def matching(tokens):
    """{index of an opening bracket: index of its end}"""
    ends, open_ones = {}, []
    for i, (kind, text, _) in enumerate(tokens):
        if kind == "sign" and text in "([{":
            open_ones.append(i)
        elif kind == "sign" and text in ")]}" and open_ones:
            ends[open_ones.pop()] = i
    return ends


def left_alone(tokens, ends):
    """Tokens where a change shows nothing: inside assert(), sizeof()."""
    skipped = set()
    for i, (_, text, _) in enumerate(tokens):
        if text in UNCHANGED and i + 1 in ends:
            skipped.update(range(i, ends[i + 1] + 1))
    return skipped


def of_token(tokens, i):
    kind, text, start = tokens[i]
    before = tokens[i - 1] if i else ("", "", 0)
    is_binary = before[0] in ("name", "number") and before[1] not in KEYWORDS or before[1] in (")", "]")
    end = start + len(text)
    if kind == "number":
        if re.fullmatch(r"[\d.]+(e[+-]?\d+)?[uUlL]*|0[xX][0-9a-fA-F]+[uUlL]*", text):
            yield Mutant("constant", start, end, f"({text} + 1)")
            yield Mutant("constant", start, end, f"({text} - 1)")
    elif text in RELATIONAL:
        for other in RELATIONAL[text]:
            yield Mutant("relational", start, end, other)
    elif text in ARITHMETIC and (is_binary or text in ("++", "--")):
        yield Mutant("arithmetic", start, end, ARITHMETIC[text])
    elif text in LOGICAL:
        yield Mutant("logical", start, end, LOGICAL[text])
    elif text == "!":
        yield Mutant("logical", start, end, "")


def of_statement(source, tokens, i, ends):
    """Conditions, return values, omitted statements; i is the statement's first token."""
    kind, text, start = tokens[i]
    if text in ("if", "while") and i + 1 in ends:
        first, last = tokens[i + 1][2], tokens[ends[i + 1]][2] + 1
        yield Mutant("condition", first, last, "(!" + source[first:last] + ")")
    is_start = i and tokens[i - 1][1] in (";", "{", "}", ")", "else")
    stop = next((k for k in range(i, len(tokens)) if tokens[k][1] in (";", "{", "}")), i)
    if not is_start or tokens[stop][1] != ";":
        return
    end = tokens[stop][2]
    if text == "return" and stop > i + 1:
        value = source[tokens[i + 1][2]:end]
        for other in (f"!({value})", f"({value}) + 1", "0"):
            yield Mutant("return", tokens[i + 1][2], end, other)
    elif text in ("break", "continue"):
        yield Mutant("statement", start, end, "")
    elif (kind == "name" or text in ("*", "(")) and text not in KEYWORDS and any(
            t[1] in ("(", "=", "++", "--") or t[1].endswith("=") for t in tokens[i:stop]):
        is_declaration = kind == "name" and tokens[i + 1][0] == "name"
        if not is_declaration:
            yield Mutant("statement", start, end, "")


def mutants_of(source):
    """Every mutant of a source, in its order."""
    tokens = tokens_of(source)
    ends = matching(tokens)
    skipped = left_alone(tokens, ends)
    found = []
    for i in range(len(tokens)):
        if i not in skipped:
            found.extend(of_token(tokens, i))
            found.extend(of_statement(source, tokens, i, ends))
    return found
