// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import java.time.Duration;

/** Processor time of another process, as the operating system accounts it. */
final class ProcessorTime {
    private ProcessorTime() {}

    static Duration of(long pid) {
        return ProcessHandle.of(pid)
                .flatMap(p -> p.info().totalCpuDuration())
                .orElseThrow(() -> new IllegalStateException("no process " + pid));
    }
}
