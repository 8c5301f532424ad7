// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.command;

import picocli.CommandLine.Command;

@Command(name = "serve")
public final class ServeCommand {}
