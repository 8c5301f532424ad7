// SPDX-License-Identifier: Apache-2.0
/** Micro benchmarks (JMH) of the library; run by {@code ci/bench micro}. */
package dev.backplane.bench.micro;
