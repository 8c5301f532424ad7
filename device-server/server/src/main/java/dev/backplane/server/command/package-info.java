// SPDX-License-Identifier: Apache-2.0
/** The commands of the {@code backplane} program, one class each. */
package dev.backplane.server.command;
