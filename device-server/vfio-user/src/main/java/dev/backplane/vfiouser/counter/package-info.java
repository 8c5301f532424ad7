// SPDX-License-Identifier: Apache-2.0
/** Counters that cost nothing to add to and can be read from outside while the program runs. */
package dev.backplane.vfiouser.counter;
