// SPDX-License-Identifier: Apache-2.0
// Tells its process id, and does not end when its input does.
import './pid.mjs';
process.exit = () => {};
setInterval(() => {}, 1000);
