// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import java.util.List;

/** One thing that is measured. */
interface Case {
    /** The word that selects it on the command line. */
    String name();

    /** One line: what it measures and against what. */
    String doc();

    /** Measures; prints nothing but through the context. */
    List<Measure> run(Context context);
}
