#!/usr/bin/env python3
"""Links of the Markdown files: python3 tests/links.py. Files and headings that are linked have to exist; other sites are not asked."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^(```|~~~).*?^\1", re.S | re.M)


def files():
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    return [ROOT / name for name in names if name and (ROOT / name).exists()]


def anchors(path):
    """The anchors that a repository's web page gives headings."""
    found = []
    for heading in re.findall(r"^#+ +(.*)$", FENCE.sub("", path.read_text()), re.M):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
        found.append(re.sub(r"[^\w\- ]", "", text).replace(" ", "-"))
    return found


def check(path):
    text = FENCE.sub("", path.read_text())
    # Code goes, but not where it is the text of a link.
    text = re.sub(r"(`[^`\n]*`)(\])?", lambda code: code[0] if code[2] else "", text)
    defined = {name.lower(): target for name, target in re.findall(r"^\[([^\]]+)\]: *(\S+)", text, re.M)}
    body = re.sub(r"^\[[^\]]+\]:.*$", "", text, flags=re.M)
    targets = re.findall(r"\]\(([^)\s]+)\)", body)
    # [text] and [text][] are links by definition where one follows the page; a definition that nothing uses is one too many.
    used = {name.lower() for name in re.findall(r"\[([^\]]+)\](?!\()", body)}
    for name in defined:
        if name not in used:
            yield f"nothing uses the link [{name}]"
    for target in targets + list(defined.values()):
        if re.match(r"\w+://|mailto:", target):
            continue
        if "::" in target:
            yield f"{target} is a path of Rust, which only rustdoc follows"
            continue
        name, _, anchor = target.partition("#")
        place = (path.parent / name).resolve() if name else path
        if not place.exists():
            yield f"{target} is not there"
        elif anchor and place.suffix == ".md" and anchor not in anchors(place):
            yield f"{target}: no such heading"


wrong = [f"{path.relative_to(ROOT)}: {what}" for path in files() for what in check(path)]
print("\n".join(wrong) or f"{len(files())} files: every link leads somewhere")
sys.exit(bool(wrong))
