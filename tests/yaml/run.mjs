// SPDX-License-Identifier: Apache-2.0
// Our reading of YAML beside that of npm's `yaml` in its 1.2 core schema. What our loader accepts, that one has to read to the same JSON; what it refuses is refused at a position.
//
//   node tests/yaml/run.mjs --interlock BUILD/interlock
//
// traps/*.jsonl: a text a line, with what we read (`reads`: the JSON; true: whatever the other reads) or how we refuse it (`refused`: `LINE:COLUMN message`). The text is `yaml`,
// a string or a list of [text, times], or `hex`.
// Then the documents of this repository, those with accidents, and random texts, the same in every run: IL_TEST_SEED (a number, or `random`) makes others; IL_YAML_TEXTS is how many.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = join(HERE, '../..');
const PROBE = join(dirname(process.argv[process.argv.indexOf('--interlock') + 1] ?? ''), 'yaml/yaml-probe');
if (!existsSync(join(HERE, 'node_modules/yaml')) || !existsSync(PROBE)) {
  console.error(`packages or ${PROBE} are missing; run \`scripts/setup test\` and \`ninja unit-tests\``);
  process.exit(3);
}
const { ours, difference } = await import('./compare.mjs');
const { Random, document, accident } = await import('./random.mjs');
const SEED = process.env.IL_TEST_SEED === 'random' ? Date.now() % 1e9 : Number(process.env.IL_TEST_SEED ?? 1);
const TEXTS = Number(process.env.IL_YAML_TEXTS ?? 40000);
let passed = 0, failed = 0;

function report(name, problem) {
  if (problem) failed++; else passed++;
  if (problem) console.log(`FAILED: ${name}\n    ${problem}`);
}

const shown = (text) => JSON.stringify(text.toString()).slice(0, 300);

function traps(file) {
  const rows = readFileSync(join(HERE, 'traps', file), 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line));
  const texts = rows.map(({ yaml, hex }) => hex ? Buffer.from(hex, 'hex') : typeof yaml === 'string' ? yaml : yaml.map(([text, times]) => text.repeat(times)).join(''));
  ours(PROBE, texts).forEach((answer, i) => {
    const { reads, refused } = rows[i];
    const wanted = reads === true && answer.startsWith('= ') ? answer : refused === undefined ? `= ${reads}` : `! ${refused}`;
    report(`${file}:${i + 1} ${shown(texts[i])}`, answer === wanted ? difference(answer, texts[i]) : `${answer}, wanted ${wanted}`);
  });
  return rows.length;
}

// Each set is one row: many texts, at most a few differences shown.
function compared(name, texts, least) {
  const answers = ours(PROBE, texts);
  const accepted = answers.filter((answer) => answer.startsWith('= ')).length;
  const wrong = answers.map((answer, i) => [difference(answer, texts[i]), texts[i]]).filter(([problem]) => problem);
  console.log(`${name}: ${texts.length} texts, ${accepted} accepted (IL_TEST_SEED=${SEED})`);
  report(name, wrong.length > 0 ? `${wrong.length} differ (IL_TEST_SEED=${SEED}): ${wrong.slice(0, 5).map(([problem, text]) => `${shown(text)}: ${problem.slice(0, 400)}`).join('\n    ')}`
    : accepted < least ? `only ${accepted} were accepted` : undefined);
}

const documentsIn = (folder) => readdirSync(join(ROOT, folder)).sort().flatMap((entry) => {
  const path = join(folder, entry);
  return entry === 'node_modules' ? [] : statSync(join(ROOT, path)).isDirectory() ? documentsIn(path) : /\.ya?ml$/.test(entry) ? [path] : [];
});

const rows = readdirSync(join(HERE, 'traps')).sort().map(traps).reduce((sum, n) => sum + n, 0);
report('the corpus has 150 rows', rows < 150 ? `it has ${rows}` : undefined);

const shipped = ['bench', 'examples', 'machines', 'presets', 'tests/scenarios'].flatMap(documentsIn).map((path) => readFileSync(join(ROOT, path), 'utf8'));
compared('the documents of this repository', shipped, shipped.length);
const random = new Random(SEED);
compared('the same with accidents', Array.from({ length: TEXTS / 20 }, () => accident(random, accident(random, random.of(shipped).slice(0, 4000)))), TEXTS / 200);
compared('random texts', Array.from({ length: TEXTS }, () => document(random)), TEXTS / 10);

// A reader that reads otherwise, or more than the other, is noticed.
for (const [text, wrong] of [['a: 1\n', '= {"a":1.5}'], ['a: 1\n', '= {"a":"1"}'], ['a: 9007199254740993\n', '= {"a":9007199254740992}'], ['a: x\n', '= {"b":"x"}'], ['a: x\n', '= {}'], ['[a]\n', '= ["a","a"]'], ['a: |\n  x\n', '= {"a":"x"}'], ['a: yes\n', '= {"a":true}'],
  ['a:\n', '= {"a":""}'], ['{}\n', '= []'], ['a: 1\na: 1\n', '= {"a":1}'], ['a: *b\n', '= {"a":"*b"}'], ['a\n---\nb\n', '= "a"']]) report(`control: ${wrong} for ${shown(text)} is noticed`, difference(wrong, text) ? undefined : 'it is not');
const lax = ours(PROBE, shipped, 'lax');
report('control: a reader that reads nothing is noticed', lax.every((answer, i) => difference(answer, shipped[i])) ? undefined : 'it is not');

console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exit(failed > 0 ? 1 : 0);
