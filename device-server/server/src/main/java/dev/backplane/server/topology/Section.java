// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.topology;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One mapping of a topology file, which fills a configuration record. The record's constructor knows the allowed ranges;
 * here is only how each value is called and written. Not thread-safe.
 *
 * @param <R> the record
 */
final class Section<R extends Record> {
    private record Key(int component, ValueType type, String doc) {}

    private final String title;
    private final RecordComponent[] components;
    private final Constructor<R> constructor;
    private final Map<String, Key> keys = new LinkedHashMap<>();

    /** {@code title} is the section's key in the file, for messages. */
    Section(String title, Class<R> type) {
        this.title = title;
        this.components = type.getRecordComponents();
        try {
            this.constructor = type.getDeclaredConstructor(
                    Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new));
        } catch (NoSuchMethodException e) {
            throw new IllegalArgumentException(type + " has no canonical constructor", e);
        }
    }

    /** Declares that {@code key} of the file sets {@code component} of the record. */
    Section<R> key(String key, String component, ValueType type, String doc) {
        for (int i = 0; i < components.length; i++) {
            if (components[i].getName().equals(component)) {
                keys.put(key, new Key(i, type, doc));
                return this;
            }
        }
        throw new IllegalArgumentException(constructor.getDeclaringClass() + " has no component " + component);
    }

    /** Keys and what they mean, in the order of declaration. */
    Map<String, String> documentation() {
        Map<String, String> doc = new LinkedHashMap<>();
        keys.forEach((name, key) -> doc.put(name, key.doc + "; " + key.type.form()));
        return doc;
    }

    /** The record's values as they are written in a file; what is not set is left out. */
    Map<String, String> show(R value) {
        Map<String, String> shown = new LinkedHashMap<>();
        keys.forEach((name, key) -> {
            Object set = toFile(key, components[key.component], value(value, key.component));
            if (set != null) {
                shown.put(name, key.type.format(set));
            }
        });
        return shown;
    }

    /**
     * {@code defaults} with the values of {@code node}. Faults go to {@code problems}: the result is then some valid record.
     *
     * @param others keys of the mapping that the caller reads itself
     */
    R read(YamlNode node, R defaults, Problems problems, String... others) {
        if (!(node instanceof YamlNode.Fields section)) {
            if (!(node instanceof YamlNode.Scalar s && s.text().isEmpty())) {
                problems.add(node.line(), title + " is " + node.kind() + ", it must be a mapping of " + keys.keySet());
            }
            return defaults;
        }
        Map<String, Object> changes = new LinkedHashMap<>();
        section.fields().forEach((name, value) -> {
            Key key = keys.get(name);
            if (key != null) {
                Object parsed = parse(name, key, value, problems);
                if (parsed != null) {
                    changes.put(name, parsed);
                }
            } else if (!Arrays.asList(others).contains(name)) {
                problems.add(value.line(), "unknown key '" + name + "' in " + title + "; known: " + known(others));
            }
        });
        return build(section, defaults, changes, problems);
    }

    private String known(String... others) {
        String known = String.join(", ", keys.keySet());
        return others.length == 0 ? known : known + ", " + String.join(", ", others);
    }

    private Object parse(String name, Key key, YamlNode value, Problems problems) {
        if (value instanceof YamlNode.Scalar s) {
            try {
                return toComponent(components[key.component], key.type.parse(s.text()));
            } catch (IllegalArgumentException | ArithmeticException e) {
                // told below, together with what is not a scalar
            }
        }
        problems.add(value.line(), title + "." + name + " is " + value.kind() + ", it must be " + key.type.form());
        return null;
    }

    /** Applies all changes; when the record refuses them, finds those at fault, which have lines of their own. */
    private R build(YamlNode.Fields section, R defaults, Map<String, Object> changes, Problems problems) {
        try {
            return with(defaults, changes);
        } catch (IllegalArgumentException together) {
            int before = problems.count();
            for (String name : changes.keySet()) {
                Map<String, Object> others = new LinkedHashMap<>(changes);
                others.remove(name);
                if (refusal(defaults, others) == null) {
                    tell(section, name, together.getMessage(), problems);
                    return defaults;
                }
            }
            for (Map.Entry<String, Object> change : changes.entrySet()) {
                String alone = refusal(defaults, Map.of(change.getKey(), change.getValue()));
                if (alone != null) {
                    tell(section, change.getKey(), alone, problems);
                }
            }
            if (problems.count() == before) {
                problems.add(section.line(), title + ": " + together.getMessage());
            }
            return defaults;
        }
    }

    /** Why the record refuses the changes, or null. */
    private String refusal(R defaults, Map<String, Object> changes) {
        try {
            with(defaults, changes);
            return null;
        } catch (IllegalArgumentException e) {
            return e.getMessage();
        }
    }

    private void tell(YamlNode.Fields section, String name, String refusal, Problems problems) {
        YamlNode written = section.fields().get(name);
        problems.add(written.line(), title + "." + name + " is " + written.kind() + ": " + refusal);
    }

    private R with(R defaults, Map<String, Object> changes) {
        Object[] values = new Object[components.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = value(defaults, i);
        }
        changes.forEach((name, value) -> values[keys.get(name).component] = value);
        try {
            return constructor.newInstance(values);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof IllegalArgumentException refused) {
                throw refused;
            }
            throw new IllegalStateException("cannot make " + title, e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("cannot make " + title, e);
        }
    }

    private Object value(R record, int component) {
        try {
            return components[component].getAccessor().invoke(record);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("cannot read " + title + "." + components[component].getName(), e);
        }
    }

    /** A value as the record wants it; the component's name ends with its unit. */
    private static Object toComponent(RecordComponent component, Object value) {
        long unit = unit(component);
        Object scaled = switch (value) {
            case Duration d -> exact(d.toNanos(), unit);
            case Long n -> exact(n, unit);
            default -> value;
        };
        return component.getType() == int.class ? (Object) Math.toIntExact((Long) scaled) : scaled;
    }

    private static Object toFile(Key key, RecordComponent component, Object value) {
        if (value instanceof Number n) {
            long base = Math.multiplyExact(n.longValue(), unit(component));
            return key.type == ValueType.DURATION ? Duration.ofNanos(base) : (Object) base;
        }
        return value;
    }

    /** What one of the component is in the base unit of its kind: nanoseconds, bits per second, bytes, or pieces. */
    private static long unit(RecordComponent component) {
        String name = component.getName();
        return name.endsWith("Micros")
                ? 1_000
                : name.endsWith("Millis") || name.endsWith("Mbit")
                        ? 1_000_000
                        : name.endsWith("Seconds") ? 1_000_000_000 : 1;
    }

    private static Long exact(long base, long unit) {
        if (base % unit != 0) {
            throw new IllegalArgumentException("finer than the unit " + unit);
        }
        return base / unit;
    }
}
