// SPDX-License-Identifier: Apache-2.0
/**
 * The sockets of a started server for the library's conformance suite, which Maven runs from the library's test jar: both
 * devices of a node, beside two nodes whose traffic must not notice.
 */
package dev.backplane.server.conformance;
