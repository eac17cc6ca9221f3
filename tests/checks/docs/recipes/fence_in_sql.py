"""A holder that was stopped past its lease writes when it continues. The next holder, in another
language, has written, so the database refuses the late write. So does the transaction."""
import pathlib
from signal import SIGCONT, SIGSTOP

from stage import Program, built, go_module, output_of, run

DATABASE = "report.db"
GO_SQLITE = ("github.com/mattn/go-sqlite3", "1.14.16",
             "/usr/share/gocode/src/github.com/mattn/go-sqlite3")


def sql(text):
    return output_of("sqlite3", "-bail", DATABASE, input=text)


def commands():
    go_module(GO_SQLITE)
    return [built("fence.go", "-tags", "libsqlite3"),
            built("Fence.java", classpath="/usr/share/java/sqlite-jdbc.jar"),
            built("fence.lua"), built("fence.py"), built("fence.c", "-lsqlite3"), built("fence.cpp", "-lsqlite3")]


def a_holder_that_was_replaced_is_refused():
    sql(pathlib.Path("schema.sql").read_text("utf-8"))
    writers = commands()
    for number, command in enumerate(writers):
        old = Program(command, DATABASE, "old", query="?lease=1s")
        old_token = int(old.expect(r"^holds with token (\d+)$")[1])
        old.send(SIGSTOP)
        new = Program(writers[(number + 1) % len(writers)], DATABASE, f"new {number}")
        token = int(new.expect(r"^holds with token (\d+)$")[1])
        assert token > old_token
        new.write_line("")
        new.expect("^written$")
        new.end()
        old.send(SIGCONT)
        old.write_line("")
        old.expect("^refused: a later holder has written$")
        assert sql("SELECT content, fence FROM report") == f"new {number}|{token}"


def the_shell_writes_with_its_token():
    script = ["mortise", "exec", "report", "--", "bash", "fence.sh", DATABASE, "it's new"]
    first = Program(script)
    token = int(first.expect(r"^holds with token (\d+)$")[1])
    assert first.end()[-1] == "written"
    assert sql("SELECT content, fence FROM report") == f"it's new|{token}"
    sql("UPDATE report SET fence = 1000000 * fence")
    assert Program(script).end()[-1] == "refused: a later holder has written"


def a_transaction_begins_with_the_fence():
    text = pathlib.Path("transaction.sql").read_text("utf-8")
    sql("".join(line.removeprefix("-- ") for line in text.splitlines(True)[:2]))

    def changed(token):
        return sql(text.replace(":token", str(token)).replace("COMMIT;", "SELECT changes(); COMMIT;"))

    assert [changed(token) for token in (5, 5, 7, 6)] == ["1", "1", "1", "0"]
    assert sql("SELECT token FROM fence") == "7"


run(a_holder_that_was_replaced_is_refused, the_shell_writes_with_its_token,
    a_transaction_begins_with_the_fence)
