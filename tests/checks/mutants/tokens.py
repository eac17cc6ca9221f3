"""Sources as tokens, so that a mutant finds its place however the source is wrapped.

Words and single characters are tokens, also within string literals. Blanks, line breaks, comments
and the seams of adjacent C++ literals are not.
"""
import re
from typing import NamedTuple

CPP = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<raw>R"(?P<mark>[^()\s"]*)\(.*?\)(?P=mark)")
      | (?P<string>"(?:\\.|[^"\\\n])*"?|(?<!\w)'(?:\\.|[^'\\\n])+')
      | (?P<word>\d(?:'?\w)*|\w+)
      | (?P<sign>\S)""", re.VERBOSE | re.DOTALL)
LUA = re.compile(
    r"""(?P<comment>--[^\n]*)
      | (?P<string>"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)
      | (?P<word>\w+)
      | (?P<sign>\S)""", re.VERBOSE)
PART = re.compile(r"\w+|\S")
SEAM = re.compile(r'"\s+"')


class Token(NamedTuple):
    text: str
    begin: int
    end: int
    is_code: bool  # not within a string literal


def tokens_of(text, is_lua):
    """The tokens of a source, or of a part of one."""
    grammar = LUA if is_lua else CPP
    found, position = [], 0
    while match := grammar.search(text, position):
        position = match.end()
        kind = match.lastgroup if match.lastgroup != "mark" else "raw"
        if kind == "comment":
            continue
        if kind in ("word", "sign"):
            found.append(Token(match.group(), match.start(), match.end(), True))
            continue
        parts = [Token(part.group(), part.start(), part.end(), False)
                 for part in PART.finditer(text, match.start(), match.end())]
        is_split = (kind == "string" and not is_lua and found and found[-1].text == '"' and
                    not found[-1].is_code and parts[0].text == '"' and
                    SEAM.fullmatch(text, found[-1].begin, parts[0].end))
        if is_split:
            found.pop()
            parts = parts[1:]
        found += parts
    return found


def places_of(source, pattern):
    """Where the texts of a pattern's tokens follow each other in a source's: pairs of indexes."""
    texts_of_pattern = [token.text for token in pattern]
    texts = [token.text for token in source]
    size, first = len(texts_of_pattern), texts_of_pattern[0]
    return [(at, at + size) for at, text in enumerate(texts)
            if text == first and texts[at:at + size] == texts_of_pattern]


def closing(source, at):
    """The index of the bracket that closes the one at an index."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    opening, depth = source[at].text, 0
    for index in range(at, len(source)):
        if not source[index].is_code:
            continue
        depth += (source[index].text == opening) - (source[index].text == pairs[opening])
        if depth == 0:
            return index
    return len(source) - 1


def cpp_body(source, at):
    """The span from the parameters of a definition at an index to its end, or None for a call."""
    if at + 1 >= len(source) or source[at + 1].text != "(":
        return None
    index = closing(source, at + 1) + 1
    is_constructor = False
    while index < len(source):
        text = source[index].text
        if text == "{" and not (is_constructor and source[index - 1].text not in ")}"):
            return at, closing(source, index) + 1
        if text in "({":
            index = closing(source, index)
        elif text == ":":
            is_constructor = True
        elif text in ";)}]=+/?.|\"" or (text == "," and not is_constructor):
            return None
        index += 1
    return None


def lua_body(source, at):
    """The span of a function of Lua that is defined at an index, or None for a call."""
    if at == 0 or source[at - 1].text != "function":
        return None
    depth = 1
    for index in range(at, len(source)):
        if source[index].is_code:
            depth += source[index].text in ("if", "do", "function", "repeat")
            depth -= source[index].text in ("end", "until")
        if depth == 0:
            return at, index + 1
    return None


def bodies_of(source, name, is_lua):
    """The spans of all functions of a name."""
    body = lua_body if is_lua else cpp_body
    spans = [body(source, at) for at, token in enumerate(source)
             if token.is_code and token.text == name]
    return [span for span in spans if span]
