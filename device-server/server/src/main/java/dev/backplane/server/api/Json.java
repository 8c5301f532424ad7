// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;

/** How values become JSON everywhere in the server: snake_case names, absent values left out. */
public final class Json {
    /** The one mapper; thread-safe. */
    public static final JsonMapper MAPPER = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .defaultPropertyInclusion(JsonInclude.Value.ALL_NON_NULL)
            .build();

    private Json() {}
}
