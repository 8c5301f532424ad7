// SPDX-License-Identifier: Apache-2.0
/** Waiting until nobody uses any more what has been taken away. */
package dev.backplane.vfiouser.quiescence;
