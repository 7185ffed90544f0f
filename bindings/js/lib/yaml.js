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

/** `{text, place(column)}`: the JSON text, and the line and column of the YAML at which what stands at that column of it was written. */
export async function yamlAsJson(source) {
  const { parseAllDocuments, LineCounter, isMap, isSeq, isScalar, isAlias } = await import('yaml');
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
  for (const error of [...documents].flatMap((d) => d.errors)) refuse(Math.min(error.pos[0], source.length), error.message.split('\n')[0].toLowerCase());
  if (documents.length !== 1 || documents[0].contents === null) throw new PolicyError(documents.length > 1 ? 'more than one document' : 'an empty document', 1, 1);
  if (/^%/m.test(source.slice(0, documents[0].contents.range[0]))) throw new PolicyError('a directive; remove it', 1, 1);

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
  const value = (node, depth) => {
    if (node === null) return put('null');
    properties(node);
    if (depth > 64) refuse(node.range[0], 'more than 64 levels');
    mark(node);
    if (isScalar(node)) {
      const word = node.type === 'PLAIN' ? plain(node) : undefined;
      return put(word ?? JSON.stringify(String(node.type === 'PLAIN' ? node.source : node.value)));
    }
    if (isSeq(node)) {
      put('[');
      node.items.forEach((item, i) => {
        if (i > 0) put(',');
        if (item !== null && !isScalar(item) && !isMap(item) && !isSeq(item) && !isAlias(item)) refuse(node.range[0], 'a pair without braces in `[ ]`');
        if (isMap(item) && node.flow && !item.flow) refuse(item.range[0], 'a pair without braces in `[ ]`');
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
      if (key.type === 'PLAIN' && plain(key) !== undefined) refuse(key.range[0], `the key \`${key.source}\` is no text; quote this`);
      if (pair.value === null && node.flow) refuse(key.range[0], 'a key without a value in `{ }`');
      mark(key);
      put(JSON.stringify(String(key.type === 'PLAIN' ? key.source : key.value)));
      put(':');
      value(pair.value, depth + 1);
    });
    put('}');
  };
  value(documents[0].contents, 1);
  const place = (column) => {
    let found = marks[0];
    for (const m of marks) if (m[0] <= column) found = m;
    return found === undefined ? [0, 0] : at(found[1]);
  };
  return { text: out, place };
}
