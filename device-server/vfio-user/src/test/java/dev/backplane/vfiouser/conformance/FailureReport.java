// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import java.util.Map;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;

/** Prints, when a test fails, the bytes that went to and fro, the server's counters and what each thread does. */
final class FailureReport implements TestExecutionExceptionHandler {
    @Override
    public void handleTestExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        if (!(failure instanceof org.opentest4j.TestAbortedException)) {
            StringBuilder out = new StringBuilder("\n=== ")
                    .append(context.getRequiredTestClass().getSimpleName())
                    .append('.')
                    .append(context.getDisplayName())
                    .append(": ")
                    .append(failure.getMessage())
                    .append('\n');
            out.append(((ConformanceTest) context.getRequiredTestInstance()).report());
            for (Map.Entry<Thread, StackTraceElement[]> e :
                    Thread.getAllStackTraces().entrySet()) {
                out.append("--- thread ").append(e.getKey().getName()).append('\n');
                for (StackTraceElement frame : e.getValue()) {
                    out.append("    ").append(frame).append('\n');
                }
            }
            System.err.print(out);
        }
        throw failure;
    }
}
