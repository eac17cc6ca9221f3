package org.mortise;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class ExaminationTest {
  @Test
  void tellsWhatWasFoundLast() throws Exception {
    try (var server = new Redis();
        var client = MortiseClient.open(server.url())) {
      assertEquals(Verdict.UNKNOWN, client.examination().worst());
      Examination found = client.examine();
      assertEquals(found, client.examination());
      assertEquals(Verdict.WARN, found.worst());
      for (Examination.Finding one : found.findings()) {
        assertTrue(found.json().contains("\"name\":\"" + one.name() + "\""), one.name());
        assertEquals(one.verdict() == Verdict.OK, one.mend().isEmpty(), one.name());
      }
    }
  }

  @Test
  void refusesAServerThatEvicts() throws Exception {
    try (var server = new Redis()) {
      server.command("CONFIG", "SET", "maxmemory", "1gb");
      server.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
      var strict =
          MortiseClient.builder(server.url())
              .options(MortiseOptions.DEFAULTS.withExamination("strict"));
      var refused = assertThrows(MortiseException.class, strict::open);
      assertEquals(Status.REFUSED, refused.status());
      assertTrue(refused.getMessage().contains("maxmemory_policy"), refused.getMessage());
    }
  }
}
