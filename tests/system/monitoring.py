"""Every expression of the Grafana dashboard yields data in a Prometheus that scrapes a live daemon; alert rules
evaluate.

Each metric, label and fixed label value that dashboard or alerts name must be on /metrics.
"""
import json
import re
import urllib.parse
import urllib.request

from rig import Rig, SOURCE, free_port
from waiting import limit_s

DASHBOARD = json.loads((SOURCE / "packaging/grafana-dashboard.json").read_text())
ALERTS = SOURCE / "packaging/alerts.yaml"
COMMANDS = 6
SELECTOR = re.compile(r"\b(tandem_\w+)(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)(=~|!=|=)"([^"]*)"')


def panels():
    return [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]


def fill_in(expression):
    """Replaces the variables as Grafana does when everything is selected."""
    for variable, value in (("$__rate_interval", "4s"), ("$instance", ".*"), ("$pair", ".*")):
        expression = expression.replace(variable, value)
    assert "$" not in expression, expression
    return expression


def read_metrics(text):
    """name -> label -> values."""
    metrics = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, labels = re.match(r"(\w+)(?:\{(.*)\})? ", line).groups()
            found = metrics.setdefault(name, {})
            for key, value in re.findall(r'(\w+)="([^"]*)"', labels or ""):
                found.setdefault(key, set()).add(value)
    return metrics


def check_names(expression, metrics):
    selectors = SELECTOR.findall(expression)
    for name, matchers in selectors:
        assert name in metrics, f"{name} is not on /metrics: {expression}"
        for key, relation, value in MATCHER.findall(matchers):
            if key == "instance":
                continue  # labels that Prometheus adds
            assert key in metrics[name], f"{name} has no label {key}: {expression}"
            if relation == "=":
                assert value in metrics[name][key], f"{name} has no {key}={value}: {expression}"
    return len(selectors)


def check_layout():
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(ids)) == len(ids), "ids of panels"
    cells = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        mine = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert at["x"] + at["w"] <= 24 and not mine & cells, f"{panel['title']} overlaps"
        cells |= mine
        for target in panel.get("targets", []):
            assert target["datasource"]["uid"] == "${datasource}" and target["expr"]


class Prometheus:
    def __init__(self, rig):
        self.port = free_port()
        conf = rig.folder / "prometheus.yml"
        # A scrape may last as long as the interval.
        every_ms = int(200 * limit_s(1))
        conf.write_text(f"global: {{scrape_interval: {every_ms}ms, evaluation_interval: 1s}}\nrule_files: [{ALERTS}]\n"
                        f"scrape_configs: [{{job_name: tandem, static_configs: [{{targets: ['127.0.0.1:{rig.http_port}']}}]}}]\n")
        log = open(rig.folder / "prometheus.log", "w")
        rig.run(["prometheus", f"--config.file={conf}", f"--storage.tsdb.path={rig.folder}/tsdb",
                 f"--web.listen-address=127.0.0.1:{self.port}"], stdout=log, stderr=log)

    def get(self, path, **arguments):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?" + urllib.parse.urlencode(arguments)
        with urllib.request.urlopen(url, timeout=limit_s(10)) as answer:
            return json.loads(answer.read())["data"]

    def query(self, expression):
        return self.get("query", query=expression)["result"]

    def scrapes(self):
        try:
            return float(self.query('count_over_time(up{job="tandem"}[1h])')[0]["value"][1])
        except (OSError, IndexError):
            return 0


def start_lab(rig):
    rig.start_daemon()
    for side in ("real", "virtual"):
        rig.start("robot", "--pair", "r1", "--side", side, "--telemetry-rate", 20)
    rig.wait(lambda: all(rig.get("/api/v1/pairs/r1")[side]["connection"] == "online" for side in ("real", "virtual")), "robots", 20)


def drive(rig, count):
    driver = rig.start("drive", "--pair", "r1", "--count", count, "--interval", 0, "--turn-max", 0.4, "--drive-max", 0.2)
    assert driver.wait(limit_s(60)) == 0


def contradict(rig, count):
    """Robots under the test's control; their replies agree in time only."""
    for n in range(count):
        rig.publish("tandem/v1/hand/command", {"id": f"h{n}", "op": "go"})
        for side, status in (("real", "done"), ("virtual", "blocked")):
            rig.publish(f"tandem/v1/hand/{side}/reply", {"id": f"h{n}", "status": status})
        rig.wait(lambda: len(rig.records("hand", "entries")) == n + 1, "a contradiction", 20)


def main():
    check_layout()
    with Rig("r1: {}\n  hand: {}") as rig:
        start_lab(rig)
        prometheus = Prometheus(rig)
        rig.wait(lambda: prometheus.scrapes() >= 3, "scrapes", 30)
        drive(rig, COMMANDS)
        rig.wait(lambda: len(rig.records("r1", "entries")) == COMMANDS, "verdicts", 20)
        contradict(rig, 3)
        at = prometheus.scrapes()
        rig.wait(lambda: prometheus.scrapes() >= at + 5, "more scrapes", 20)
        metrics = read_metrics(rig.fetch("/metrics"))
        queries = selectors = 0
        for panel in panels():
            for target in panel["targets"]:
                expression = fill_in(target["expr"])
                selectors += check_names(expression, metrics)
                # A scrape that comes too late makes all series stale until the next one.
                result = []
                rig.wait(lambda: result.extend(prometheus.query(expression)) or result, f"{panel['title']}: data for {expression}", 30)
                for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
                    assert all(label in series["metric"] for series in result), f"{panel['title']}: no label {label}"
                queries += 1
        for variable in DASHBOARD["templating"]["list"]:
            if variable["type"] == "query":
                inner, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["definition"]).groups()
                assert all(label in series["metric"] for series in prometheus.query(fill_in(inner))), variable["name"]
        for annotation in DASHBOARD["annotations"]["list"]:
            if "expr" in annotation:
                check_names(fill_in(annotation["expr"]), metrics)
                prometheus.query(fill_in(annotation["expr"]))
        rules = [rule for group in prometheus.get("rules")["groups"] for rule in group["rules"]]
        assert len(rules) == ALERTS.read_text().count("- alert:") > 10
        for rule in rules:
            check_names(rule["query"], metrics)
            assert rule["health"] == "ok", rule
            assert rule["state"] != "firing", f"{rule['name']} fires in a lab where all is well"
        print(f"{queries} queries of the dashboard give data, {selectors} selectors name existing elements, {len(rules)} alerts evaluate")


main()
