// SPDX-License-Identifier: Apache-2.0
import { conform } from './conformance.mjs';
import { done } from './harness.mjs';
import { rig } from './rig-claude-agent-sdk.mjs';

await conform(rig);
done();
