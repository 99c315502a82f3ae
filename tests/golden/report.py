"""report.py [--bless]: reports of recorded cases. --bless rewrites report/expected.html: read the difference."""
import hashlib
import html.parser
import json
import os
import pathlib
import re
import resource
import stat
import subprocess
import sys
import tempfile

from waiting import limit_s

HERE = pathlib.Path(__file__).resolve().parent
CASE = HERE / "report"
TANDEM = os.environ["TANDEM"]
VOID = {"meta", "br", "hr", "img", "input", "link"}
FORBIDDEN = re.compile(r"https?:|src=|<script|url\(|@import", re.I)


class Page(html.parser.HTMLParser):
    """Tags in balance; the text; the cells of each table."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.text, self.tables, self.tags = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, f"still open: {self.open}"

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append((tag, attrs))
        assert not any(a.startswith("on") for a in attrs), attrs
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> in {self.open}"
        self.open.pop()

    def handle_data(self, data):
        self.text.append(data)
        if any(tag in ("td", "th") for tag in self.open):
            self.tables[-1][-1][-1] += data

    def rows(self):
        return [row for table in self.tables for row in table]


def run(*arguments, status=0):
    done = subprocess.run([TANDEM, "report", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == status, (arguments, done.returncode, done.stderr.decode())
    return done.stdout.decode(), done.stderr.decode()


def report(*arguments):
    """Its text, after the checks that every report passes; twice the same bytes."""
    text, _ = run(*arguments, "-o", "-")
    assert text == run(*arguments, "-o", "-")[0]
    found = FORBIDDEN.search(text)
    assert not found, text[found.start() - 80:found.end() + 80]
    assert '<meta name="generator" content="tandem report' in text[:200]
    assert "Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"" in text
    page = Page(text)
    for svg in [attrs for tag, attrs in page.tags if tag == "svg"]:
        assert svg.get("role") == "img"
    kinds = [tag for tag, _ in page.tags]
    assert kinds.count("svg") == kinds.count("desc") and kinds.count("table") == kinds.count("caption")
    assert all(attrs.get("scope") for tag, attrs in page.tags if tag == "th")
    return text, page


def stable(text):
    """Without Tandem's version, and the list of options, which other tests compare."""
    version = re.search('content="tandem report ([^"]*)"', text).group(1)
    return re.sub("(<summary>.*?<pre>).*?(</pre>)", r"\1\2", text, flags=re.S).replace(version, "VERSION")


def check_golden(bless):
    text, page = report("-c", CASE / "lab.yaml", CASE / "input.jsonl")
    expected = CASE / "expected.html"
    if bless:
        expected.write_text(stable(text))
    assert stable(text) == expected.read_text(), "not the bytes of report/expected.html: look, then --bless"
    words = "".join(page.text)
    assert "<script>alert(1)</script>" in words and "http://x src=y" in words, "texts of the network are shown as they are"
    rows = page.rows()
    assert ["BEHIND", "52", "65.0 %", "54.1 to 74.5 %"] in rows and ["TIMEOUT", "3", "3.8 %", "1.3 to 10.5 %"] in rows, rows[:12]
    assert ["virtual robot, version", "1.5.0 <b>&", "31"] in rows and ["virtual robot, version", "1.4.0", "49"] in rows
    assert any(row[1:4] == ["version_changed", "virtual", "0"] for row in rows)
    for name in ("input.jsonl", "lab.yaml"):
        whole = (CASE / name).read_bytes()
        assert [name, str(len(whole)), hashlib.sha256(whole).hexdigest()] in rows, name
    heads = [tag for tag, _ in page.tags if tag == "h1"]
    assert len(heads) == 3, "one for the pair, rejected input, provenance"


def luminance(colour):
    parts = [int(colour[k:k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear))


def check_contrast():
    text, _ = report("-c", CASE / "lab.yaml", CASE / "input.jsonl")
    style = text[text.index("<style>"):text.index("</style>")]
    inks = {c for c in re.findall(r"[;{]color:(#[0-9a-f]{6})", style)} | set(re.findall(r'stroke="(#[0-9a-f]{6})"', text))
    assert len(inks) >= 4, inks
    for paper in re.findall(r"background:(#[0-9a-f]{3,6})", style):
        paper = "#" + "".join(2 * c for c in paper[1:]) if len(paper) == 4 else paper
        for ink in (i for i in inks if paper == "#ffffff" or i == "#1a1a1a"):
            ratio = (luminance(paper) + 0.05) / (luminance(ink) + 0.05)
            assert ratio >= 4.5, (ink, paper, ratio)


def check_cases(folder):
    """Dynamics, arms, link mode, many alarms: what the sections say; a pair without data."""
    for case, words in (("dynamics", ("Dynamics", "usv3", "Measured and simulated motion", "held-out")),
                        ("arm", ("joint_speed_ratio",)), ("alarms", ("Alarms by type",)), ("clocks", ("locked",)),
                        ("without_ids", ("by their order: the commands had no id",))):
        where = HERE / "replay" / case
        text, page = report("-c", where / "lab.yaml", where / "input.jsonl")
        assert all(word in "".join(page.text) for word in words), case
    lab = folder / "two.yaml"
    lab.write_text("pairs: {r1: {timeout_s: 10}, r2: {}}\n")
    text, page = report("-c", lab, "--pair", "r2", CASE / "input.jsonl")
    assert "There is no command of this pair." in text and "Pair r2" in "".join(page.text)
    short = folder / "short.jsonl"
    short.write_text("".join((CASE / "input.jsonl").read_text().splitlines(keepends=True)[:6]))
    text, page = report("-c", CASE / "lab.yaml", short)
    assert "residuals of 1 move." in text and not re.search(r"\bnan\b|\binf\b", text), "a number that is not known"
    _, page = report("-c", CASE / "lab.yaml", "--compare", HERE / "report/input.jsonl", CASE / "input.jsonl")
    assert "Nothing differs." in "".join(page.text), "a recording with itself"


def check_compared_versions(folder):
    """`tandem compare` names the versions of the commands, of journals and of documents."""
    other, lab = folder / "other.jsonl", CASE / "lab.yaml"
    other.write_text((CASE / "input.jsonl").read_text().replace('"1.4.0"', '"1.3.0"').replace('"1.5.0 <b>&"', '"1.3.0"'))
    document = folder / "document.json"
    with document.open("w") as out:
        subprocess.run([TANDEM, "replay", "-c", lab, "--json", other], check=True, stdout=out, stderr=subprocess.DEVNULL)
    want = {"real": [["fw 2.1"], ["fw 2.1"]], "virtual": [["1.3.0"], ["1.4.0", "1.5.0 <b>&"]]}
    for a in (other, document):
        command = [TANDEM, "compare", "-c", lab, a, CASE / "input.jsonl"]
        done = subprocess.run([*command, "--json"], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert json.loads(done.stdout)["pairs"]["r1"]["versions"] == want, done.stdout
        done = subprocess.run([*command, "--all"], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert "virtual 1.3.0 → 1.4.0, 1.5.0 <b>&" in done.stdout.decode(), done.stdout.decode()
    command = [TANDEM, "compare", "-c", lab, other, CASE / "input.jsonl"]
    assert subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout == b"", \
        "another version is no difference by itself"


def check_secrets(folder):
    secrets = {"token": "tok-4711-abcdefghijkl", "password": "pass-word-0815", "key": "private-key"}
    for name, text in secrets.items():
        (folder / f"{name}.secret").write_text(text + "\n")
        os.chmod(folder / f"{name}.secret", 0o600)
    lab = folder / "secret.yaml"
    lab.write_text(f"""# the password is {secrets['password']}
broker: {{username: someone, password_file: {folder}/password.secret,
  tls: {{enabled: true, cert_file: {folder}/cert.secret, key_file: {folder}/key.secret}}}}
http: {{token_file: {folder}/token.secret}}
pairs: {{r1: {{timeout_s: 10}}}}
""")
    text, page = report("-c", lab, CASE / "input.jsonl")
    assert "timeout_s: 10" in text
    for secret in (*secrets.values(), ".secret", "someone"):
        assert secret not in text + "".join(page.text), secret


def check_errors(folder):
    out, lab, journal = folder / "x.html", CASE / "lab.yaml", CASE / "input.jsonl"
    out.write_text("my thesis\n")
    assert "exists and is no report of Tandem; --force replaces it" in run("-c", lab, journal, "-o", out, status=1)[1]
    assert out.read_text() == "my thesis\n"
    run("-c", lab, journal, "-o", out, "--force")
    run("-c", lab, journal, "-o", out)
    whole = run("-c", lab, journal, "-o", "-")[0]
    assert out.read_text() == whole
    assert sorted(p.name for p in folder.glob("x.html*")) == ["x.html"]
    os.mkfifo(folder / "pipe")
    with subprocess.Popen(["cat", folder / "pipe"], stdout=subprocess.PIPE) as cat:
        run("-c", lab, journal, "-o", folder / "pipe")
        assert cat.communicate()[0].decode() == whole
    assert stat.S_ISFIFO(os.stat(folder / "pipe").st_mode), "a pipe or device is written to, never replaced"
    (folder / "link.html").symlink_to(out)
    run("-c", lab, journal, "-o", folder / "link.html")
    assert (folder / "link.html").is_symlink()
    run("-c", lab, journal, "-o", folder, status=1)
    many = folder / "many.yaml"
    many.write_text("pairs: {r: {count: 2000}}\n")
    assert "2000 pairs: name some by --pair" in run("-c", many, journal, "-o", out, status=2)[1]
    assert "did you mean" in run("-c", lab, journal, "-o", out, "--pair", "r11", status=2)[1]
    run("-c", lab, journal, status=2)
    run("-c", lab, journal, journal, "--compare", journal, "-o", out, status=2)
    run("-c", lab, folder / "none.jsonl", "-o", out, status=1)
    empty = folder / "empty.jsonl"
    empty.write_text("")
    run("-c", lab, empty, "-o", out, status=1)
    run("-c", lab, journal, "-o", folder / "no/such/x.html", status=1)


def processor_s():
    """The processor's time of all programs that ended, which a busy machine hardly changes."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def check_size(folder):
    """10 000 commands: extremes of intervals, below 300 kB and 0.5 s."""
    journal, lines = folder / "long.jsonl", []
    for n in range(10000):
        def line(after_s, topic, payload):
            t = n * 12 + after_s
            stamp = f"2026-11-{21 + t // 86400:02.0f}T{t // 3600 % 24:02.0f}:{t // 60 % 60:02.0f}:{t % 60:09.6f}Z"
            payload = json.dumps(payload)
            return json.dumps({"tst": stamp, "topic": f"tandem/v1/r1/{topic}", "qos": 1, "retain": 0,
                               "payloadlen": len(payload), "payload": json.loads(payload)})
        late = 3.25 if n == 7654 else n * 7919 % 200 / 1000
        lines += [line(0, "command", {"id": f"c{n}", "op": "go", "rotation_rad": 1 + n % 5 / 4}),
                  line(2, "real/reply", {"id": f"c{n}", "status": "done"}),
                  line(2 + late, "virtual/reply", {"id": f"c{n}", "status": "done"})]
    journal.write_text("\n".join(lines) + "\n")
    before_s = processor_s()
    text, page = report("-c", CASE / "lab.yaml", journal)
    spent_s = (processor_s() - before_s) / 2  # report() runs it twice
    assert spent_s < limit_s(0.5), spent_s
    assert len(text) < 300000, len(text)
    points = text[text.index("<figure>"):text.index("</figure>")].count("<path fill=\"none\"")
    assert 1900 < points <= 2005, points
    assert ["commands", "", "10000"] in page.rows() and any(row[0] == "7655" and row[4] == "-3.25" for row in page.rows())


def main():
    with tempfile.TemporaryDirectory(prefix="tandem-test-") as name:
        folder = pathlib.Path(name)
        check_golden("--bless" in sys.argv)
        check_contrast()
        check_cases(folder)
        check_compared_versions(folder)
        check_secrets(folder)
        check_errors(folder)
        check_size(folder)


main()
