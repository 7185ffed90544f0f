// SPDX-License-Identifier: Apache-2.0
// Texts that are nearly YAML: a tree in some style, its scalars out of what readers disagree on, then a few accidents.

export class Random {
  constructor(seed) { this.state = BigInt(seed) * 2n + 1n; }
  below(n) {
    this.state = (this.state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
    return Number((this.state >> 33n) % BigInt(n));
  }
  of(list) { return list[this.below(list.length)]; }
  chance(n) { return this.below(n) === 0; }
}

const PLAIN = ['a', 'null', '~', 'true', 'false', 'True', 'yes', 'no', 'on', 'y', 'n', '0', '-0', '1', '-17', '012', '0o17', '0x1F', '0b1', '1_000', '1e3', '1E+2', '1.', '.5', '-.5', '+1', '1.50',
  '1e400', '123456789012345678901234567890', '0.1e-7', '.inf', '-.INF', '.nan', '1:30', '12:30:45', '2026-07-28', '2026-07-28 10:00:00', 'a b', 'a  b', 'a#b', 'a #b', 'a: b', 'a:b', ':a', '-a', '- a',
  '?a', '? a', '? ', '!x', '!!int 3', '&a b', '*a', '@a', '`a`', '%a', 'a%b', '|', '>', '|x', 'a|b', '"', "'", "it's", 'a"b"', 'a,b', 'a, b', '[', ']', '{', '}', 'a[0]', 'x{y}', 'http://h/p?q=1#f', '<<',
  '=', '--', '---', '...', '--- a', '-', ':', ': ', '#', '#a', '# a', ' #a', '~/a', '~a', 'nul', 'é', '日本', '😀', '\u00a0', 'a\u00a0b', 'a\tb', '\ta', 'a\t', '\u200b', '\ufeff', '\u0085', '\u2028', 'a\u2029b', '\\', 'a\\n',
  'C:\\x', '1,2', '1 2', '1a', 'e5', '0x', '0o8', '__proto__', 'constructor', 'a: #b', 'a:\tb', '- - a', '-\ta', '? a : b', 'key:', '\u007f', '\u0001'];
const ESCAPES = ['\\n', '\\t', '\\\\', '\\"', '\\/', '\\0', '\\x41', '\\u00e9', '\\U0001F600', '\\N', '\\L', '\\P', '\\_', '\\e', '\\a', '\\b', '\\v', '\\f', '\\r', '\\ ', '\\\t', '\\q', '\\x4', '\\u12', '\\ud83d\\ude00',
  '\\ud83d', '\\\n', '\\\n  ', "\\'", '\\U00110000'];
const BREAKS = ['\n', '\n', '\n', '\n', '\n', '\n', '\n', '\n', '\r\n', '\n\n', '\n \n', '\n\t\n', '\r'];

const spaces = (n) => ' '.repeat(Math.max(0, n));

function quoted(r, indent) {
  const mark = r.of(['"', "'"]);
  let out = '';
  for (let n = r.below(4); n > 0; n--) {
    out += r.chance(3) && mark === '"' ? r.of(ESCAPES) : r.chance(5) ? r.of(BREAKS) + spaces(indent + r.below(3) - 1) : r.of(PLAIN).replaceAll(mark, mark === '"' ? '\\"' : "''");
  }
  return mark + out + mark;
}

function block(r, indent) {
  const head = r.of(['|', '>']) + r.of(['', '', '-', '+', '1', '2', '2-', '+1', '-3', '0', '9', '++']) + r.of(['', '', '', ' ', ' # c', ' #c', '#c', '\t']);
  let out = head;
  const own = indent + r.below(3);
  for (let n = r.below(5); n > 0; n--) out += r.of(BREAKS) + (r.chance(4) ? '' : spaces(own + (r.chance(3) ? r.below(3) - 1 : 0))) + (r.chance(4) ? '' : r.of(PLAIN));
  return out + r.of(['', '\n', '\n\n', '\n  ', '\n \n']);
}

function scalar(r, indent) {
  const what = r.below(10);
  if (what === 0) return '';
  if (what <= 2) return quoted(r, indent);
  if (what === 3) return block(r, indent);
  let out = r.of(PLAIN);
  while (r.chance(8)) out += r.of([' ', r.of(BREAKS) + spaces(indent + r.below(3) - 1)]) + r.of(PLAIN);
  return out;
}

const comment = (r) => r.chance(12) ? r.of([' # c', ' #c', '#c', '\t# c', ' # "', ' # {', ' # a: b']) : '';
const name = (r, i) => r.chance(6) ? r.of(PLAIN) : r.chance(6) ? quoted(r, 0) : `k${r.chance(20) ? 0 : i}`;

function flow(r, depth, indent) {
  const gap = () => r.chance(8) ? r.of(BREAKS) + spaces(indent + r.below(3) - 1) + comment(r) : r.of(['', '', ' ', '\t']);
  const item = (i) => depth > 0 && r.chance(3) ? flow(r, depth - 1, indent) : r.chance(8) ? `${name(r, i)}: ${r.of(PLAIN)}` : r.chance(4) ? quoted(r, indent) : r.of(PLAIN);
  const n = r.below(4);
  const items = [];
  const object = r.chance(2);
  for (let i = 0; i < n; i++) items.push(gap() + (object ? `${name(r, i)}${r.of([': ', ': ', ': ', ':', ' : ', ' '])}` : '') + item(i) + gap());
  return (object ? '{' : '[') + items.join(',') + (r.chance(10) ? ',' : '') + gap() + (r.chance(30) ? '' : object ? '}' : ']');
}

function node(r, depth, indent) {
  const what = depth > 0 ? r.below(6) : 5;
  const prop = r.chance(25) ? r.of(['&a ', '!!str ', '!t ', '! ', '*a ']) : '';
  if (what > 2) return prop + (what === 3 ? flow(r, depth, indent) : scalar(r, indent));
  let out = '';
  const own = indent + r.below(3);
  for (let i = 0, n = 1 + r.below(3); i < n; i++) {
    const at = spaces(own + (r.chance(25) ? r.below(3) - 1 : 0));
    const line = (i === 0 && r.chance(3) ? '' : r.of(BREAKS) + comment(r) + (r.chance(30) ? '\n# c\n' : '') + at);
    out += line + (what === 0 ? r.of(['- ', '- ', '- ', '-  ', '-\t', '-']) : `${name(r, i)}${r.of([': ', ': ', ': ', ': ', ' : ', ':  ', ':\t', ':'])}`) + node(r, depth - 1, own + 1) + comment(r);
  }
  return prop + out;
}

const ACCIDENTS = [' ', '\t', '\n', ':', '-', '#', ',', '"', "'", '{', '}', '[', ']', '|', '>', '&', '*', '!', '?', '%', '\r', '\\', '  ', '...', '\n---\n', '0', '~'];

export function accident(r, text) {
  if (text.length === 0) return text;
  const at = r.below(text.length), what = r.below(4);
  if (what === 0) return text.slice(0, at) + text.slice(at + 1);
  if (what === 1) return text.slice(0, at) + text.slice(r.below(text.length));
  return text.slice(0, at) + r.of(ACCIDENTS) + text.slice(at);
}

export function document(r) {
  let text = r.chance(12) ? r.of(['---\n', '--- ', '---', '%YAML 1.2\n---\n', '\ufeff', '# c\n', '\n', ' ', '\t', '...\n', '--- # c\n']) : '';
  text += node(r, 1 + r.below(3), 0).replace(/^\s*/, (s) => r.chance(4) ? s : '');
  text += r.of(['', '\n', '\n', '\n', '\n\n', '\n...\n', '\n---\n', '\n---\nb\n', '\n# c', ' ', '\t', '\n...\nb\n', '\n  ', '\n\t\n']);
  for (let accidents = r.chance(3) ? 1 + r.below(2) : 0; accidents > 0; accidents--) text = accident(r, text);
  return text;
}
