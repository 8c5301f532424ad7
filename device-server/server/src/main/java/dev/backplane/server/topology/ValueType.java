// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.topology;

import dev.backplane.devices.MacAddress;
import dev.backplane.devices.fabric.VlanPolicy;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How a value of a topology file is written, and how it is shown. */
enum ValueType {
    /** Bytes: {@code 4096}, {@code 64KiB}, {@code 64MiB}, {@code 1GiB}. A {@code Long}. */
    BYTES("a size such as 64MiB (units: KiB, MiB, GiB)") {
        @Override
        Object parse(String text) {
            return scaled(text, SIZES, "", "KiB", "MiB", "GiB");
        }

        @Override
        String format(Object value) {
            return scale(((Number) value).longValue(), SIZES, "", "KiB", "MiB", "GiB");
        }
    },
    /** A time: {@code 5us}, {@code 20ms}, {@code 1.5s}, {@code 5min}. A {@link Duration}. */
    DURATION("a time such as 20ms (units: ns, us, ms, s, min)") {
        @Override
        Object parse(String text) {
            if (text.equals("0")) {
                return Duration.ZERO;
            }
            return Duration.ofNanos(scaled(text, TIMES, "ns", "us", "ms", "s", "min"));
        }

        @Override
        String format(Object value) {
            return scale(((Duration) value).toNanos(), TIMES, "ns", "us", "ms", "s", "min");
        }
    },
    /** Bits per second: {@code 100Mbit}, {@code 2.5Gbit}. A {@code Long}; 0 or {@code none} for no limit. */
    RATE("a rate such as 100Mbit or 2.5Gbit per second, or none") {
        @Override
        Object parse(String text) {
            return text.equals("none") ? Long.valueOf(0) : scaled(text, RATES, "bit", "kbit", "Mbit", "Gbit");
        }

        @Override
        String format(Object value) {
            long rate = ((Number) value).longValue();
            return rate == 0 ? "none" : scale(rate, RATES, "bit", "kbit", "Mbit", "Gbit");
        }
    },
    /** A whole number, decimal or {@code 0x…}. A {@code Long}. */
    COUNT("a whole number") {
        @Override
        Object parse(String text) {
            return Long.decode(text.replace("_", ""));
        }
    },
    /** {@code true} or {@code false}. A {@code Boolean}. */
    FLAG("true or false") {
        @Override
        Object parse(String text) {
            return switch (text) {
                case "true" -> true;
                case "false" -> false;
                default -> throw new IllegalArgumentException();
            };
        }
    },
    /** An Ethernet address. A {@link MacAddress}. */
    MAC("an Ethernet address such as 02:ba:5c:00:00:01") {
        @Override
        Object parse(String text) {
            return MacAddress.parse(text);
        }
    },
    /** VLANs of a port. A {@link VlanPolicy}. */
    VLANS("'all', 'access 10', 'trunk 2,5,10-20' or 'trunk 2,5,10-20 native 3'") {
        @Override
        Object parse(String text) {
            return VlanText.parse(text);
        }
    },
    /** Any text but none. A {@code String}. */
    TEXT("a text") {
        @Override
        Object parse(String text) {
            if (text.isEmpty()) {
                throw new IllegalArgumentException();
            }
            return text;
        }
    };

    private static final long[] SIZES = {1, 1L << 10, 1L << 20, 1L << 30};
    private static final long[] TIMES = {1, 1_000, 1_000_000, 1_000_000_000, 60_000_000_000L};
    private static final long[] RATES = {1, 1_000, 1_000_000, 1_000_000_000};
    private static final Pattern NUMBER = Pattern.compile("([0-9]+(?:\\.[0-9]+)?) ?([A-Za-z]*)");

    private final String form;

    ValueType(String form) {
        this.form = form;
    }

    /** What a value looks like, for error messages and documentation. */
    String form() {
        return form;
    }

    /** Throws {@link IllegalArgumentException}, without a useful message, when {@code text} is no such value. */
    abstract Object parse(String text);

    /** Writes a value so that {@link #parse} reads it back. */
    String format(Object value) {
        return value.toString();
    }

    private static Long scaled(String text, long[] scales, String... units) {
        Matcher m = NUMBER.matcher(text);
        if (!m.matches()) {
            throw new IllegalArgumentException();
        }
        for (int i = 0; i < units.length; i++) {
            if (units[i].equals(m.group(2))) {
                return new BigDecimal(m.group(1))
                        .multiply(BigDecimal.valueOf(scales[i]))
                        .longValueExact();
            }
        }
        throw new IllegalArgumentException();
    }

    private static String scale(long value, long[] scales, String... units) {
        int i = units.length - 1;
        while (i > 0 && (value == 0 || value % scales[i] != 0)) {
            i--;
        }
        return String.format(Locale.ROOT, "%d%s", value / scales[i], units[i]);
    }
}
