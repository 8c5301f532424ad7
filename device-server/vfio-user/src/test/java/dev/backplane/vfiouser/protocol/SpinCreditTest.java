// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

final class SpinCreditTest {
    private final SpinCredit credit = new SpinCredit();

    /** Sleeps until spinning starts; returns how often. */
    private int untilSpinning() {
        int n = 0;
        while (!credit.worthwhile()) {
            credit.slept(true);
            n++;
        }
        return n;
    }

    @Test
    void itStartsAfterSeveralNearMessagesInARow() {
        assertFalse(credit.worthwhile());
        for (int i = 0; i < SpinCredit.NEAR_TO_START - 1; i++) {
            credit.slept(true);
        }
        credit.slept(false);
        assertFalse(credit.worthwhile());
        assertEquals(SpinCredit.NEAR_TO_START, untilSpinning());
    }

    @Test
    void whatPaysGoesOnOverSomeFailures() {
        untilSpinning();
        for (int i = 0; i < 100; i++) {
            credit.spun(true);
        }
        for (int i = 0; i < SpinCredit.MOST - 1; i++) {
            credit.spun(false);
            assertTrue(credit.worthwhile(), "after " + i + " failures");
        }
        credit.spun(false);
        assertFalse(credit.worthwhile());
    }

    @Test
    void whatNeverPaysIsTriedLessAndLess() {
        int spins = 0;
        for (int i = 0; i < 100_000; i++) {
            if (credit.worthwhile()) {
                credit.spun(false);
                spins++;
            } else {
                credit.slept(true); // near, whenever it sleeps: the peer shares the processor
            }
        }
        assertTrue(spins < 100_000 / SpinCredit.MOST_TO_START * SpinCredit.FIRST + 20, "spins for nothing: " + spins);
    }

    @Test
    void onceItPaysForLongItIsTriedSoonAgain() {
        for (int i = 0; i < 3; i++) {
            untilSpinning();
            credit.spun(false);
            credit.spun(false);
        }
        assertEquals(256, untilSpinning());
        for (int i = 0; i < 2 * SpinCredit.MOST; i++) {
            credit.spun(true);
        }
        while (credit.worthwhile()) {
            credit.spun(false);
        }
        assertEquals(4 * SpinCredit.NEAR_TO_START, untilSpinning());
    }
}
