import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.mortise.MortiseOptions;

/** Percent-encoded values by key; what has no key is a word. */
record Line(List<String> words, Map<String, String> given) {
  static Line parse(String text) {
    var line = new Line(new ArrayList<>(), new HashMap<>());
    for (String word : text.split(" ")) {
      int end = word.indexOf('=');
      if (end < 0) {
        line.words.add(word);
      } else {
        String value = word.substring(end + 1).replace("+", "%2B");
        line.given.put(word.substring(0, end), URLDecoder.decode(value, StandardCharsets.UTF_8));
      }
    }
    return line;
  }

  String word(int place) {
    return words.get(place);
  }

  long number(String key, long otherwise) {
    return given.containsKey(key) ? Long.parseLong(given.get(key)) : otherwise;
  }

  MortiseOptions options() {
    MortiseOptions options = null;
    for (Map.Entry<String, String> one : given.entrySet()) {
      if (!one.getKey().startsWith("opt.")) continue;
      if (options == null) options = MortiseOptions.DEFAULTS;
      options = options.with(one.getKey().substring("opt.".length()), one.getValue());
    }
    return options;
  }
}
