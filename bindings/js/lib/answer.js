// SPDX-License-Identifier: Apache-2.0
// The assistant's answer as a sink: what a page that shows it would load or offer to open. Every way of writing an address is read as renderers of Markdown read it, and what is not shown as it was judged
// is made text: an address that is missed cannot be followed.

const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", colon: ':', sol: '/', period: '.', quest: '?', equals: '=', num: '#', Tab: '', NewLine: '', nbsp: ' ' };
const unescaped = (s) => s.replace(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|([a-z]{2,8}));?/gi, (whole, hex, dec, name) => {
  const point = hex !== undefined ? parseInt(hex, 16) : dec !== undefined ? Number(dec) : undefined;
  return point !== undefined ? (point > 0 && point < 0x110000 ? String.fromCodePoint(point) : '') : ENTITIES[name] ?? whole;
}).replace(/\\([!-/:-@[-`{-~])/g, '$1');

const HOST = /^(?:[a-z\d-]{1,63}\.)+[a-z]{2,24}[/?#]/i; // some renderers make a link of a host with a path

/** The address as a browser would take it; undefined: it leads nowhere else (a place on the page, a path of the page's own). */
export function addressOf(written) {
  const url = unescaped(written).replace(/[\t\n\r]/g, '').replace(/^[\0- ]+|[\0- ]+$/g, '').replace(/\\/g, '/');
  if (/^[a-z][a-z\d+.-]*:/i.test(url)) return url;
  if (url.startsWith('//')) return `https:${url}`;
  return /^www\./i.test(url) || HOST.test(url) ? `https://${url}` : undefined;
}

const TEXT = String.raw`((?:\\.|[^\\\[\]]|\[(?:\\.|[^\\\[\]])*\])*)`; // one level of brackets inside
const TARGET = String.raw`\s*(?:<((?:\\.|[^<>\n\\])*)>|((?:\\.|[^\s()\\]|\((?:\\.|[^\s()\\])*\))*))`;
const inline = (mark) => new RegExp(String.raw`(${mark})\[${TEXT}\]\(${TARGET}(?:\s+(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\((?:\\.|[^)\\])*\)))?\s*\)`, 'gsu');
const FORMS = [inline('!'), inline('!?')]; // an image in a link first
const DEFINITION = new RegExp(String.raw`^[ \t>*+\-\d.]*\[((?:\\.|[^\\\[\]])+)\]:${TARGET}[^\n]*`, 'gmu');
const REFERENCE = new RegExp(String.raw`(!?)\[${TEXT}\]\[((?:\\.|[^\\\[\]])*)\]`, 'gsu');
const ANGLED = /<((?:[a-z][a-z\d+.-]{0,31}:|www\.)[^\s<>]*)>/giu;
const BARE = /(?:\b[a-z][a-z\d+.-]{1,31}:\/\/|\bwww\.|(?<![\w:/])\/\/(?=[\w[])|\b(?:data|javascript|vbscript|blob|mailto|tel):(?=\S)|\b(?:[a-z\d-]{1,63}\.)+[a-z]{2,24}[/?#](?=[^\s)]))[^\s<>"`]*[^\s<>"`.,;:!?'()\]]/giu;

const label = (s) => s.trim().replace(/\s+/g, ' ').toLowerCase();
const flat = (s) => s.replace(/[\[\]()<>!]/g, '');

/**
 * `markdown` as it may be shown. `allowed(url, image)` decides an address; each is asked once.
 * `{text, shown, withheld}`: the addresses, each once.
 */
export async function answerOf(markdown, allowed) {
  const source = String(markdown).toWellFormed().replace(/[\ue000-\uf8ff]/g, ''); // those stand for what is kept, below
  const known = new Map();
  const kept = [];
  const asks = async (written, image) => {
    const url = addressOf(written);
    if (url === undefined) return undefined;
    if (!known.has(`${image}${url}`)) known.set(`${image}${url}`, await allowed(url, image) === true);
    return known.get(`${image}${url}`) ? url : false;
  };
  const keep = (text) => `\ue000${String.fromCharCode(0xe100 + (kept.push(text) - 1) % 0x1000, 0xe100 + Math.floor((kept.length - 1) / 0x1000))}`;
  const quoted = (url) => url.replace(/[<>\s\\"'`()[\]]/g, (c) => `%${c.charCodeAt(0).toString(16).padStart(2, '0')}`);
  const replaced = async (text, form, how) => {
    let out = '', at = 0;
    for (const match of text.matchAll(form)) {
      out += text.slice(at, match.index) + await how(match);
      at = match.index + match[0].length;
    }
    return out + text.slice(at);
  };
  const shown = async (image, text, written) => {
    const url = await asks(written, image);
    if (url === false) return `${flat(text)} (${image ? 'image' : 'link'} withheld)`.trim();
    return url === undefined ? flat(text) : keep(`${image ? '!' : ''}[${flat(text)}](<${quoted(url)}>)`);
  };

  const definitions = new Map();
  let text = source.replace(DEFINITION, (_, name, angled, plain) => {
    if (!definitions.has(label(name))) definitions.set(label(name), angled ?? plain);
    return '';
  });
  for (const form of FORMS) text = await replaced(text, form, ([, image, about, angled, plain]) => shown(image === '!', about, angled ?? plain));
  text = await replaced(text, REFERENCE, ([whole, image, about, name]) => definitions.has(label(name || about)) ? shown(image === '!', about, definitions.get(label(name || about))) : flat(whole));
  text = await replaced(text, ANGLED, async ([, written]) => { const url = await asks(written, false); return url === false ? '(link withheld)' : keep(`<${quoted(url)}>`); });
  text = text.replace(/!?\[((?:\\.|[^\\\[\]])*)\]/g, (whole, name) => definitions.has(label(name)) ? name : whole);
  text = await replaced(text, BARE, async ([written]) => { const url = await asks(written, false); return url === false ? '(link withheld)' : keep(written); });
  // whatever is left of HTML and of links is text
  text = text.replace(/<(?=[a-z/!?])/gi, '&lt;').replace(/\](?=\s*[(:[])/g, '\\]');
  for (let left = kept.length; left >= 0 && text.includes('\ue000'); left--) text = text.replace(/\ue000([\ue100-\uf8ff])([\ue100-\uf8ff])/g, (_, low, high) => kept[low.charCodeAt(0) - 0xe100 + (high.charCodeAt(0) - 0xe100) * 0x1000] ?? '');
  const of = (fine) => [...new Set([...known].filter(([, yes]) => yes === fine).map(([key]) => key.replace(/^(true|false)/, '')))];
  return { text, shown: of(true), withheld: of(false) };
}
