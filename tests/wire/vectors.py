#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What may come over a stdio pipe, and what has to become of it: the table that run.py sends through the gateway.

`vectors.py` prints the table as JSON (bytes in hex) for other languages. A row is {name, face, bytes, expect, …}; bytes are one line
without its LF.

face client: the bytes come from the client.
  refuse   one answer with `code`, under `id` (null: the id cannot be read without doubt); nothing reaches the server
  silent   no answer, nothing reaches the server
  pass     the server gets exactly `line` ($UID is our id for it) and the client an answer under the id text `id`
  ours     answered here with a result under `id`; nothing reaches the server
  js: what a server on JavaScript's JSON.parse does with the same bytes when nobody stands before it: `runs` it, or not (False)

face server: the bytes come from the server while it has a call ($ID) in flight. $MARK is a text that must never reach the client unless the row
says `pass`.
  fail     the call is answered by a refusal of ours; the server goes on
  drop     nothing happens; the call may still be answered
  tell     dropped, and the server is told so: an error with `code` under `id`
  close    the server is closed, and its calls are failed
  pass     the client gets `line` ($ASKED is the client's own id)

Not here, since stdio has none of it: Origin and Host, Mcp-Method/Mcp-Name and Mcp-Param-* headers (x-mcp-header), MCP-Protocol-Version, unknown
session ids and session hijack, HTTP framing (Content-Length, chunks, obs-fold, Content-Encoding, Content-Type), SSE fields and event ids. Nor, since
the revision 2026-07-28 is not spoken: requestState, inputResponses, listen streams."""
import json

PARSE, INVALID, NO_METHOD, PARAMS = -32700, -32600, -32601, -32602


def call(args, id_='"x"', name='"echo"', more="", more_params=""):
    return f'{{"jsonrpc":"2.0","id":{id_},"method":"tools/call","params":{{"name":{name},"arguments":{args}{more_params}}}{more}}}'.encode()


def with_(args_bytes):
    return call('{"message":"$$"}').replace(b"$$", args_bytes)


def line(args):
    return '{"jsonrpc":"2.0","id":$UID,"method":"tools/call","params":{"name":"echo","arguments":%s}}' % args


def refuse(name, data, code, id_=None, js=None):
    ROWS.append({"name": name, "face": "client", "bytes": data, "expect": "refuse", "code": code, "id": id_, "js": js})


def silent(name, data):
    ROWS.append({"name": name, "face": "client", "bytes": data, "expect": "silent"})


def passes(name, data, canonical, id_='"x"', js=None):
    ROWS.append({"name": name, "face": "client", "bytes": data, "expect": "pass", "line": canonical, "id": id_, "js": js})


def ours(name, data, id_):
    ROWS.append({"name": name, "face": "client", "bytes": data, "expect": "ours", "id": id_})


def server(name, data, expect, **more):
    ROWS.append({"name": name, "face": "server", "bytes": data, "expect": expect, **more})


ROWS = []
PING = '{"jsonrpc":"2.0","id":%s,"method":"ping"}'

# --- duplicate keys: JavaScript and Python take the last, Go's old readers the first --------------
refuse("duplicate method", b'{"jsonrpc":"2.0","id":"x","method":"ping","method":"tools/call","params":{"name":"echo","arguments":{"message":"m"}}}', PARSE, "x", js="runs")
refuse("duplicate id", b'{"jsonrpc":"2.0","id":"x","id":"y","method":"ping"}', PARSE, js="runs")
refuse("duplicate tool name", call('{"message":"m"}', more_params=',"name":"echo"'), PARSE, "x", js="runs")
refuse("duplicate key in the arguments", call('{"message":"GOOD","message":"EVIL"}'), PARSE, "x", js="runs")
refuse("duplicate key by an escape", call('{"message":"GOOD","m\\u0065ssage":"ESC"}'), PARSE, "x", js="runs")
refuse("duplicate key by an escape of the quote's neighbour", call('{"message":"a","\\u006dessage":"b"}'), PARSE, "x", js="runs")
refuse("duplicate key deep down", call('{"message":"m","d":[[{"a":{"k":1,"l":2,"k":3}}]]}'), PARSE, "x", js="runs")
refuse("duplicate member of the envelope by an escape", b'{"jsonrpc":"2.0","id":"x","method":"ping","m\\u0065thod":"tools/list"}', PARSE, None, js="runs")
refuse("duplicate empty key", call('{"message":"m","":1,"":2}'), PARSE, "x")

# --- text that is not UTF-8 ------------------------------------------------------------------------
refuse("a byte that is never UTF-8", with_(b"\xff"), PARSE, "x", js="runs")
refuse("overlong NUL", with_(b"\xc0\x80"), PARSE, "x", js="runs")
refuse("overlong slash", with_(b"\xe0\x80\xaf"), PARSE, "x", js="runs")
refuse("overlong of four", with_(b"\xf0\x82\x82\xac"), PARSE, "x")
refuse("a surrogate in UTF-8", with_(b"\xed\xa0\x80"), PARSE, "x", js="runs")
refuse("a pair of surrogates in UTF-8", with_(b"\xed\xa0\xbd\xed\xb8\x80"), PARSE, "x")
refuse("above U+10FFFF", with_(b"\xf4\x90\x80\x80"), PARSE, "x")
refuse("a sequence that is cut off", with_(b"\xe2\x82"), PARSE, "x")
refuse("invalid UTF-8 in a key", call('{"message":"m","$$":1}').replace(b"$$", b"\xfe"), PARSE, "x")
refuse("invalid UTF-8 in the method", b'{"jsonrpc":"2.0","id":"x","method":"pi\x80ng"}', PARSE, "x")
refuse("UTF-16", call('{"message":"m"}').decode().encode("utf-16-le"), PARSE)
refuse("a lone high surrogate", call('{"message":"\\ud800"}'), PARSE, "x", js="runs")
refuse("a lone low surrogate", call('{"message":"\\udc00"}'), PARSE, "x")
refuse("surrogates in the wrong order", call('{"message":"\\udc00\\ud800"}'), PARSE, "x")
refuse("a lone surrogate in a key", call('{"message":"m","\\ud83d":1}'), PARSE, "x")
refuse("a lone surrogate in the id", PING.replace("%s", '"\\ud800"').encode(), PARSE)
refuse("a byte order mark", b"\xef\xbb\xbf" + call('{"message":"m"}'), PARSE, "x", js=False)
passes("a real pair of surrogates", call('{"message":"\\ud83c\\udf45"}'), line('{"message":"\U0001f345"}'))

# --- ids -------------------------------------------------------------------------------------------
for text in ("8.0", "8e0", "1e1", "-0", "0.5", "9007199254740992", "9007199254740993", "-9007199254740992", "18446744073709551616", "null", "true",
             "{}", "[1]", '"%s"' % ("k" * 257)):
    js = "runs" if text in ("8.0", "8e0", "1e1") else False if text in ("null", "9007199254740993") else None
    refuse(f"the id {text[:24]}", call('{"message":"m"}', id_=text), INVALID, js=js)
for text in ("012", "+1", ".5", "1.", "0x10", "Infinity", "1e999"):
    refuse(f"the id {text}", PING.replace("%s", text).encode(), PARSE)
for text in ("0", "-7", "9007199254740991", '""', '"1"', '"8.0"', '"%s"' % ("k" * 256), '" x "', '"__proto__"'):
    passes(f"the id {text[:24]}", call('{"message":"m"}', id_=text), line('{"message":"m"}'), id_=text)
passes("an id with an escape", call('{"message":"m"}', id_='"\\u0041\\n"'), line('{"message":"m"}'), id_='"A\\n"')

# --- the envelope ----------------------------------------------------------------------------------
refuse("an unknown member at the top", call('{"message":"m"}', more=',"extra":1'), INVALID, "x", js=False)
refuse("`jsonrpc` in other letters beside it", call('{"message":"m"}', more=',"JSONRPC":"2.0"'), INVALID, "x")
refuse("a request that is an answer too", call('{"message":"m"}', more=',"result":{}'), INVALID, "x", js=False)
refuse("a request that is an error too", call('{"message":"m"}', more=',"error":{"code":1,"message":"m"}'), INVALID, "x")
refuse("version 1.0", b'{"jsonrpc":"1.0","id":"x","method":"ping"}', INVALID, "x")
refuse("version as a number", b'{"jsonrpc":2.0,"id":"x","method":"ping"}', INVALID, "x")
refuse("no version", b'{"id":"x","method":"ping"}', INVALID, "x")
refuse("a method that is no string", b'{"jsonrpc":"2.0","id":"x","method":["ping"]}', INVALID, "x")
refuse("params that are a list", b'{"jsonrpc":"2.0","id":"x","method":"tools/call","params":["echo"]}', INVALID, "x")
refuse("params null", b'{"jsonrpc":"2.0","id":"x","method":"ping","params":null}', INVALID, "x")
# without a method nobody waits, and the id may be one of ours: a refusal under it could meet another request
refuse("an id and nothing else", b'{"jsonrpc":"2.0","id":"x"}', INVALID)
refuse("a message that breaks off before its method", b'{"jsonrpc":"2.0","id":"x","meth', PARSE)
refuse("an empty object", b"{}", INVALID)
for text in ("null", "7", '"ping"', "true"):
    refuse(f"the bare value {text}", text.encode(), INVALID)
silent("an answer that nobody asked for", b'{"jsonrpc":"2.0","id":1,"result":{"content":[]}}')
silent("an answer under an id of the client's own kind", b'{"jsonrpc":"2.0","id":"x","result":{}}')
silent("an error that nobody asked for", b'{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"m"}}')
silent("an answer with result and error", b'{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}}')
silent("an error that is a string", b'{"jsonrpc":"2.0","id":1,"error":"m"}')
silent("an answer with a member too many", b'{"jsonrpc":"2.0","id":1,"result":{},"extra":1}')
for text in ('{"a":1,"a":2}', '{"a":"\\ud800"}', '{"a":1e400}', '{"a":%s}' % ("[" * 100), '{"a":'):
    silent(f"an answer that cannot be read: {text[:16]}", ('{"jsonrpc":"2.0","id":1,"result":%s' % text).encode())
silent("an error that cannot be read", b'{"jsonrpc":"2.0","id":"x","error":{"code":1,"code":1}}')
silent("an answer without an id", b'{"jsonrpc":"2.0","result":{}}')
silent("an unknown notification", b'{"jsonrpc":"2.0","method":"notifications/secret","params":{"text":"m"}}')
silent("a call as a notification", b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo","arguments":{"message":"m"}}}')
silent("a progress of the client", b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}')
silent("an empty line", b"")
silent("a line of white space", b" \t ")
ours("a ping", b'{"jsonrpc":"2.0","id":"x","method":"ping"}', '"x"')

# --- batches ---------------------------------------------------------------------------------------
refuse("an empty batch", b"[]", INVALID, js=False)
refuse("a batch of one", b"[" + call('{"message":"m"}') + b"]", INVALID, js=False)
refuse("a batch of many", b"[" + b",".join([call('{"message":"m"}')] * 40) + b"]", INVALID, js=False)
refuse("a batch of notifications", b'[{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}]', INVALID)
refuse("two messages on one line", PING.replace("%s", '"x"').encode() + PING.replace("%s", '"y"').encode(), PARSE, "x")

# --- lines, white space, control characters --------------------------------------------------------
passes("CR LF", call('{"message":"m"}') + b"\r", line('{"message":"m"}'), js="runs")
passes("white space", b' \t{ "jsonrpc" : "2.0" ,"id":"x","method":"tools/call" , "params":{"name":"echo","arguments":{ "message" :\t"m" } } } ', line('{"message":"m"}'))
refuse("a bare CR between members", call('{\r"message":"m"}'), PARSE, "x", js="runs")
refuse("two CRs at the end", call('{"message":"m"}') + b"\r\r", PARSE, "x")
refuse("a CR in a string", with_(b"a\rb"), PARSE, "x")
refuse("a form feed between members", call('{\f"message":"m"}'), PARSE, "x")
refuse("a NUL in a string", with_(b"a\0b"), PARSE, "x")
refuse("a NUL behind the message", call('{"message":"m"}') + b"\0", PARSE, "x")
refuse("a NUL before the message", b"\0" + call('{"message":"m"}'), PARSE, "x")
refuse("an escape character in a string", with_(b"\x1b[31m"), PARSE, "x")
refuse("a tab in a string", with_(b"a\tb"), PARSE, "x")
refuse("a no-break space between members", call('{\u00a0"message":"m"}'), PARSE, "x")
passes("control characters, escaped", call('{"message":"\\u0000\\u001b\\u007f\\r\\n\\u0085"}'), line('{"message":"\\u0000\\u001b\\u007f\\r\\n\u0085"}'))
passes("U+2028 and U+2029 go out escaped", call('{"message":"\u2028\u2029"}'), line('{"message":"\\u2028\\u2029"}'))
passes("escapes that are not needed go", call('{"\\u006dessage":"\\u0041\\/\\u00e9"}'), line('{"message":"A/\u00e9"}'))

# --- numbers: the text is kept, what is no finite number is refused --------------------------------
for text in ("NaN", "Infinity", "-Infinity", "012", "+1", ".5", "1.", "0x10", "1_000", "1e", "--1", "1e400", "-1e400", "1" + "0" * 400, "9" * 309 + ".0"):
    refuse(f"the number {text[:24]}", call('{"message":"m","n":%s}' % text), PARSE, "x", js="runs" if text == "1e400" else None)
for text in ("-0", "-0.0", "1.0", "1e2", "1E+2", "9007199254740993", "12345678901234567890", "0." + "1" * 40, "1e-400", "1e308"):
    passes(f"the number {text[:24]}", call('{"message":"m","n":%s}' % text), line('{"message":"m","n":%s}' % text))

# --- what is no JSON -------------------------------------------------------------------------------
for name, text in (("a trailing comma", '{"message":"m",}'), ("a comment", '{"message":"m"/**/}'), ("single quotes", "{'message':'m'}"), ("a bare key", '{message:"m"}'),
                   ("an unknown escape", '{"message":"\\x41"}'), ("a short escape", '{"message":"\\u12"}'), ("True", '{"message":"m","t":True}'), ("undefined", '{"message":undefined}')):
    refuse(name, call(text), PARSE, "x")
refuse("text behind the message", call('{"message":"m"}') + b" x", PARSE, "x")
refuse("a message that is cut off", call('{"message":"m"}')[:-2], PARSE, "x")
refuse("text before the message", b"x " + call('{"message":"m"}'), PARSE, "x")
refuse("plain text", b"hello", PARSE)

# --- sizes -----------------------------------------------------------------------------------------
# 3 levels are the envelope, its params and the arguments
refuse("nesting of 65", call('{"message":"m","d":%s}' % ("[" * 62 + "]" * 62)), INVALID, "x")
refuse("nesting of 20,000", call('{"message":"m","d":%s}' % ("[" * 20000 + "]" * 20000)), INVALID, "x", js="runs")
refuse("nesting of 20,000, never closed", call('{"message":"m","d":%s}' % ("[" * 20000)), INVALID, "x")
passes("nesting of 64", call('{"message":"m","d":%s}' % ("[" * 61 + "]" * 61)), line('{"message":"m","d":%s}' % ("[" * 61 + "]" * 61)))
refuse("201,000 nodes", call('{"message":"m","d":[%s0]}' % ("0," * 201000)), INVALID, "x", js="runs")
refuse("a key of 1,025 bytes", call('{"message":"m","%s":1}' % ("k" * 1025)), INVALID, "x", js="runs")
refuse("a key of 1,026 bytes in characters of two", call('{"message":"m","%s":1}' % ("\u00e9" * 513)), INVALID, "x")
passes("a key of 1,024 bytes", call('{"message":"m","%s":1}' % ("k" * 1024)), line('{"message":"m","%s":1}' % ("k" * 1024)))
LONG = call('{"message":"m","d":"%s"}')
refuse("4 MiB and a byte", LONG.replace(b"%s", b"x" * ((4 << 20) + 1 - len(LONG) + 2)), INVALID, js="runs")
refuse("20 MiB", LONG.replace(b"%s", b"x" * (20 << 20)), INVALID)
passes("4 MiB", LONG.replace(b"%s", b"x" * ((4 << 20) - len(LONG) + 2)), line('{"message":"m","d":"%s"}' % ("x" * ((4 << 20) - len(LONG) + 2))))

# --- methods and parameters ------------------------------------------------------------------------
for method in ("tools/destroy", "Tools/call", "tools/call ", "", "tasks/list", "tasks/cancel", "sampling/createMessage", "elicitation/create", "roots/list", "server/discover",
               "subscriptions/listen", "notifications/initialized", "rpc.discover", "__proto__", "constructor"):
    refuse(f"the method `{method}`", json.dumps({"jsonrpc": "2.0", "id": "x", "method": method, "params": {}}).encode(), NO_METHOD, "x")
for name in ("echo ", " echo", "echo\n", "echo\u200b", "e\u0301cho", "\uff45cho", "\u0435cho", "", "a/b", "e" * 129, "echo\x00"):
    refuse(f"the tool name {json.dumps(name)[:32]}", call('{"message":"m"}', name=json.dumps(name)), PARAMS, "x")
refuse("a call without a name", b'{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"arguments":{}}}', PARAMS, "x")
refuse("a call without parameters", b'{"jsonrpc":"2.0","id":"x","method":"tools/call"}', PARAMS, "x")
refuse("a name that is a list", call("{}", name='["echo"]'), PARAMS, "x")
refuse("arguments that are a list", call("[]"), PARAMS, "x")
refuse("arguments null", call("null"), PARAMS, "x")
refuse("a second set of arguments", call('{"message":"m"}', more_params=',"args":{"message":"e"}'), PARAMS, "x")
refuse("a call as a task", call('{"message":"m"}', more_params=',"task":{"ttl":1}'), PARAMS, "x")
refuse("answers to a question that nobody put", call('{"message":"m"}', more_params=',"inputResponses":{}'), PARAMS, "x")
refuse("a state that nobody gave", call('{"message":"m"}', more_params=',"requestState":"s"'), PARAMS, "x")
refuse("`_meta` that is a list", call('{"message":"m"}', more_params=',"_meta":[]'), PARAMS, "x")
refuse("a progress token 1.0", call('{"message":"m"}', more_params=',"_meta":{"progressToken":1.0}'), PARAMS, "x")
refuse("a progress token null", call('{"message":"m"}', more_params=',"_meta":{"progressToken":null}'), PARAMS, "x")
passes("foreign `_meta` stays here", call('{"message":"m"}', more_params=',"_meta":{"baggage":"k=v","traceparent":"00-1-2-01"}'), line('{"message":"m"}'))
for method, params in (("resources/read", {}), ("resources/read", {"uri": 7}), ("resources/read", {"uri": ["note://1"]}), ("resources/read", {"uri": "note://1", "note": "m"}),
                       ("resources/subscribe", {"uri": None}), ("resources/subscribe", {"uri": "note://1", "x": 1}), ("resources/unsubscribe", {"uri": {}}),
                       ("prompts/get", {}), ("prompts/get", {"name": 7}), ("prompts/get", {"name": "greet", "note": "m"}), ("prompts/get", {"name": "greet", "arguments": []}),
                       ("prompts/get", {"name": "greet", "arguments": {"a": 1}}), ("prompts/get", {"name": "greet "}), ("prompts/get", {"name": "gr\u0435et"}),
                       ("completion/complete", {"ref": {"type": "ref/prompt", "name": "greet"}}), ("completion/complete", {"ref": 1, "argument": {"name": "a", "value": "b"}}),
                       ("completion/complete", {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "a", "value": "b"}, "note": "m"}),
                       ("completion/complete", {"ref": {"type": "ref/prompt", "name": "gre et"}, "argument": {"name": "a", "value": "b"}}),
                       ("tools/list", {"cursor": "m"}), ("tools/list", {"cursor": ""}), ("tools/list", {"cursor": 1}), ("prompts/list", {"note": "m"}), ("resources/list", {"cursor": None}),
                       ("logging/setLevel", {"level": "loud"}), ("logging/setLevel", {"level": "info", "note": "m"}), ("logging/setLevel", {})):
    refuse(f"{method} {json.dumps(params)[:64]}", json.dumps({"jsonrpc": "2.0", "id": "x", "method": method, "params": params}).encode(), PARAMS, "x")
refuse("a second initialize", b'{"jsonrpc":"2.0","id":"x","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"sampling":{}},"clientInfo":{"name":"t","version":"1"}}}', INVALID, "x")

# --- keys that are more than keys in JavaScript ----------------------------------------------------
for text in ('{"message":"m","__proto__":{"admin":true}}', '{"message":"m","constructor":{"prototype":{"admin":true}}}',
             '{"message":"m","a":{"b":[[{"\\u005f_proto__":1}]]}}'):
    refuse(f"the arguments {text}", call(text), PARAMS, "x", js="runs")
refuse("`__proto__` beside the name", call('{"message":"m"}', more_params=',"__proto__":{}'), PARAMS, "x", js="runs")
refuse("`__proto__` in the arguments of a prompt", b'{"jsonrpc":"2.0","id":"x","method":"prompts/get","params":{"name":"greet","arguments":{"__proto__":"m"}}}', PARAMS, "x")
passes("a constructor and a prototype that are words", call('{"message":"m","a":[{"prototype":1}],"constructor":{"name":"Ferrari"}}'), line('{"message":"m","a":[{"prototype":1}],"constructor":{"name":"Ferrari"}}'))
passes("words that only look like it", call('{"message":"__proto__","__proto":1,"Constructor":2,"prototypes":3}'), line('{"message":"__proto__","__proto":1,"Constructor":2,"prototypes":3}'))
refuse("`__proto__` at the top", call('{"message":"m"}', more=',"__proto__":{}'), INVALID, "x")

# ==================================================================================================
OK = '{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"%s"}]}}'
TEXT = OK % "$MARK"


def answer(text):
    return (OK % text).encode()


# answers that cannot be read but name their call: it fails alone
for name, data in (("duplicate key", b'{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"content":[{"type":"text","text":"$MARK"}]}}'),
                   ("duplicate key by an escape", b'{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"c\\u006fntent":[{"type":"text","text":"$MARK"}]}}'),
                   ("invalid UTF-8", answer("$MARK\xff").replace("\xff".encode(), b"\xff")),
                   ("overlong", answer("$MARK#").replace(b"#", b"\xc0\x80")),
                   ("a surrogate in UTF-8", answer("$MARK#").replace(b"#", b"\xed\xa0\x80")),
                   ("a lone surrogate", answer("$MARK\\ud800")),
                   ("a control character", answer("$MARK#").replace(b"#", b"\x1b")),
                   ("a NUL in a string", answer("$MARK#").replace(b"#", b"\0")),
                   ("a bare CR between members", TEXT.replace('"result":', '\r"result":').encode()),
                   ("1e400", b'{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"structuredContent":{"$MARK":1e400}}}'),
                   ("NaN", b'{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"structuredContent":{"$MARK":NaN}}}'),
                   ("nesting of 20,000", ('{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"$MARK":' + "[" * 20000 + "]" * 20000 + "}}").encode()),
                   ("201,000 nodes", ('{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"$MARK":[' + "0," * 201000 + "0]}}").encode()),
                   ("a key above 1 KiB", ('{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"$MARK' + "k" * 1025 + '":1}}').encode()),
                   ("cut off", TEXT[:-2].encode()),
                   ("text behind it", TEXT.encode() + b" $MARK")):
    server(f"an answer with {name}", data, "fail")
# answers that can be read and are none
server("an answer with result and error", b'{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"$MARK"}]},"error":{"code":1,"message":"$MARK"}}', "fail")
server("an answer with neither", b'{"jsonrpc":"2.0","id":$ID}', "fail")
server("an answer with an unknown member", b'{"jsonrpc":"2.0","id":$ID,"result":{"content":[]},"$MARK":1}', "fail")
server("an answer without a version", b'{"id":$ID,"result":{"content":[{"type":"text","text":"$MARK"}]}}', "fail")
server("an answer with params", b'{"jsonrpc":"2.0","id":$ID,"result":{},"params":{"m":"$MARK"}}', "fail")
server("a result that is a string", b'{"jsonrpc":"2.0","id":$ID,"result":"$MARK"}', "fail")
server("an error that is a string", b'{"jsonrpc":"2.0","id":$ID,"error":"$MARK"}', "fail")
server("an error whose code is a string", b'{"jsonrpc":"2.0","id":$ID,"error":{"code":"$MARK","message":"$MARK"}}', "fail")
# answers to something else
for name, id_ in (("as a string", '"$ID"'), ("with a fraction", "$ID.0"), ("with an exponent", "$IDe0"), ("of nobody", "4242"), ("0", "0"), ("-1", "-1"), ("null", "null"), ("an object", "{}"),
                  ("as large as it gets", "9007199254740993"), ("of the handshake", "1")):
    server(f"an answer to the id {name}", TEXT.replace('"id":$ID', '"id":' + id_).encode(), "drop")
server("an answer without an id", b'{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"$MARK"}]}}', "drop")
server("an answer that has a method", b'{"jsonrpc":"2.0","id":$ID,"method":"ping","result":{"content":[{"type":"text","text":"$MARK"}]}}', "tell", code=INVALID, id="$ID")
# requests and notifications
server("a request with an unknown method", b'{"jsonrpc":"2.0","id":"q","method":"$MARK"}', "tell", code=NO_METHOD, id='"q"')
server("a request of a client", b'{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"$MARK"}}', "tell", code=NO_METHOD, id='"q"')
for method in ("sampling/createMessage", "elicitation/create", "roots/list"):
    server(f"{method}, which the client never offered", ('{"jsonrpc":"2.0","id":"q","method":"%s","params":{"message":"$MARK"}}' % method).encode(), "tell", code=NO_METHOD, id='"q"')
server("a request that cannot be read", b'{"jsonrpc":"2.0","id":"q","method":"ping","params":{"a":"$MARK","a":1}}', "tell", code=PARSE, id='"q"')
server("a request with an unknown member", b'{"jsonrpc":"2.0","id":"q","method":"ping","$MARK":1}', "tell", code=INVALID, id='"q"')
server("a request with the id 1.0", b'{"jsonrpc":"2.0","id":1.0,"method":"ping","params":{"a":"$MARK"}}', "drop")
for method, params in (("notifications/secret", {"m": "$MARK"}), ("notifications/elicitation/complete", {"elicitationId": "$MARK"}), ("notifications/tasks/status", {"taskId": "$MARK"}),
                       ("notifications/progress", {"progressToken": "$MARK", "progress": 1}), ("notifications/progress", {"progressToken": 4242, "progress": 1, "message": "$MARK"}),
                       ("notifications/resources/updated", {"uri": "note://$MARK"}), ("notifications/cancelled", {"requestId": 4242, "reason": "$MARK"}),
                       ("notifications/initialized", {"m": "$MARK"}), ("notifications/roots/list_changed", {"m": "$MARK"}), ("tools/list", {"m": "$MARK"})):
    server(f"the notification {method} {json.dumps(params)[:40]}", json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode(), "drop")
server("a notification that cannot be read", b'{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"$MARK\\udc80"}}', "drop")
server("a notification whose params are a list", b'{"jsonrpc":"2.0","method":"notifications/message","params":["$MARK"]}', "drop")
# what is no message closes the server
for name, data in (("plain text", b"Server $MARK listening on stdio"), ("an ANSI sequence", b"\x1b[2J\x1b[31m$MARK"), ("bytes", b"\xff\xfe\x00$MARK"), ("a string", b'"$MARK"'),
                   ("an empty batch", b"[]"), ("a batch of answers", b"[" + TEXT.encode() + b"]"), ("a byte order mark", b"\xef\xbb\xbf$MARK"), ("a half of a message", b'{"jsonrpc":"2.0",')):
    server(f"a line that is {name}", data, "close")
server("an answer behind a byte order mark", b"\xef\xbb\xbf" + TEXT.encode(), "fail")
server("an empty line", b"", "drop")
# what passes, and how it is written
GIVEN = '{"jsonrpc":"2.0","id":$ASKED,"result":%s}'
for name, result, written in (("U+2028", '{"content":[{"type":"text","text":"$MARK\u2028\u2029"}]}', '{"content":[{"type":"text","text":"$MARK\\u2028\\u2029"}]}'),
                              ("control characters, escaped", '{"content":[{"type":"text","text":"$MARK\\u0000\\u001b\\u007f\\r\\n"}]}', None),
                              ("white space and escapes", '{ "content" : [ ] , "\\u0041":"$MARK\\/" }', '{"content":[],"A":"$MARK/"}'),
                              ("numbers", '{"content":[],"structuredContent":{"$MARK":[-0,1.0,1E2,9007199254740993,12345678901234567890,1e-400]}}', None),
                              ("`__proto__` in a result", '{"content":[],"structuredContent":{"__proto__":"$MARK"}}', None),
                              ("`_meta` of its own", '{"content":[{"type":"text","text":"$MARK","_meta":{"a":1}}],"_meta":{"b":1}}', '{"content":[{"type":"text","text":"$MARK"}]}')):
    server(f"an answer with {name}", GIVEN.replace("$ASKED", "$ID").replace("%s", result).encode(), "pass", line=GIVEN.replace("%s", written or result))
server("an answer that ends in CR LF", (GIVEN.replace("$ASKED", "$ID") % '{"content":[]}').encode() + b"\r", "pass", line=GIVEN % '{"content":[]}')

if __name__ == "__main__":
    print(json.dumps([{**row, "bytes": row["bytes"].hex()} for row in ROWS if len(row["bytes"]) < 1 << 20], indent=1))
