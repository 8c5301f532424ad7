// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import java.util.ArrayList;
import java.util.List;

/** The device server's other mode: pollers that never sleep, for machines that have a core to spare. */
final class PollCase implements Case {
    @Override
    public String name() {
        return "poll";
    }

    @Override
    public String doc() {
        return "tcp, ping and put once more, with a server that polls (serve --poll)";
    }

    @Override
    public List<Measure> run(Context context) {
        GuestPair guests = context.guests(true);
        List<Measure> all = new ArrayList<>();
        all.addAll(TcpCase.measure(context, guests, guests.ways()));
        all.addAll(PingCase.measure(context, guests, guests.ways()));
        all.addAll(PutCase.measure(context, guests));
        return all.stream().map(m -> m.named("--poll: " + m.name())).toList();
    }
}
