// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.natives;

/** The C library's functions, all together. */
public final class NativeCalls {
    private NativeCalls() {}

    /**
     * Links them now rather than at the first call, which takes a tenth of a second: for whoever has something else to do
     * meanwhile on another thread. Any thread; harmless when repeated.
     */
    public static void link() {
        Libc.link();
    }
}
