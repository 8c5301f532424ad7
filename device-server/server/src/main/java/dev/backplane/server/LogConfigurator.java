// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.spi.ContextAwareBase;
import org.slf4j.LoggerFactory;

/**
 * Logs to standard error, one line an event, from level INFO on. In code rather than in XML: reading the XML would take a
 * good part of the server's start. Found by Logback through its service file.
 */
public final class LogConfigurator extends ContextAwareBase implements Configurator {
    private static final String PATTERN = "%d{HH:mm:ss.SSS} %-5level %logger{0}: %msg%n";

    @Override
    public ExecutionStatus configure(LoggerContext context) {
        PatternLayoutEncoder encoder = new PatternLayoutEncoder();
        encoder.setContext(context);
        encoder.setPattern(PATTERN);
        encoder.start();
        ConsoleAppender<ILoggingEvent> console = new ConsoleAppender<>();
        console.setContext(context);
        console.setTarget("System.err");
        console.setEncoder(encoder);
        console.start();
        Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        root.setLevel(Level.INFO);
        root.addAppender(console);
        context.getLogger("io.netty").setLevel(Level.WARN);
        return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }

    /** Begins to log, unless that has begun; when it returns, it has. */
    static void begin() {
        Context.LOGGERS.getName();
    }

    /**
     * Logback, once it is ready. While one thread makes it so others would get stand-ins of SLF4J, which are not of its
     * class; here they wait.
     */
    private static final class Context {
        static final LoggerContext LOGGERS = (LoggerContext) LoggerFactory.getILoggerFactory();

        private Context() {}
    }

    /** Logs Backplane's own events from {@code level} on; the name of a Logback level. */
    public static void level(String level) {
        Context.LOGGERS.getLogger("dev.backplane").setLevel(Level.toLevel(level, Level.INFO));
    }
}
