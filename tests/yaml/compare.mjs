// SPDX-License-Identifier: Apache-2.0
// Our reading of texts (the probe) and that of npm's `yaml` in its 1.2 core schema, and whether they are one.
import { spawnSync } from 'node:child_process';
import { parseAllDocuments } from 'yaml';

const bytesOf = (text) => typeof text === 'string' ? Buffer.from(text) : text;

// What our loader makes of each: `= JSON` or `! LINE:COLUMN MESSAGE`.
export function ours(probe, texts, ...how) {
  const input = texts.map((text) => `${bytesOf(text).toString('hex')}\n`).join('');
  const done = spawnSync(probe, how, { input, encoding: 'utf8', maxBuffer: 1 << 30 });
  const answers = (done.stdout ?? '').split('\n').slice(0, -1);
  if (done.status !== 0 || answers.length !== texts.length) throw new Error(`the probe ended: ${done.error ?? done.stderr} (exit ${done.status}, signal ${done.signal}, ${answers.length} of ${texts.length} answers)`);
  return answers;
}

// Maps stay maps and whole numbers are exact, so that no key and no digit is lost.
export function theirs(text) {
  const documents = parseAllDocuments(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytesOf(text)),
    { version: '1.2', schema: 'core', merge: false, strict: true, uniqueKeys: true, intAsBigInt: true, prettyErrors: false, logLevel: 'silent' });
  const faults = [...documents].flatMap((d) => d.errors);
  if (faults.length > 0) return { refused: faults[0].message };
  if (documents.length !== 1) return { refused: `${documents.length} documents` };
  try {
    return { value: documents[0].toJS({ mapAsMap: true, maxAliasCount: 0 }) };
  } catch (error) {
    return { refused: error.message };
  }
}

const NUMBER = '\0number';
// Numbers keep their text, and a member of any name, `__proto__` too, stays one.
const parsed = (json) => JSON.parse(json.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) => token[0] === '"' ? token : `{"\\u0000number":"${token}"}`));

function same(mine, other) {
  if (typeof other === 'bigint') return mine !== null && typeof mine === 'object' && NUMBER in mine && (/[.eE]/.test(mine[NUMBER]) ? Number(mine[NUMBER]) === Number(other) : BigInt(mine[NUMBER]) === other);
  if (typeof other === 'number') return mine !== null && typeof mine === 'object' && NUMBER in mine && Number(mine[NUMBER]) === other;
  if (other === null || typeof other !== 'object') return mine === (other === undefined ? null : other);
  if (Array.isArray(other)) return Array.isArray(mine) && mine.length === other.length && other.every((item, i) => same(mine[i], item));
  if (mine === null || typeof mine !== 'object' || Array.isArray(mine) || !(other instanceof Map)) return false;
  return Object.keys(mine).length === other.size && [...other].every(([key, item]) => typeof key === 'string' && Object.hasOwn(mine, key) && same(mine[key], item));
}

const shown = (value) => JSON.stringify(value, (_, v) => v instanceof Map ? Object.fromEntries(v) : typeof v === 'bigint' ? `${v}n` : typeof v === 'number' ? `${v}` : v);

// What is wrong with our answer to a text, or nothing: what we refuse is never wrong here.
export function difference(answer, text) {
  if (!answer.startsWith('= ')) return undefined;
  let other;
  try {
    other = theirs(text);
  } catch (error) {
    other = { refused: error.message };
  }
  if ('refused' in other) return `we read ${answer.slice(2)}, npm's yaml refuses it: ${other.refused.split('\n')[0]}`;
  return same(parsed(answer.slice(2)), other.value) ? undefined : `we read ${answer.slice(2)}, npm's yaml reads ${shown(other.value)}`;
}
