// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.command;

import picocli.CommandLine.IVersionProvider;

/** The version of the program, as its jar's manifest says. */
public final class VersionProvider implements IVersionProvider {
    /** The version, or {@code development} when the program does not run from its jar. */
    public static String version() {
        String version = VersionProvider.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }

    @Override
    public String[] getVersion() {
        return new String[] {"backplane " + version(), "Java " + Runtime.version()};
    }
}
