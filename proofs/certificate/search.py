# SPDX-License-Identifier: Apache-2.0
"""What the validator leaves out because it searches for nothing: every row is reached, the depth is the certificate's, a gated region is entered,
and without its gates it is not. Reads the table by docs/formats.md and shares no code with the program."""
import fnmatch
import json
import struct


def reached(initial, edges):
    """Steps to each row that is reached."""
    depth, front = {initial: 0}, [initial]
    while front:
        later = []
        for row in front:
            for _, post in edges[row]:
                if post not in depth:
                    depth[post] = depth[row] + 1
                    later.append(post)
        front = later
    return depth


def gates(document, region):
    """Patterns of the gates that a region names; one of a family has its member in the place of the index."""
    if region in document["regions"]:
        by, index, member = document["regions"][region]["by"], "", ""
    else:
        base, member = region[:-1].split("[")
        key = next(k for k in document["regions"] if k.startswith(base + "["))
        by, index = document["regions"][key]["by"], key[len(base):]
    return [g.replace(index or "\0", "[%s]" % member).replace("[", "[[]") for g in by]


def search(table, certificate, document):
    """A line, and what is wrong ("" when nothing is)."""
    n, symbols, initial, regions, length = struct.unpack_from("<5I", table, 12)
    described = json.loads(table[40:40 + length])
    first = cells = 40 + (length + 7) // 8 * 8
    cells += 8 * n
    bitmaps = []
    for region in described["regions"]:
        size = ((n * symbols if region["edge"] else n) + 63) // 64 * 8
        bitmaps.append(int.from_bytes(table[cells:cells + size], "little"))
        cells += size
    names = []
    for action in described["actions"]:
        count = 1
        for field in action["fields"]:
            count *= len(field["values"])
        names += [action["name"]] * count
    flat = struct.unpack_from("<%dI" % (n * symbols), table, cells)
    edges = [[(s, c & 0x3FFFFF) for s, c in enumerate(flat[i * symbols:(i + 1) * symbols]) if c >> 22 & 3 == 1] for i in range(n)]
    depth = reached(initial, edges)
    deepest = max(depth.values())
    wrong = []
    if len(depth) != n or deepest != struct.unpack_from("<I", certificate, 64)[0]:
        wrong.append("%d of %d rows are reached, the deepest after %d steps" % (len(depth), n, deepest))
    gated = 0
    for region, bits in zip(described["regions"], bitmaps):
        if not region["gated"]:
            continue
        gated += 1
        by = gates(document, region["name"])
        without = [[(s, post) for s, post in row if not any(fnmatch.fnmatchcase(names[s], g) for g in by)] for row in edges]
        left = reached(initial, without)
        if region["edge"]:
            inside = lambda rows, steps: any(bits >> (i * symbols + s) & 1 for i in rows for s, _ in steps[i])
            if not inside(depth, edges) or inside(left, without):
                wrong.append(region["name"])
        elif not any(bits >> i & 1 for i in depth) or any(bits >> i & 1 for i in left):
            wrong.append(region["name"])
    assert first  # the states themselves are the validator's
    return "%d rows reached, depth %d, %d gated regions only through their gates" % (len(depth), deepest, gated), ", ".join(wrong)
