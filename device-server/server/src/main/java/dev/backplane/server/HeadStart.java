// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server;

import dev.backplane.server.run.EventLoops;
import dev.backplane.vfiouser.natives.NativeCalls;

/**
 * What a server needs whatever its command line says, made ready on a second processor while the first reads that: half of
 * a start is the reading of annotations, loading of classes and linking of calls. Nothing depends on it: whoever needs
 * something first makes it ready, or waits until it is, by the rules of class initialization.
 *
 * <p>No two of these parts use each other, and each is initialized through one class, so that two threads cannot wait for
 * each other's.
 */
final class HeadStart {
    private HeadStart() {}

    /** Begins; returns at once. */
    static void begin() {
        Thread.ofPlatform().name("head start").daemon(true).start(HeadStart::run);
    }

    private static void run() {
        try {
            LogConfigurator.begin();
            NativeCalls.link();
            EventLoops.rehearse();
        } catch (Exception | LinkageError e) {
            // The server itself is about to meet the same, and says so.
        }
    }
}
