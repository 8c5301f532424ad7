// SPDX-License-Identifier: Apache-2.0
/** The {@code backplane} program: one command line for the server and for everything that looks at it. */
package dev.backplane.server;
