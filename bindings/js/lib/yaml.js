// SPDX-License-Identifier: Apache-2.0
// A policy's YAML as JSON text. npm's `yaml` reads it; what readers of 1.1 and 1.2 read differently is refused as the C reader refuses it (src/yaml), so that one file is one policy.
import { PolicyError } from './errors.js';

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const DOUBTFUL = [
  /^(y|n|yes|no|on|off|true|false|null|=|<<|-|[-+]?\.inf|[-+]?\.nan)$/i,
  /^[-+]?(?=[\d_]*\.?[\d_]*\d)[\d_]*(\.[\d_]*)?([eE][-+]?\d+)?$/, // 012, +5, 1_000, .5, 5.
  /^[-+]?0(b[01_]+|o[0-7_]+|x[\da-f_]+)$/i,
  /^[-+]?(?=[_]*\d)[\d_]+(:(?=_*\d)[\d_]+)+(\.(?=_*\d)[\d_]*)?$/, // 1:30
  /^\d{4}-\d{1,2}-\d{1,2}($|[Tt \t])/,
  /[{}]/,
];

// What stands between the texts.
function layout(Lexer, CST, source, refuse) {
  let at = 0, text = false, before = 'newline';
  for (const token of new Lexer().lex(source)) {
    if (token === '\x02' || token === '\x18') continue;
    if (token === '\x1f') {
      text = true;
      continue;
    }
    const kind = text ? 'text' : CST.tokenType(token);
    const first = source.lastIndexOf('\n', at - 1) + 1;
    const alone = /^[ \t]*$/.test(source.slice(first, at)); // nothing before it on its line
    if (kind === 'explicit-key-ind') refuse(at, '`?` begins a key here; quote this');
    if (kind === 'comment' && !alone && !/^#+($|[ \t])/.test(token)) refuse(at, `\`${token}\` begins a comment here; quote this, or put a space after \`#\``);
    if (kind === 'space' && token.includes('\t') && (alone || before === 'seq-item-ind')) {
      const next = source.slice(at + token.length).match(/^[^\r\n]?/)[0];
      if (!(before === 'flow' && next === '')) refuse(at + token.indexOf('\t'), 'a tab; indent with spaces');
    }
    if (kind === 'newline' && token.startsWith('\r') && token.length === 1) refuse(at, 'a lone carriage return');
    at += token.length;
    before = kind === 'space' && before === 'seq-item-ind' ? before : kind;
    text = false;
  }
}

function isJson(source) {
  try {
    return /^[ \t\r\n]*[[{]/.test(source) && JSON.parse(source) !== undefined;
  } catch {
    return false;
  }
}

/** `{text, place(line, column)}`: the JSON text, and the line and column of the YAML at which what stands at that place of it was written. */
export async function yamlAsJson(source) {
  if (isJson(source)) return { text: source, place: (line, column) => [line, column] }; // the core's own reader says what is wrong with it
  const { parseAllDocuments, CST, Lexer, LineCounter, isMap, isSeq, isScalar, isAlias } = await import('yaml');
  const lines = new LineCounter();
  const marks = []; // [column of the JSON, offset in the YAML], ascending
  let out = '';
  let columns = 1; // in code points, as the core counts
  const at = (offset) => {
    const { line, col } = lines.linePos(offset);
    return [line, [...source.slice(offset - col + 1, offset)].length + 1];
  };
  const refuse = (offset, why) => { throw new PolicyError(why, ...at(offset)); };
  const put = (text) => {
    out += text;
    columns += text.length === 1 ? 1 : [...text].length;
  };
  const mark = (node) => marks.push([columns, node.range[0]]);

  if (source.charCodeAt(0) === 0xfeff) throw new PolicyError('a byte order mark; remove it', 1, 1);
  if (!source.isWellFormed()) throw new PolicyError('the text is not UTF-8');
  const odd = /[\0-\b\v\f\x0e-\x1f\x7f\x80-\x9f\u2028\u2029\ufeff\ufffe\uffff]|\r(?!\n)/.exec(source);
  const documents = parseAllDocuments(source, { version: '1.2', schema: 'core', merge: false, strict: true, uniqueKeys: true, intAsBigInt: true, prettyErrors: false, logLevel: 'silent', lineCounter: lines });
  if (odd !== null) refuse(odd.index, 'a character that is not printable, or ends lines for some readers only; escape it');
  layout(Lexer, CST, source, refuse);
  for (const error of [...documents].flatMap((d) => d.errors)) refuse(Math.min(error.pos[0], source.length), error.message.split('\n')[0].toLowerCase());
  if (documents.length !== 1) throw new PolicyError(documents.length > 1 ? 'more than one document' : 'an empty document', 1, 1);
  const root = documents[0].contents;
  if (root === null || (isScalar(root) && root.source === '' && root.type === 'PLAIN')) throw new PolicyError('an empty document', 1, 1);
  if (isScalar(root) && root.type.startsWith('BLOCK')) refuse(root.range[0], 'a block of text as the whole document');
  if (/^%/m.test(source.slice(0, root.range[0]))) throw new PolicyError('a directive; remove it', 1, 1);

  const quote = (node) => refuse(node.range[0], `\`${node.source}\` is read differently by YAML readers; quote this`);
  const properties = (node) => {
    if (isAlias(node)) refuse(node.range[0], `\`*${node.source}\` is an alias; write it out`);
    if (node.anchor !== undefined) refuse(node.range[0], `\`&${node.anchor}\` is an anchor; quote this`);
    if (node.tag !== undefined) refuse(node.range[0], `\`${node.tag}\` is a tag; quote this`);
  };
  const plain = (node) => {
    const s = node.source;
    if (s === '' || s === '~' || s === 'null') return 'null';
    if (s === 'true' || s === 'false') return s;
    if (NUMBER.test(s)) return s;
    return DOUBTFUL.some((form) => form.test(s)) ? quote(node) : undefined;
  };
  // How a text is written where readers of 1.1 and 1.2 differ.
  const written = (node) => {
    const raw = source.slice(node.range[0], node.range[1]);
    if (node.type === 'QUOTE_DOUBLE' && /\\(u[dD][89a-fA-F]|\r?\n)/.test(raw.replace(/\\\\/g, '  '))) refuse(node.range[0], 'half a character, or an escaped end of a line; write it out');
    if (node.type.startsWith('BLOCK') && (/\n[ ]*\t/.test(raw) || /\n[ ]+\r?\n?$/.test(raw))) refuse(node.range[0], 'a block of text that ends in lines of spaces, or has a tab as indentation');
    if (typeof node.value === 'string' && !node.value.isWellFormed()) refuse(node.range[0], 'half a character');
  };
  const value = (node, depth) => {
    if (node === null) return put('null');
    properties(node);
    if (depth > 64 && !isScalar(node)) refuse(node.range[0], 'more than 64 levels');
    mark(node);
    if (isScalar(node)) {
      written(node);
      const word = node.type === 'PLAIN' ? plain(node) : undefined;
      return put(word ?? JSON.stringify(String(node.type === 'PLAIN' ? node.source : node.value)));
    }
    if (isSeq(node)) {
      put('[');
      node.items.forEach((item, i) => {
        if (i > 0) put(',');
        if (item !== null && !isScalar(item) && !isMap(item) && !isSeq(item) && !isAlias(item)) refuse(node.range[0], 'a pair without braces in `[ ]`');
        if (isMap(item) && node.flow && source[item.range[0]] !== '{') refuse(item.range[0], 'a pair without braces in `[ ]`');
        value(item, depth + 1);
      });
      return put(']');
    }
    if (!isMap(node)) refuse(node.range?.[0] ?? 0, 'this is none of what a policy is made of');
    put('{');
    node.items.forEach((pair, i) => {
      const { key } = pair;
      if (i > 0) put(',');
      if (!isScalar(key)) refuse(key?.range?.[0] ?? node.range[0], 'a key that is no text');
      properties(key);
      written(key);
      if (key.type === 'PLAIN' && plain(key) !== undefined) refuse(key.range[0], `the key \`${key.source}\` is no text; quote this`);
      if (node.flow && (pair.value === null || /^[ \t]*:[}\],]/.test(source.slice(key.range[1], key.range[1] + 40)))) refuse(key.range[0], 'a key without a value in `{ }`');
      mark(key);
      put(JSON.stringify(String(key.type === 'PLAIN' ? key.source : key.value)));
      put(':');
      value(pair.value, depth + 1);
    });
    put('}');
  };
  value(root, 1);
  const place = (_, column) => {
    let found = marks[0];
    for (const m of marks) if (m[0] <= column) found = m;
    return found === undefined ? [0, 0] : at(found[1]);
  };
  return { text: out, place };
}
