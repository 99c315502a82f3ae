"""Recordings that are wrong in every way, for every model that `tandem identify --help` lists.

Each must end in exactly one line with the error (exit status 1, or 2 for usage), or in one JSON document without
NaN or infinity, whose verdict is not PASS where the data cannot support a result. It must not crash, print a
second line, or give a wrong number without a warning. The help lists the roles of each model, so a new model is
covered without a change here.
"""
import json, math, os, random, re, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

PROGRAM, SOURCE = sys.argv[1:3]
sys.path.insert(0, f"{SOURCE}/tests/support")
from waiting import limit_s  # noqa: E402

ROWS = 240


def models():
    """(name, roles) in the order of the help; a model without a list of roles has those of the previous one."""
    text = subprocess.run([PROGRAM, "identify", "--help"], capture_output=True, text=True, check=True).stdout
    roles = []
    for part in re.split(r"^model ", text, flags=re.M)[1:]:
        name = part.split(None, 1)[0]
        found = re.search(r"^ *roles: +(.*)$", part, flags=re.M)
        if name == "travel_time":
            yield name, ["lap_s", "rotation_rad", "displacement_m"]
            continue
        if name == "arm_time":  # all others may be missing
            yield name, ["lap_s", "rotation_rad"]
            continue
        if found:
            words = re.sub(r"([a-z]+)1 ?\.{2,3} ?\1(\d)", lambda m: " ".join(f"{m[1]}{k + 1}" for k in range(int(m[2]))), found.group(1))
            roles = re.split(r"[;:,]", words)[0].split()
            assert roles[0] == "t" or name == "arm_kinematics", (name, roles)
        assert roles, name
        yield name, roles


def record(name, roles):
    """Rows that a model can process: a recording, or the motion of such a robot. Of an unknown model half of the
    columns are commands and the others follow them.
    """
    draw = random.Random(name)
    if name == "travel_time":
        moves = ((k % 5 * 0.7, k % 4 * 0.5) for k in range(40))
        return [[0.3 + (0.2 + turn / 1.2) * (turn > 0) + (0.1 + way / 0.2) * (way > 0) + draw.gauss(0, 0.01), turn, way] for turn, way in moves]
    if name == "arm_time":
        sizes = (0.1 + k * 7 % 40 * 0.06 for k in range(40))
        times = ((size, size / 1.05 + 0.75 if size > 0.7875 else 2 * math.sqrt(size / 1.4)) for size in sizes)
        return [[0.05 + time + draw.gauss(0, 0.004), size] for size, time in times]
    if name == "usv3":
        with open(os.path.join(SOURCE, "tests/golden/usv_W.csv")) as lines:
            return [[float(x) for x in line.split(",")[:7]] for line in lines if line[0] in "0123456789"][:600]
    if name == "arm_kinematics":
        return sample("arm_poses.csv", roles)
    if name == "arm_friction":
        return sample("arm_joints.csv", roles)
    if name == "odometry":
        return ride(draw)
    if name.startswith("joint"):
        return swing(draw, name, roles)
    half = (len(roles) - 1) // 2
    state = [0.0] * (len(roles) - 1 - half)
    rows = []
    for k in range(ROWS):
        commands = [(1.0 + 0.7 * (k // (31 + 12 * c) % 3)) * (-1 if k // (17 + 5 * c) % 2 else 1) * 0.5 for c in range(half)]
        rows.append([k * 0.1] + commands + [x + draw.gauss(0, 0.005) for x in state])
        state = [x + 0.3 * (commands[c % half] - x) for c, x in enumerate(state)]
    return rows


def sample(name, roles):
    """Columns of a shipped recording: a role's name is that of its column without the unit."""
    with open(os.path.join(SOURCE, "examples/data", name)) as lines:
        header = [column.split("_")[0] for column in next(lines).rstrip().split(",")]
        at = [header.index(role) for role in roles]
        return [[float(row[k]) for k in at] for row in (line.split(",") for line in lines)][:900]


def ride(draw):
    """Wheels of 3 cm, 30 cm apart, and the path on which they move the robot."""
    rows, left, right, x, y, theta = [], 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(ROWS):
        rows.append([k * 0.1, left, right, x + draw.gauss(0, 0.001), y + draw.gauss(0, 0.001), theta + draw.gauss(0, 0.002)])
        turn = (-0.8, 0.0, 0.8, 0.3)[k // 40 % 4]
        a, b = 0.4 * (1 - 0.5 * turn), 0.4 * (1 + 0.5 * turn)
        left, right = left + a, right + b
        step, bend = 0.03 * (a + b) / 2, 0.03 * (b - a) / 0.3
        x, y, theta = x + step * math.cos(theta + bend / 2), y + step * math.sin(theta + bend / 2), theta + bend
    return rows


def swing(draw, name, roles):
    """A joint with the friction and the load of its name, driven to and fro by efforts."""
    rows, step, parts, q, w = [], 0.01, 20, 0.0, 0.0
    effort, left = 0.0, 0
    for k in range(2 * ROWS):
        if left == 0:
            effort, left = draw.uniform(-3.0, 3.0), draw.randrange(15, 60)
        left -= 1
        seen = {"t": k * step, "effort": effort, "velocity": w + draw.gauss(0, 0.003), "position": q + draw.gauss(0, 1e-5)}
        rows.append([seen[role] for role in roles])
        for _ in range(parts):
            way = math.tanh(w / 0.01)
            dry = 0.3 + 0.2 * abs(effort) * ("geared" in name) + 0.3 * math.exp(-((w / 0.1) ** 2)) * ("stribeck" in name)
            pushed = effort - 0.25 * w - dry * way - 0.05 - 1.2 * math.sin(q) * ("load" in name)
            w += step / parts * pushed / 0.1 / (1 + step / parts * dry * (1 - way * way) / 0.01 / 0.1)
            q += step / parts * w
    return rows


def text(roles, rows, end="\n", separator=","):
    return separator.join(roles) + end + "".join(separator.join(f"{x:.9g}" for x in row) + end for row in rows)


def changed(rows, column, change):
    return [[change(k, x) if c == column or column is None else x for c, x in enumerate(row)] for k, row in enumerate(rows)]


ERROR, BAD, SAME, ANY = "error", "error or no PASS", "as the good one", "anything but a crash"
# Models whose good recording above is good.
KNOWN = ("travel_time", "arm_time", "usv3", "diffdrive", "first_order", "arm6", "odometry", "arm_friction", "arm_kinematics", "joint", "joint_load", "joint_stribeck")
# Variants of a model with equal columns share the cases, a fifth each; with TANDEM_SHORT each model gets a twentieth,
# so that each case still runs with some model.
SHORT = bool(os.environ.get("TANDEM_SHORT"))
VARIANTS, SHARE = ("joint_stribeck",), 20 if SHORT else 5
# The good recording has no warning.
FINE = ("joint", "joint_load", "joint_stribeck")


def cases(roles, rows):
    """(what, bytes, expected outcome); the first column is time, or the lap."""
    last = len(roles) - 1
    good = text(roles, rows)
    yield "good", good, ANY
    yield "crlf", text(roles, rows, end="\r\n"), SAME
    yield "byte order mark", "\ufeff" + good, SAME
    yield "quotes", re.sub(r"[^,\n]+", r'"\g<0>"', good), SAME
    yield "no line break at the end", good.rstrip("\n"), SAME
    yield "empty", "", ERROR
    yield "blank lines", "\n\n\n", ERROR
    yield "header only", ",".join(roles) + "\n", BAD
    yield "half a header", roles[0][:1], ERROR
    for n in (1, 2, 3, 8, 9):
        # A pose has six numbers: eight poses are 48 equations for 26 parameters.
        yield f"{n} rows", text(roles, rows[:n]), ANY if roles[0] == "q1" and n >= 8 else BAD
    yield "60 rows", text(roles, rows[:60]), ANY
    for c, role in enumerate(roles):
        yield f"{role} is constant", text(roles, changed(rows, c, lambda k, x: 0.25)), BAD if c == 0 and roles[0] == "t" else ANY
        yield f"{role} is zero", text(roles, changed(rows, c, lambda k, x: 0.0)), BAD if c == 0 and roles[0] == "t" else ANY
        yield f"{role} is missing", text([r if i != c else "other" for i, r in enumerate(roles)], rows), ERROR
    yield "all constant", text(roles, changed(rows, None, lambda k, x: 1.0)), BAD
    yield "all zero", text(roles, changed(rows, None, lambda k, x: 0.0)), BAD
    yield "nothing moves", text(roles, [[row[0]] + [0.0] * last for row in rows]), BAD
    for word in ("nan", "inf", "-inf", "", "null"):
        yield f"all '{word}'", ",".join(roles) + "\n" + "".join(",".join([f"{r[0]:.6g}"] + [word] * last) + "\n" for r in rows), BAD
        lines = good.splitlines()
        lines[7] = ",".join(lines[7].split(",")[:-1] + [word])
        yield f"one '{word}'", "\n".join(lines) + "\n", ANY
    for word in ("fast", "0x10", "1,5", "1e", "--", "1.2.3", "\u0661"):
        lines = good.splitlines()
        lines[7] = ",".join(lines[7].split(",")[:-1] + [word])
        yield f"text '{word}'", "\n".join(lines) + "\n", ERROR
    yield "two columns of a name", text([roles[1]] + roles[1:], rows), ERROR
    yield "a field more", good.replace("\n", ",1\n").replace(",1\n", "\n", 1), ERROR
    yield "a field less", "\n".join(line.rsplit(",", 1)[0] if i else line for i, line in enumerate(good.splitlines())), ERROR
    yield "semicolons", text(roles, rows, separator=";"), ERROR
    yield "tabs", text(roles, rows, separator="\t"), ERROR
    yield "decimal commas", text(roles, rows, separator=";").replace(".", ","), ERROR
    yield "last line cut", good[: len(good) - len(good.splitlines()[-1]) + 3], ERROR
    yield "quote not closed", good + '"1,2', ERROR
    yield "binary", bytes(random.Random(5).randrange(256) for _ in range(20000)), ERROR
    yield "zero bytes", b"\0" * 5000, ERROR
    yield "binary after the header", text(roles, rows[:3]).encode() + bytes(random.Random(6).randrange(256) for _ in range(5000)), ERROR
    yield "other encoding", good.encode("utf-16"), ERROR
    for size in (1e3, 57.29578, 1e9, 1e100, 1e154, 1e308):
        yield f"all times {size:g}", text(roles, [[row[0]] + [max(-1.7e308, min(1.7e308, x * size)) for x in row[1:]] for row in rows]), ANY
        yield f"{roles[last]} times {size:g}", text(roles, changed(rows, last, lambda k, x: max(-1.7e308, min(1.7e308, x * size)))), BAD if roles[last] == "r" else ANY
    yield "a wild sample", text(roles, changed(rows, last, lambda k, x: 1e30 if k == 30 else x)), ANY
    yield "denormal", text(roles, [[row[0]] + [x * 1e-310 for x in row[1:]] for row in rows]), BAD
    yield "tiny", text(roles, [[row[0]] + [x * 1e-160 for x in row[1:]] for row in rows]), ANY
    if roles[0] != "t":
        return
    for what, change in {
        "in milliseconds": lambda k, x: 1e3 * x,
        "in microseconds": lambda k, x: 1e6 * x,
        "in nanoseconds of the epoch": lambda k, x: 1.7e18 + 1e9 * x,
        "in days": lambda k, x: x / 86400,
    }.items():
        yield f"time {what}", text(roles, changed(rows, 0, change)), ANY
    yield "time of the epoch", "".join([",".join(roles) + "\n"] + [f"{1.7e9 + row[0]:.3f}," + ",".join(f"{x:.9g}" for x in row[1:]) + "\n" for row in rows]), ANY
    yield "time runs back", text(roles, changed(rows, 0, lambda k, x: -x)), BAD
    yield "time jumps back", text(roles, changed(rows, 0, lambda k, x: x - 5 * (k > 100))), ANY
    yield "time jumps ahead", text(roles, changed(rows, 0, lambda k, x: x + 1e6 * (k > 100))), ANY
    yield "time is drawn", text(roles, changed(rows, 0, lambda k, x: (k * 7919 % 241) / 10)), ANY
    yield "each row twice", text(roles, [row for row in rows for _ in range(2)]), ANY
    yield "one row many times", text(roles, rows[5:6] * 200), BAD
    yield "wild time", text(roles, changed(rows, 0, lambda k, x: 1e300 * k)), BAD
    yield "time ends at infinity", text(roles, changed(rows, 0, lambda k, x: x if k < 200 else 1.7e308)), ANY


def refuse_constant(word):
    raise ValueError(f"{word} in the JSON")


def find_no_number(text):
    """Quotes what surrounds each number that is NaN or infinite. Infinite bounds of histograms are no fault."""
    pattern = re.compile(r"(?<![\w'\"./])[-+]?(nan|inf|infinity)(?![\w'\"./])", re.I)
    return [text[max(0, m.start() - 100):m.end() + 30] for m in pattern.finditer(text.replace('le="+Inf"', ""))]


def look(model, what, want, path, good):
    """The fault in how the program handles a file, or None; and its document."""
    run = subprocess.run([PROGRAM, "identify", "--model", model, "--json", path], capture_output=True, timeout=limit_s(120))
    out, err = run.stdout.decode(errors="replace"), run.stderr.decode(errors="replace")
    if run.returncode not in (0, 1, 2):
        return f"exit status {run.returncode}: {err[-2000:]}", None
    if run.returncode:
        lines = err.splitlines()
        if len(lines) != 1 or not lines[0].startswith("tandem: ") or out:
            return f"not one line of complaint: {err[:2000]!r}, {out[:80]!r}", None
        if want == SAME:
            return f"refused: {lines[0]}", None
        if run.returncode == 2:
            return f"blames the usage: {lines[0]}", None
        return None, None
    if want == ERROR:
        return f"accepted without an error: {out[:200]}", None
    if err:
        return f"an error in addition to a result: {err[:500]}", None
    try:
        document = json.loads(out, parse_constant=refuse_constant)
    except ValueError as fault:
        return f"{fault}: {out[:200]}", None
    if find_no_number(out):
        return f"no number: {find_no_number(out)}", None
    verdict = document.get("verdict")
    if verdict not in ("PASS", "MARGINAL", "FAIL"):
        return f"verdict {verdict}", None
    if verdict != "PASS" and not document.get("reasons"):
        return f"{verdict} without a reason", None
    if want == BAD and verdict == "PASS":
        return "PASS", None
    if want == SAME and good and (document["values"], verdict) != good:
        return "other values than the good file", None
    return None, (document["values"], verdict)


def main():
    faults, count = [], 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        for number, (model, roles) in enumerate(models()):
            rows, good, jobs = record(model, roles), None, []
            for i, (what, content, want) in enumerate(cases(roles, rows)):
                # With TANDEM_ALL each model gets all cases.
                whole = os.environ.get("TANDEM_ALL") or model in KNOWN and model not in VARIANTS and not SHORT
                if not whole and i % SHARE != number % SHARE and what != "good":
                    continue
                path = os.path.join(folder, f"{model}{i}.csv")
                with open(path, "wb") as out:
                    out.write(content if isinstance(content, bytes) else content.encode())
                if what == "good":
                    fault, good = look(model, what, want, path, None)
                    jobs.append((what, None, fault))
                else:
                    jobs.append((what, pool.submit(look, model, what, want, path, good), None))
            for what, job, fault in jobs:
                fault = job.result()[0] if job else fault
                count += 1
                if fault:
                    faults.append(f"{model}, {what}: {fault}")
            if model in KNOWN and (not good or good[1] == "FAIL"):
                faults.append(f"{model}: the good one is {good and good[1]}")
            if model in FINE and (not good or good[1] != "PASS"):
                faults.append(f"{model}: the good one is {good and good[1]}, and not PASS")
            print(f"{model}: {len(jobs)} files, the good one: {good[1] if good else 'refused'}")
    for fault in faults:
        print("FAULT", fault, file=sys.stderr)
    print(f"{count} files, {len(faults)} faults")
    sys.exit(1 if faults or count < 100 else 0)


if __name__ == "__main__":
    main()
