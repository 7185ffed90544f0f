// SPDX-License-Identifier: Apache-2.0
// Compares what came through the gateway with two direct runs. Only what differs between the two
// direct runs is masked, and of a text only the lines that do.

const kindOf = (value) => (Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value);
const short = (value) => {
  const json = JSON.stringify(value) ?? 'nothing';
  return json.length > 160 ? `${json.slice(0, 160)}…` : json;
};

class Comparison {
  constructor() {
    this.differences = [];
    this.masked = new Set();
  }

  text(first, second, through, path) {
    const [a, b, c] = [first, second, through].map((value) => value.split('\n'));
    if (a.length !== b.length) {
      this.masked.add(path);
      return;
    }
    if (a.length !== c.length) {
      this.differences.push(`${path}: ${short(first)} became ${short(through)}`);
      return;
    }
    a.forEach((line, i) => {
      if (line !== b[i]) this.masked.add(`${path}:${i + 1}`);
      else if (line !== c[i]) this.differences.push(`${path}:${i + 1}: ${short(line)} became ${short(c[i])}`);
    });
  }

  value(a, b, c, path) {
    const kind = kindOf(a);
    if (kind !== kindOf(b)) throw new Error(`${path}: two direct runs give a ${kind} and a ${kindOf(b)}`);
    if (kind !== kindOf(c)) {
      this.differences.push(`${path}: ${short(a)} became ${short(c)}`);
    } else if (kind === 'string') {
      this.text(a, b, c, path);
    } else if (kind === 'array' || kind === 'object') {
      const [first, second, through] = [a, b, c].map((value) => Object.keys(value));
      if (first.join() !== second.join()) throw new Error(`${path}: two direct runs have other members`);
      if (first.join() !== through.join()) this.differences.push(`${path}: members ${short(first)} became ${short(through)}`);
      else for (const key of first) this.value(a[key], b[key], c[key], `${path}/${key}`);
    } else if (a !== b) {
      this.masked.add(path);
    } else if (a !== c) {
      this.differences.push(`${path}: ${short(a)} became ${short(c)}`);
    }
  }
}

/** Compares three transcripts; gives {differences, masked}, each a list of paths. */
export function compare(direct, again, through) {
  const comparison = new Comparison();
  if (direct.revision !== through.revision) comparison.differences.push(`revision: ${direct.revision} became ${through.revision}`);
  direct.entries.forEach(({ label, client, wire }, i) => {
    for (const [face, first] of [['client', client], ['wire', wire]]) {
      const others = [again.entries[i][face], through.entries[i][face]];
      comparison.value(JSON.parse(first), ...others.map((text) => JSON.parse(text)), `${label} (${face}) `);
    }
  });
  return { differences: comparison.differences, masked: [...comparison.masked] };
}
