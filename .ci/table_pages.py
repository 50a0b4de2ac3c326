"""Prints those lines of a corpus that ask for a table page, /{database}/{table}, in the suites fixtures and weird."""
import re
import sys

suite = None
for line in open(sys.argv[1], encoding="utf-8"):
    line = line.rstrip("\n")
    if line.startswith("@suite "):
        suite = line.split()[1]
        if suite in ("fixtures", "weird"):
            print(line)
        continue
    path = re.match(r"(?:!loose )?(?:GET|HEAD) (/[^\s?]*)", line)
    if suite not in ("fixtures", "weird") or not path:
        continue
    parts = path.group(1).split("/")
    # "/-/…" are pages about the server, "/db/-/…" queries; pragma_cache_size is a stored query.
    if len(parts) == 3 and parts[1] != "-" and parts[2] and not parts[2].startswith("-") and parts[2] != "pragma_cache_size.json":
        print(line)
