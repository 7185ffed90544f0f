# SPDX-License-Identifier: Apache-2.0
"""A slow matcher that is meant to be obviously right: what two texts share, by the words of docs/provenance.md. It shares no code or table with the library; Unicode is Python's.

shares(): what must be found: a run of 12 or a token in common in readings of one step on each side. may_share(): what may be found: the same over all readings, and all words.
confirms(): of one match, whether what it names is in the text."""
import base64
import functools
import html
import re
import unicodedata

RUN = 12
QUOTES = {**{c: "'" for c in "\u2018\u2019\u201a\u201b"}, **{c: '"' for c in "\u201c\u201d\u201e\u201f"}, **{c: "-" for c in "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63"}}
HIDDEN = re.compile("[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]")


@functools.lru_cache(maxsize=4096)
def fold(c):
    """What one character becomes: white space as one space."""
    if c in QUOTES:
        return QUOTES[c]
    if c.isspace() or c == "+" or c in "\u0085\u2028\u2029":
        return " "
    if HIDDEN.match(c) or unicodedata.category(c) in ("Cc", "Cf", "Cs") or unicodedata.combining(c):
        return ""
    was = c
    for _ in range(4):
        c = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", c).casefold())
    c = "".join(" " if x == "+" or x.isspace() else x for x in c if not unicodedata.combining(x) and unicodedata.category(x) not in ("Cc", "Cf", "Cs") and not HIDDEN.match(x))
    return c if len(c) != 1 or c != was else was


def characters(data):
    """UTF-8, and a byte that is none as Latin-1."""
    return data.decode("utf-8", "surrogateescape").translate({0xDC00 + b: b for b in range(0x80, 0x100)})


def spaced(text):
    return "".join(map(fold, text))


def normal(text):
    return spaced(text).replace(" ", "")


def text_parts(data):
    """The texts in decoded bytes, from 12 visible characters on; or all of it."""
    try:
        whole = data.decode()
        if all(c >= " " and not "\x7f" <= c < "\xa0" or c in "\t\n\v\f\r\0" for c in whole):
            return [whole]
    except UnicodeDecodeError:
        pass
    out = []
    for part in re.split("[\ud800-\udfff\x01-\x08\x0e-\x1f\x7f-\x9f]", data.decode("utf-8", "surrogateescape")):
        if len(re.sub(r"[\s\0]", "", part)) >= RUN:
            out.append(part)
    return out


def json_like(m):
    s = m.group(0)
    if s[1] in "ux":
        return chr(int(s[2:], 16))
    return "\n" if s[1] in "bfnrt" else s[1]


def unescapes(text):
    """Each kind of escape alone, and all at once."""
    steps = [
        lambda t: "".join(unicodedata.normalize("NFKC", c) if 0xFF01 <= ord(c) <= 0xFF5E or 0x1D400 <= ord(c) <= 0x1D7FF else c for c in HIDDEN.sub("", t)),
        lambda t: re.sub(r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[\"'\\/bfnrt])", json_like, t).encode("utf-16", "surrogatepass").decode("utf-16", "replace"),
        lambda t: re.sub(r"(?:%[0-9a-fA-F]{2})+", lambda m: characters(bytes.fromhex(m.group(0).replace("%", ""))), t),
        lambda t: re.sub(r"&(?:#\d{1,7};?|#[xX][0-9a-fA-F]{1,6};?|[A-Za-z]+;)", lambda m: html.unescape(m.group(0)), t),
    ]
    every = text
    for step in steps:
        every = step(every)
    octets = re.sub(r"(?:\\x[0-9a-fA-F]{2})+", lambda m: characters(bytes.fromhex(m.group(0).replace("\\x", ""))), text)  # as languages write UTF-8
    return {every, octets, *(step(text) for step in steps)}


def blobs(text, every):
    out = []
    joined = re.sub(r"(?<=[A-Za-z0-9+/_-]{16})[ \t]*[\r\n][ \t\r\n]*(?=[A-Za-z0-9+/_-])", "", text)
    for given in {text, joined}:
        runs = re.findall(r"[A-Za-z0-9+/_-]{4,}", given)
        if every:
            runs += re.findall(r"[A-Za-z0-9]{4,}", given)
        for run in runs:
            run = run.translate({ord("-"): "+", ord("_"): "/"})
            for at in range(4 if every else 1):
                part = run[at:]
                part = part[:len(part) - 1] if len(part) % 4 == 1 else part
                out += text_parts(base64.b64decode(part + "=" * (-len(part) % 4)))
        for run in re.findall(r"[0-9a-fA-F]{6,}", given):
            for at in range(2 if every else 1):
                part = run[at:]
                out += text_parts(bytes.fromhex(part[:len(part) // 2 * 2]))
    return out


def readings(text, levels, every, most=400):
    seen, todo = {text}, [text]
    for _ in range(levels):
        new = []
        for t in todo:
            for r in [*unescapes(t), *blobs(t, every)]:
                if r not in seen and len(seen) < most:
                    seen.add(r)
                    new.append(r)
        todo = new
    return seen


def runs(texts):
    out = set()
    for t in texts:
        n = normal(t)
        out.update(n[i:i + RUN] for i in range(len(n) - RUN + 1))
    return out


WORD = re.compile(r"[^\W_]+")


def words(texts):
    return {w for t in texts for w in WORD.findall(spaced(t))}


def numbered(texts):
    return {w for w in words(texts) if len(w) >= 3 and re.search("[0-9]", w)}


def shares(a, b):
    """Surely shared: in what both say, or one says in one step."""
    return bool(runs([a]) & runs([b]) or numbered([a]) & numbered([b]))


def may_share(a, b):
    ra, rb = readings(a, 4, True), readings(b, 4, True)
    return bool(runs(ra) & runs(rb) or {w for w in words(ra) & words(rb) if len(w) >= 3} or compounds(ra, rb))


def compounds(ra, rb):
    """Words joined to a token."""
    tokens = {t for r in rb for t in re.findall(r"[^\W_]+(?:[._@-][^\W_]+)+", spaced(r)) if len(t) >= 3}
    return any(t in normal(r) for t in tokens for r in ra)


@functools.lru_cache(maxsize=4096)
def kept(data):
    return normal(characters(data)), spaced(characters(data))


def whole(word, text):
    """As it stands, else with white space in it."""
    ends = (r"(?<![^\W_])", r"(?![^\W_])")
    return any(re.search(ends[0] + between.join(map(re.escape, word)) + ends[1], text) for between in ("", r"\s*"))


BASE64 = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")
NO_TEXT = re.compile("[\ud800-\udfff\x01-\x08\x0e-\x1f\x7f-\x9f]")


def run_around(query, at, n):
    """The characters of base64 around bytes [at, at + n), over line ends: their places in the query."""
    places, i = [], at
    while i > 0 and query[i - 1] in BASE64 | frozenset(b" \t\r\n"):
        i -= 1
    for k in range(i, len(query)):
        if query[k] in BASE64:
            places.append(k)
        elif query[k] not in b" \t\r\n":
            break
    return places


def inside(query, at, n):
    """The tokens that the named characters of base64 stand for, whatever is before them: whole words in a text of 12 or more visible characters, or in what is text from end to end. Where a
    character has several bytes, and at a line end, what a token is read from cannot be told from the characters beside it alone."""
    places = run_around(query, at, n)
    return inside_of(query, places, at, n) | inside_of(query, part_around(query, places, at), at, n)


def part_around(query, places, at):
    """Of the characters of a run those between the marks that also stand in paths and names."""
    if at not in places:
        return []
    k = places.index(at)
    first = max((i + 1 for i in range(k) if query[places[i]] in b"+/-_"), default=0)
    return places[first:next((i for i in range(k, len(places)) if query[places[i]] in b"+/-_"), len(places))]


def inside_of(query, places, at, n):
    out = set()
    run = bytes(query[k] for k in places).replace(b"-", b"+").replace(b"_", b"/").decode()
    for first in range(4):
        part = run[first:]
        part = part[:len(part) - 1] if len(part) % 4 == 1 else part
        data = base64.b64decode(part + "=" * (-len(part) % 4))
        text = data.decode("utf-8", "surrogateescape")
        ends = [0]
        for c in text:  # the byte where each character begins
            ends.append(ends[-1] + len(c.encode("utf-8", "surrogateescape")))
        parts = [0, *(x for m in NO_TEXT.finditer(text) for x in (m.start(), m.end())), len(text)]
        for begin, end in zip(parts[::2], parts[1::2]):
            piece = text[begin:end]
            if len(re.sub(r"[\s\0]", "", piece)) < RUN and piece != text:
                continue
            for i, j in stands(piece):
                low, high = ends[begin + i], ends[begin + j]  # its bytes
                if places[first + low * 8 // 6] == at and places[first + (high * 8 - 1) // 6] == at + n - 1:
                    out.add(normal(piece[i:j]))
    return out


def stands(piece):
    """Where the words of a text, and words joined, begin and end, when invisible characters in and beside them are taken for nothing."""
    shown = [(i, folded) for i, c in enumerate(piece) for folded in fold(c)]
    text = "".join(folded for _, folded in shown)
    for chain in CHAIN.finditer(text):
        words = [(chain.start() + m.start(), chain.start() + m.end()) for m in WORD.finditer(chain.group(0))]
        for k, (start, _) in enumerate(words):
            for _, end in words[k:]:
                yield shown[start][0], shown[end - 1][0] + 1


def confirms(text, query, at, n, token):
    """Whether the named part of the query is in the text; where it is encoded on either side, whether their readings share it."""
    part = characters(query[at:at + n])
    plain, with_gaps = kept(text)
    want = normal(part)
    if len(want) >= RUN and not token and want in plain:
        return True
    if token and whole(want, with_gaps):
        return True
    for levels in (1, 4):  # of the text most is found in one step
        if not token:
            if runs(readings(part, 4, True)) & all_runs(text, levels):
                return True
            continue
        # in base64 a token may begin and end within a character, and those before it say how it is read: up to three more on either side
        asked = {r for before in range(min(at, 3) + 1) for behind in range(4) for r in readings(characters(query[at - before:at + n + behind]), 4, True)}
        asked = {t for r in asked for t in {normal(r), *joined(spaced(r))} if len(t) >= 3}
        asked |= {t for t in inside(query, at, n) if len(t) >= 3}
        if any(whole(t, all_spaced(text, levels)) for t in asked):
            return True
    return False


CHAIN = re.compile(r"[^\W_]+(?:[._@-][^\W_]+)*")


def joined(text, most=10**9):
    """All words of a text, and words that stand side by side with one of `. - _ @` between."""
    out = set()
    for chain in CHAIN.findall(text):
        parts = re.split("([._@-])", chain)
        for first in range(0, len(parts), 2):
            token = ""
            for end in range(first, len(parts), 2):
                token += (parts[end - 1] if end > first else "") + parts[end]
                if len(token) > most:
                    break
                out.add(token)
    return out


@functools.lru_cache(maxsize=1 << 20)
def wanted(part):
    return normal(characters(part))


def encoded(text, hits):
    """Of many hits (query, at, n, token) in one text those that do not stand in it as they are asked for: the others are found in one pass."""
    plain, with_gaps = kept(text)
    wants = {hit: wanted(hit[0][hit[1]:hit[1] + hit[2]]) for hit in hits}
    begins = {}
    for want in {want for hit, want in wants.items() if len(want) >= RUN and not hit[3]}:
        begins.setdefault(want[:RUN], set()).add(want)
    found = set()
    for i in range(len(plain) - RUN + 1):
        if here := begins.get(plain[i:i + RUN]):
            there = {want for want in here if plain.startswith(want, i)}
            here -= there
            found |= there
    tokens = joined(with_gaps, RUN) if any(hit[3] for hit in hits) else ()
    return [hit for hit, want in wants.items() if want not in (tokens if hit[3] else found)]


@functools.lru_cache(maxsize=16)
def all_readings(data, levels):
    return readings(characters(data), levels, True, 10**6)


@functools.lru_cache(maxsize=16)
def all_spaced(data, levels):
    return "|".join(map(spaced, all_readings(data, levels)))


@functools.lru_cache(maxsize=16)
def all_runs(data, levels):
    return runs(all_readings(data, levels))
