// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.uplink;

/**
 * What is behind an uplink port, as the port sees it. It has one thread of its own, which alone produces in {@link
 * UplinkPort#incoming()} and consumes from {@link UplinkPort#outgoing()}. The methods here are called from any thread,
 * inside the fabric's loops: they must neither wait nor allocate much, only wake that thread.
 */
public interface FarSide {
    /** Frames are in the outgoing ring, in which the far side had found none, and told so with {@link FrameRing#sleep}. */
    void framesReady();

    /** There is room in the incoming ring, for which the far side was waiting ({@link FrameRing#awaitRoom}). */
    void roomAgain();
}
