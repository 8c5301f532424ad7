// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

/**
 * States of an output port.
 *
 * <pre>
 *   from    to      when
 *   DOWN    UP      the link comes up
 *   UP      STUCK   frames are queued and nothing has moved out for the configured time
 *   STUCK   UP      a frame has moved out
 *   UP      DOWN    the link goes down, the node resets or leaves
 *   STUCK   DOWN    the same
 * </pre>
 */
public enum PortState {
    /** Nothing is queued; frames for it are dropped and counted. */
    DOWN,
    /** Frames are queued; senders wait when the port's quota is used up. */
    UP,
    /** As UP, but frames beyond the quota are dropped and counted, and nobody waits. */
    STUCK;

    /** Whether a port may go from this state to {@code next}. */
    public boolean mayBecome(PortState next) {
        return switch (next) {
            case DOWN -> this != DOWN;
            case UP -> this != UP;
            case STUCK -> this == UP;
        };
    }
}
