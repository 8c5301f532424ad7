// SPDX-License-Identifier: Apache-2.0
package dev.backplane.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A guest that runs in QEMU. A panic, an oops or an unexpected end fails whatever waits for the guest, at once and with
 * the console attached. Any thread may use it.
 */
public final class Guest implements AutoCloseable {
    /** Time for a boot; software emulation on a busy machine needs most of it. */
    public static final Duration BOOT_LIMIT = Duration.ofMinutes(2);

    /** Time for a command that was not said otherwise. */
    public static final Duration EXEC_LIMIT = Duration.ofMinutes(1);

    private final GuestRunner runner;
    private final GuestImage image;
    private final GuestConfig config;
    private final Path directory;

    private volatile Console console;
    private volatile String failure;
    private volatile boolean stopping;
    private volatile int boot;
    private GuestRunner.Instance instance;
    private GuestAgent agent;
    private Qmp qmp;

    /** Prepares a guest; {@code directory}, which must exist, gets its sockets and files and needs a short path. */
    public Guest(GuestRunner runner, GuestImage image, GuestConfig config, Path directory) {
        this.runner = runner;
        this.image = image;
        this.config = config;
        this.directory = directory;
    }

    public String name() {
        return config.name();
    }

    /** The console of the present boot. */
    public Console console() {
        return console;
    }

    /** Starts QEMU; returns before the guest has booted. */
    public synchronized void start() {
        failure = null;
        stopping = false;
        boot++;
        int mine = boot;
        Console fresh = new Console(line -> fail(mine, "kernel trouble: " + line));
        console = fresh;
        try {
            Files.deleteIfExists(directory.resolve("agent"));
            Files.deleteIfExists(directory.resolve("qmp"));
            GuestRunner.Instance started = runner.start(config.name(), image, arguments(), directory);
            instance = started;
            CountDownLatch drained = new CountDownLatch(1);
            Thread.ofPlatform().name("console " + config.name()).daemon(true).start(() -> {
                fresh.drain(started.console());
                drained.countDown();
            });
            started.onExit(() -> exited(mine, started, drained));
            awaitSockets(started);
            agent = new GuestAgent(config.name(), directory.resolve("agent"));
            qmp = new Qmp(config.name(), directory.resolve("qmp"));
        } catch (IOException e) {
            throw new GuestFailure("cannot start " + config.name() + ": " + e.getMessage(), e);
        }
    }

    /** QEMU makes its sockets before it runs the guest; there is no event for it, so this looks every few milliseconds. */
    private void awaitSockets(GuestRunner.Instance started) {
        long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (!Files.exists(directory.resolve("agent")) || !Files.exists(directory.resolve("qmp"))) {
            if (!started.alive()) {
                throw new GuestFailure("QEMU of " + config.name() + " ended at once: " + started.errors());
            }
            if (System.nanoTime() > deadline) {
                throw new GuestFailure("QEMU of " + config.name() + " makes no sockets: " + started.errors());
            }
            try {
                TimeUnit.MILLISECONDS.sleep(5);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new GuestFailure("interrupted while " + config.name() + " started", e);
            }
        }
    }

    /** Waits until the guest has booted and its agent answers; returns its kernel's release. */
    public String awaitBooted() {
        try {
            return agent.awaitReady(BOOT_LIMIT);
        } catch (GuestFailure e) {
            throw new GuestFailure(e.getMessage() + "\n" + report(), e);
        }
    }

    /** Starts a shell script in the guest. */
    public Execution start(String script) {
        return agent.run(script);
    }

    /** Runs a shell script in the guest to its end. */
    public ExecResult exec(String script) {
        return exec(script, EXEC_LIMIT);
    }

    /** Runs a shell script in the guest to its end, for at most {@code limit}. */
    public ExecResult exec(String script, Duration limit) {
        try {
            return start(script).await(limit);
        } catch (GuestFailure e) {
            throw new GuestFailure(e.getMessage() + "\n" + report(), e);
        }
    }

    /** QEMU's monitor. */
    public Qmp qmp() {
        return qmp;
    }

    /** Boots the guest again by its own kernel ({@code reboot -f}) and waits until it is up. */
    public void reboot() {
        rebootBy("echo b > /proc/sysrq-trigger");
    }

    /** Runs a script that ends with another kernel at work, {@code kexec -e} for instance, and waits until that is up. */
    public void rebootBy(String script) {
        agent.rebooting();
        agent.run(script);
        awaitBooted();
    }

    /** Ends QEMU as SIGKILL does. */
    public synchronized void kill() {
        stopping = true;
        if (instance != null) {
            instance.kill();
            // A guest that failed to start may have neither.
            if (agent != null) {
                agent.close();
            }
            if (qmp != null) {
                qmp.close();
            }
        }
    }

    /** Whether QEMU runs. */
    public synchronized boolean alive() {
        return instance != null && instance.alive();
    }

    /** QEMU's process id, to look at it from outside; -1 when it does not run on this host. */
    public synchronized long pid() {
        return instance == null ? -1 : instance.pid();
    }

    /** The guest is about to end by itself, and may. */
    public void expectEnd() {
        stopping = true;
    }

    /** Throws when the guest has failed since it started, even if nothing waited for it. */
    public void assertHealthy() {
        if (failure != null) {
            throw new GuestFailure(config.name() + ": " + failure + "\n" + report());
        }
    }

    /** Console and QEMU's messages, for a report. */
    public String report() {
        String errors = instance == null ? "" : instance.errors();
        return "--- console of " + config.name() + "\n" + (console == null ? "" : console.tail())
                + (errors.isEmpty() ? "" : "\n--- QEMU of " + config.name() + "\n" + errors);
    }

    @Override
    public void close() {
        kill();
    }

    private void exited(int which, GuestRunner.Instance ended, CountDownLatch drained) {
        try {
            // The console may hold the reason: let it be read before the end is announced.
            drained.await(5, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        fail(which, "QEMU ended: " + ended.errors());
    }

    /** What happened to boot number {@code which}: the end of a QEMU that was killed may be told when its successor runs. */
    private void fail(int which, String why) {
        if (stopping || which != boot) {
            return;
        }
        if (failure == null) {
            failure = why;
        }
        console.fail(failure);
        GuestAgent a = agent;
        if (a != null) {
            a.fail(failure);
        }
    }

    private List<String> arguments() {
        List<String> a = new ArrayList<>();
        add(a, "-name", config.name());
        add(a, "-nodefaults", "-no-user-config");
        add(a, "-display", "none");
        add(a, "-accel", image.accelerator());
        // Emulated, the more a processor has the slower it is: QEMU's default, as users run it, moves most.
        String cpu = System.getenv()
                .getOrDefault("BACKPLANE_CPU", image.accelerator().equals("kvm") ? "host" : "");
        if (!cpu.isEmpty()) {
            add(a, "-cpu", cpu);
        }
        add(a, "-smp", Integer.toString(config.cpus()));
        add(a, "-m", config.megabytes() + "M");
        add(a, "-machine", "q35,memory-backend=ram");
        add(a, "-object", "memory-backend-memfd,id=ram,size=" + config.megabytes() + "M,share=on");
        add(a, "-kernel", image.kernel().toString());
        add(a, "-initrd", initrd().toString());
        add(a, "-append", (image.kernelArguments() + " " + String.join(" ", config.append())).strip());
        add(a, "-serial", "stdio");
        add(a, "-qmp", "unix:" + directory.resolve("qmp") + ",server=on,wait=off");
        add(a, "-device", "virtio-serial-pci");
        add(a, "-chardev", "socket,id=agent,path=" + directory.resolve("agent") + ",server=on,wait=off");
        add(a, "-device", "virtserialport,chardev=agent,name=backplane.agent");
        a.addAll(config.devices());
        return a;
    }

    private static void add(List<String> list, String... arguments) {
        list.addAll(List.of(arguments));
    }

    /** One file with all archives: the kernel unpacks them one over the other. */
    private Path initrd() {
        Path joined = directory.resolve("initrd");
        try (var out = Files.newOutputStream(joined)) {
            for (Path part : image.initrds()) {
                Files.copy(part, out);
                long rest = Files.size(part) % 4;
                if (rest != 0) {
                    out.write(new byte[(int) (4 - rest)]);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + joined, e);
        }
        return joined;
    }
}
