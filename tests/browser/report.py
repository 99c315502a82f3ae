"""report.py - prints reports to PDF, whose structure says on which page each row of a table is."""
import os
import pathlib
import re
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
OBJECT = re.compile(rb"(\d+) 0 obj\r?\n(.*?)endobj", re.S)
LIMIT_S = 120 * int(os.environ.get("TANDEM_PATIENCE", "1"))


def print_page(folder, page):
    pdf = folder / "page.pdf"
    pdf.unlink(missing_ok=True)
    subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                    f"--user-data-dir={folder}/profile", f"--print-to-pdf={pdf}", page.as_uri()],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=LIMIT_S)
    return pdf.read_bytes()


def pages_of_rows(pdf):
    """For each row the set of its pages; the count of pages."""
    objects = {int(number): body for number, body in OBJECT.findall(pdf)}
    kids = {}
    for number, body in objects.items():
        parent = re.search(rb"/P (\d+) 0 R", body)
        if b"/StructElem" in body and parent:
            kids.setdefault(int(parent.group(1)), []).append(number)

    def pages(number):
        found = {int(p) for p in re.findall(rb"/Pg (\d+) 0 R", objects[number])}
        return found.union(*(pages(kid) for kid in kids.get(number, [])))

    def is_row(number):
        """Not one of a table's head, which is repeated on each page: it has no TD."""
        return re.search(rb"/S ?/TR\b", objects[number]) and any(b"/TD" in objects[kid] for kid in kids.get(number, []))

    rows = [pages(number) for number in objects if is_row(number)]
    return rows, len([1 for body in objects.values() if re.search(rb"/Type ?/Page\b", body)])


def check_print(folder, page, words):
    rows, pages = pages_of_rows(print_page(folder, page))
    count = words.count("<tr>") - words.count("<thead>")
    assert pages >= 2 and len(rows) >= count > 20, (pages, len(rows), count)
    return [row for row in rows if len(row) > 1]


def main():
    with tempfile.TemporaryDirectory(prefix="tandem-test-") as name:
        folder = pathlib.Path(name)
        for case in ("golden/report", "golden/replay/alarms", "golden/replay/dynamics"):
            where = SOURCE / "tests" / case
            page = folder / "page.html"
            subprocess.run([os.environ["TANDEM"], "report", "-c", where / "lab.yaml", where / "input.jsonl", "-o", page],
                           check=True)
            words = page.read_text()
            parted = check_print(folder, page, words)
            assert not parted, (case, parted)
        # The same page, whose rows may be parted: the check sees it.
        long = "<tr><td>" + "much text " * 3000 + "</td></tr>"
        page.write_text(words.replace("</tbody></table>", long + "</tbody></table>", 1))
        assert check_print(folder, page, words), "a row of several pages is parted"


main()
