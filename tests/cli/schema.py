# SPDX-License-Identifier: Apache-2.0
"""The part of JSON Schema (2020-12) that docs/schemas/ uses; an unknown keyword is an error, so nothing is skipped in silence."""
import json
import pathlib

SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "docs/schemas"
NOTES = {"$schema", "$id", "title", "description", "$defs", "$comment", "examples"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


class Mismatch(ValueError):
    pass


def is_type(value, name):
    if name in ("integer", "number"):
        return not isinstance(value, bool) and isinstance(value, int if name == "integer" else (int, float))
    return isinstance(value, TYPES[name])


def same(a, b):
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def matches(value, schema, root):
    try:
        check(value, schema, root)
        return True
    except Mismatch:
        return False


def check(value, schema, root, where="$"):
    """Raises Mismatch at the first place that does not fit."""
    def need(good, why):
        if not good:
            raise Mismatch(f"{where}: {why}: {json.dumps(value)[:200]}")

    if schema is True:
        return
    need(schema is not False, "not allowed")
    for word, rule in schema.items():
        if word in NOTES or word in ("then", "else"):
            continue
        if word == "$ref":
            target = root
            for part in rule.removeprefix("#/").split("/"):
                target = target[part]
            check(value, target, root, where)
        elif word == "type":
            need(any(is_type(value, t) for t in ([rule] if isinstance(rule, str) else rule)), f"not {rule}")
        elif word == "enum":
            need(any(same(value, r) for r in rule), f"none of {rule}")
        elif word == "const":
            need(same(value, rule), f"not {rule}")
        elif word == "required":
            need(not isinstance(value, dict) or all(r in value for r in rule), f"lacks one of {rule}")
        elif word == "properties":
            for key, inner in rule.items():
                if isinstance(value, dict) and key in value:
                    check(value[key], inner, root, f"{where}.{key}")
        elif word == "additionalProperties":
            for key in value if isinstance(value, dict) else ():
                if key not in schema.get("properties", {}):
                    check(value[key], rule, root, f"{where}.{key}")
        elif word == "items":
            for i, item in enumerate(value if isinstance(value, list) else ()):
                check(item, rule, root, f"{where}[{i}]")
        elif word == "uniqueItems":
            need(not rule or not isinstance(value, list) or len({json.dumps(v) for v in value}) == len(value), "not unique")
        elif word in ("minimum", "maximum"):
            if is_type(value, "number"):
                need(value >= rule if word == "minimum" else value <= rule, f"{word} {rule}")
        elif word in ("minLength", "maxLength"):
            if isinstance(value, str):
                need(len(value) >= rule if word == "minLength" else len(value) <= rule, f"{word} {rule}")
        elif word in ("minItems", "maxItems"):
            if isinstance(value, list):
                need(len(value) >= rule if word == "minItems" else len(value) <= rule, f"{word} {rule}")
        elif word in ("minProperties", "maxProperties"):
            if isinstance(value, dict):
                need(len(value) >= rule if word == "minProperties" else len(value) <= rule, f"{word} {rule}")
        elif word == "propertyNames":
            for key in value if isinstance(value, dict) else ():
                check(key, rule, root, f"{where}.{key}")
        elif word == "pattern":
            import re
            need(not isinstance(value, str) or re.search(rule, value), f"not {rule}")
        elif word == "oneOf":
            need(sum(matches(value, r, root) for r in rule) == 1, "not exactly one of the forms")
        elif word == "anyOf":
            need(any(matches(value, r, root) for r in rule), "none of the forms")
        elif word == "allOf":
            for r in rule:
                check(value, r, root, where)
        elif word == "not":
            need(not matches(value, rule, root), "a form that is excluded")
        elif word == "if":
            branch = "then" if matches(value, rule, root) else "else"
            if branch in schema:
                check(value, schema[branch], root, where)
        else:
            raise ValueError(f"keyword {word} is not known here")


def load(name):
    return json.loads((SCHEMAS / name).read_text())


def against(name, value):
    root = load(name)
    check(value, root, root)
