"""What no output may have: the passwords of a scenario, and the names of its users."""
import base64
import urllib.parse


class Revealed(Exception):
    """A secret is in some output."""


def forms_of(secret):
    """As it is, percent-encoded, and as base64 of a text that it is in the midst of."""
    raw = secret.encode()
    yield secret
    yield urllib.parse.quote(secret, safe="")
    for before in range(3):
        whole = base64.b64encode(b" " * before + raw).decode()
        yield whole[(before * 8 + 5) // 6:(before + len(raw)) * 8 // 6]


def secrets_of(scenario):
    """The secrets that its steps give a client: `redis://USER:PASSWORD@…`, `login`, `user`,
    `password`, and a file's text. They are words that occur nowhere else."""
    found = set()
    for step in scenario["steps"]:
        logins = [step.get("login", ""), ":".join((step.get("user", ""), step.get("password", "")))]
        if "@" in (step.get("url") or ""):
            logins.append(step["url"].split("://")[-1].rsplit("@", 1)[0])
        if step.get("write") == "password":
            logins.append(":" + step["text"])
        for login in logins:
            found |= {urllib.parse.unquote(part).strip() for part in login.split(":", 1)}
    found -= {""}
    if short := [word for word in found if len(word) < 8]:
        raise ValueError(f"give users and passwords of 8 letters or more: {short}")
    return found


class Secrets:
    """Looks for them in all output of a run."""

    def __init__(self, words):
        self.forms = {form: word for word in words for form in forms_of(word)}

    def check(self, text, where):
        """Text as it came, and with its percent-encoding undone."""
        for spelling in (text, urllib.parse.unquote(text)):
            for form, word in self.forms.items():
                if form in spelling:
                    raise Revealed(f"{where} tells {word!r}: {spelling}")

    def check_server(self, ask, name):
        """What other users of a server see of its clients, without the server's own record of their names."""
        fields = [field for field in ask("CLIENT LIST").split() if not field.startswith("user=")]
        records = ask("EVAL \"local t={} for _,k in ipairs(redis.call('KEYS','*')) do t[#t+1]=k "
                      "if redis.call('TYPE',k).ok=='string' then t[#t+1]=redis.call('GET',k) end end "
                      "return t\" 0")
        self.check("\n".join([*fields, records]), f"the server {name}")
