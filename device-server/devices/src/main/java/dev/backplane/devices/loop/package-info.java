// SPDX-License-Identifier: Apache-2.0
/** Serial work without locks: loops that their wakers run, and the threads that take what is left. */
package dev.backplane.devices.loop;
