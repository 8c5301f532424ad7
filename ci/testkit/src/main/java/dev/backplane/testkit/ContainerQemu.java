// SPDX-License-Identifier: Apache-2.0
package dev.backplane.testkit;

import com.github.dockerjava.api.command.InspectContainerResponse;
import com.github.dockerjava.api.command.WaitContainerResultCallback;
import com.github.dockerjava.api.exception.ConflictException;
import com.github.dockerjava.api.exception.NotFoundException;
import com.github.dockerjava.api.model.WaitResponse;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.testcontainers.containers.BindMode;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.output.OutputFrame.OutputType;
import org.testcontainers.utility.DockerImageName;

/**
 * Runs QEMU in a container, from the image that {@code BACKPLANE_RUNNER_IMAGE} names ({@code images/container} makes it).
 * The container has no network; it sees the guest's image files, and the folder above the guest's, where the device
 * server's sockets are, under the same paths as the test.
 */
public final class ContainerQemu implements GuestRunner {
    /** The variable that names the image. */
    public static final String IMAGE = "BACKPLANE_RUNNER_IMAGE";

    private static final String PROGRAM = "qemu-system-x86_64";
    private static final int PIPE_BYTES = 1 << 16;

    private final String image;

    /** With the image of the environment. */
    public ContainerQemu() {
        this(System.getenv(IMAGE));
    }

    /** With that image. */
    public ContainerQemu(String image) {
        if (image == null || image.isEmpty()) {
            throw new IllegalStateException(IMAGE + " is not set: run the tests by way of images/container");
        }
        this.image = image;
    }

    @Override
    public Instance start(String name, GuestImage guest, List<String> arguments, Path directory) throws IOException {
        PipedOutputStream console = new PipedOutputStream();
        Running running = new Running(new PipedInputStream(console, PIPE_BYTES));
        String[] command = new String[arguments.size() + 1];
        command[0] = PROGRAM;
        for (int i = 0; i < arguments.size(); i++) {
            command[i + 1] = arguments.get(i);
        }
        @SuppressWarnings("resource") // killed by the instance
        GenericContainer<?> container = new GenericContainer<>(DockerImageName.parse(image))
                .withNetworkMode("none")
                .withCommand(command)
                .withLogConsumer(frame -> running.output(frame.getType(), frame.getBytes(), console));
        for (Path shared : shared(guest, directory)) {
            container.withFileSystemBind(shared.toString(), shared.toString(), BindMode.READ_WRITE);
        }
        container.start();
        running.started(container);
        return running;
    }

    /** Folders that QEMU has to see. */
    private static Set<Path> shared(GuestImage guest, Path directory) {
        Set<Path> all = new LinkedHashSet<>();
        all.add(directory.toAbsolutePath().getParent());
        all.add(guest.kernel().toAbsolutePath().getParent());
        guest.initrds().forEach(i -> all.add(i.toAbsolutePath().getParent()));
        return all;
    }

    /** A container with QEMU in it. */
    private static final class Running implements Instance {
        private final InputStream console;
        private final StringBuilder errors = new StringBuilder();
        private GenericContainer<?> container;
        /** Its name at the engine; the container itself forgets it when it is stopped. */
        private String id;

        private volatile boolean killed;

        Running(InputStream console) {
            this.console = console;
        }

        void started(GenericContainer<?> started) {
            container = started;
            id = started.getContainerId();
        }

        /** What QEMU writes, as the engine hands it over. */
        void output(OutputType type, byte[] bytes, OutputStream to) {
            try {
                if (type == OutputType.END) {
                    to.close();
                } else if (type == OutputType.STDERR) {
                    synchronized (errors) {
                        errors.append(new String(bytes, StandardCharsets.UTF_8));
                    }
                } else {
                    to.write(bytes);
                    to.flush();
                }
            } catch (IOException e) {
                // Nobody reads the console any more.
                return;
            }
        }

        @Override
        public InputStream console() {
            return console;
        }

        @Override
        public String errors() {
            synchronized (errors) {
                return errors.toString().strip();
            }
        }

        @Override
        public boolean alive() {
            if (killed) {
                return false;
            }
            try {
                InspectContainerResponse now =
                        container.getDockerClient().inspectContainerCmd(id).exec();
                return Boolean.TRUE.equals(now.getState().getRunning());
            } catch (NotFoundException gone) {
                return false;
            }
        }

        @Override
        public void kill() {
            if (killed) {
                return;
            }
            try {
                container.getDockerClient().killContainerCmd(id).exec();
            } catch (NotFoundException | ConflictException gone) {
                // It has ended by itself.
            }
            killed = true;
            container.stop();
        }

        @Override
        public void onExit(Runnable action) {
            container.getDockerClient().waitContainerCmd(id).exec(new WaitContainerResultCallback() {
                @Override
                public void onNext(WaitResponse ended) {
                    super.onNext(ended);
                    action.run();
                }
            });
        }
    }
}
