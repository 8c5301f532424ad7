// SPDX-License-Identifier: Apache-2.0
/**
 * One declaration per layout: registers, descriptors, ring headers and messages are declared once as a {@link
 * dev.backplane.vfiouser.layout.Struct}; offsets in Java, the C header and the documentation's tables come from it.
 */
package dev.backplane.vfiouser.layout;
