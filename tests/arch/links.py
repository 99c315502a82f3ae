#!/usr/bin/env python3
"""links.py SOURCE_DIR: links of documents have targets, docs/README.md leads to every page of docs/, and the glossary
has each verdict and state of the API and each tab of the page.

The test checks links to files and headings of this tree, in Markdown and where code names a page with its heading.
"""
import pathlib
import re
import sys

ROOTS = ("*.md", "docs/**/*.md", "examples/**/*.md")
CODE = ("base", "config", "deploy", "identification", "logger", "packaging", "service", "twin", "web")
LINK = re.compile(r"\]\(([^()\s]+)\)")
NAMED = re.compile(r"\b(docs/[\w/.-]+\.md)(?:#([\w-]+))?")
INDEX = "docs/README.md"
GLOSSARY = "docs/glossary.md"


def without_code(text):
    text = re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.S | re.M)
    return re.sub(r"`[^`\n]*`", lambda m: m[0].replace("](", "] ("), text)


def anchors_of(text):
    """The anchors of a page's headings, as GitHub makes them, and those set by hand."""
    found, seen = set(re.findall(r'<a (?:id|name)="([^"]+)"', text)), {}
    for heading in re.findall(r"^#+ +(.*?) *#*$", re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.S | re.M), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", plain, flags=re.U).replace(" ", "-")
        seen[slug] = seen.get(slug, -1) + 1
        found.add(slug if seen[slug] == 0 else f"{slug}-{seen[slug]}")
    return found


def check_links(root, pages):
    """Yields links without a target; fills in the pages that each page links."""
    for page, (text, links) in pages.items():
        for link in LINK.findall(without_code(text)):
            if re.match(r"[a-z]+:", link):
                continue
            place, _, anchor = link.partition("#")
            target = (root / page).parent / place if place else root / page
            name = target.resolve().relative_to(root).as_posix()
            if not target.exists():
                yield f"{page}: {link}: there is no {name}"
            elif name in pages:
                links.add(name)
                if anchor and anchor not in anchors_of(pages[name][0]):
                    yield f"{page}: {link}: no such heading"


def check_code(root, pages):
    for folder in CODE:
        for path in sorted((root / folder).rglob("*")):
            if not path.is_file() or path.suffix == ".png":
                continue
            for place, anchor in NAMED.findall(path.read_text(errors="replace")):
                if place not in pages:
                    yield f"{path.relative_to(root)}: there is no {place}"
                elif anchor and anchor not in anchors_of(pages[place][0]):
                    yield f"{path.relative_to(root)}: {place}#{anchor}: no such heading"


def check_glossary(root, glossary):
    enums = re.findall(r"enum: \[([^\]]*)\]", (root / "web/openapi.yaml").read_text())
    terms = set(re.findall(r"\b[A-Z][A-Z_]+\b", " ".join(enums)))
    tabs = re.findall(r'label: "(\w+?)s?"', (root / "web/page/view_pair.js").read_text())
    known = " ".join(re.findall(r"^\|(.*)\|$", glossary, re.M))
    for term in sorted(terms) + tabs:
        if not re.search(rf"\b{term}s?\b", known, 0 if term in terms else re.I):
            yield f"{GLOSSARY}: {term} is missing"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    pages = {p.relative_to(root).as_posix(): (p.read_text(), set()) for glob in ROOTS for p in sorted(root.glob(glob))}
    found = [*check_links(root, pages), *check_code(root, pages)]
    reached, waiting = set(), [INDEX]
    while waiting:
        page = waiting.pop()
        if page in pages and page not in reached:
            reached.add(page)
            waiting += pages[page][1]
    found += [f"{page}: not reached from {INDEX}" for page in pages if page.startswith("docs/") and page not in reached]
    found += check_glossary(root, pages[GLOSSARY][0])
    print("\n".join(found) if found else f"{len(pages)} pages: all links lead somewhere")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
