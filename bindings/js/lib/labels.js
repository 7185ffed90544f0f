// SPDX-License-Identifier: Apache-2.0
// Labels that stand beside the tools (`tool({…, interlock: {effects, to}})`), as the policy that they make.
import { UsageError } from './errors.js';
import { jsonOf } from './plain.js';

/**
 * A tool with its label, where the tool's own type has no room for one: `labelled(tool({…}), {effects: ['untrusted']})`. A copy; but an object of a class, whose copy would lack what the class
 * gives it, is labelled itself.
 */
export function labelled(tool, label) {
  const above = Object.getPrototypeOf(tool);
  return above === Object.prototype || above === null ? { ...tool, interlock: label } : Object.assign(tool, { interlock: label });
}

/** The entry of a tool, as JSON text; undefined: the tool has no label. */
export function labelOf(name, tool) {
  const at = tool !== null && typeof tool === 'object' ? Object.getOwnPropertyDescriptor(tool, 'interlock') : undefined;
  if (at === undefined || at.value === undefined) return undefined;
  const label = at.value;
  if (label === null || typeof label !== 'object' || Array.isArray(label)) throw new UsageError(`the label of \`${name}\` is an object: {effects: […], …}`);
  const { effects = [], ...entry } = label;
  try {
    return jsonOf({ match: name, effects: typeof effects === 'string' ? [effects] : effects, ...entry });
  } catch (error) {
    throw new UsageError(`the label of \`${name}\`: ${error.message}`);
  }
}

// The answer's links and images: who reads it is the user, and where they lead is where it may go.
const RESPOND = '{"match":"respond","effects":["egress"],"sink":"once","audience":"addressed","to":{"url":"url"},"plain":["image"]}';

/** The policy document of labels (name to entry), on the machine `standard`. */
export function documentOf(labels, approvals) {
  const head = `{"interlock":1,"machine":"standard"${approvals === undefined ? '' : `,"approvals":${jsonOf(approvals)}`}`;
  const all = new Map([['respond', RESPOND], ...labels]);
  return `${head},"tools":[${[...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry).join(',')}]}`;
}
