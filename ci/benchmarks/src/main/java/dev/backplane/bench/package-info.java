// SPDX-License-Identifier: Apache-2.0
/** The benchmark: Backplane beside what a user would take instead, in one run on one machine. It measures, it does not judge. */
package dev.backplane.bench;
