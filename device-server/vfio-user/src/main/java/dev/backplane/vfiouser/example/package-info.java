// SPDX-License-Identifier: Apache-2.0
/** A whole device on this library, to copy from. */
package dev.backplane.vfiouser.example;
