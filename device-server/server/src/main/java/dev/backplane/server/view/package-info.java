// SPDX-License-Identifier: Apache-2.0
/** What the management interface shows of a running server, and the few things it changes. */
package dev.backplane.server.view;
