// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.fuzz;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.backplane.vfiouser.protocol.Capabilities;
import dev.backplane.vfiouser.protocol.CapabilitiesException;
import java.util.Arrays;

/** The text of VERSION: it is understood and can be written again, or refused as the peer's fault. */
final class CapabilitiesFuzzTest {
    @FuzzTest
    void understoodOrRefused(byte[] data) {
        // most texts end as they must, so that more than the first check is reached
        byte[] text = data.length > 0 && data[0] % 8 != 0 ? Arrays.copyOf(data, data.length + 1) : data;
        try {
            Capabilities c = Capabilities.parse(text);
            if (!Capabilities.parse(c.toBytes()).equals(c)) {
                throw new AssertionError("written and read again it is another: " + c);
            }
        } catch (CapabilitiesException refused) {
            // as it should be
        }
    }
}
