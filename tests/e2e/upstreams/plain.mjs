// SPDX-License-Identifier: Apache-2.0
// Behaves, unless one of its tools is asked to misbehave.
import { serve } from './base.mjs';
serve();
