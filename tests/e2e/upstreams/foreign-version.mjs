// SPDX-License-Identifier: Apache-2.0
// Answers with a revision of the protocol that nobody knows.
import { METHODS, serve } from './base.mjs';
const { initialize } = METHODS;
serve({ methods: { initialize: (params) => ({ ...initialize(params), protocolVersion: '1999-01-01' }) } });
