"""The tests of the page pass against the server behind `local:`, and notice a program that locks
another name."""
import os
import pathlib

from stage import PREFIX, built, go_module, output_of

SHARE = "/usr/share/java"
JUNIT = ":".join(f"{SHARE}/{name}.jar" for name in (
    "junit-jupiter-api junit-jupiter-engine junit-platform-commons junit-platform-engine "
    "junit-platform-launcher junit-platform-console junit-platform-reporting "
    "opentest4j-reporting-events opentest4j apiguardian-api picocli").split())
JARS = f"classes:{PREFIX}/share/java/mortise.jar:{JUNIT}"
LOCAL = pathlib.Path("local").resolve()
os.environ["MORTISE_LOCAL_DIR"] = str(LOCAL)


def test_go():
    return output_of("go", "test", "-count=1", "-timeout", "60s", "-v",
                     "charges.go", "charges_test.go")


def test_java():
    output_of("javac", "-cp", JARS, "-d", "classes", "Charges.java", "ChargesTest.java")
    return output_of("java", "-cp", JARS, "org.junit.platform.console.ConsoleLauncher",
                     "--disable-banner", "--disable-ansi-colors", "--select-class", "ChargesTest")


def test_lua():
    return output_of("lua5.4", "charges_test.lua")


def test_python():
    return output_of("/usr/bin/python3", "-m", "unittest", "charges_test")


def test_c():
    return output_of(*built("charges_test.c", "charges.c"))


def test_cpp():
    return output_of(*built("charges_test.cpp", "charges.cpp"))


def fails(test):
    try:
        test()
    except AssertionError:
        return True
    return False


def main():
    go_module()
    assert test_go().count("--- PASS: ") == 3
    assert "[         3 tests successful      ]" in test_java()
    test_lua()
    test_python()
    test_c()
    test_cpp()
    for file, test in (("charges.go", test_go), ("Charges.java", test_java), ("charges.lua", test_lua),
                       ("charges.py", test_python),
                       ("charges.c", test_c), ("charges.cpp", test_cpp)):
        path = pathlib.Path(file)
        text = path.read_text("utf-8")
        path.write_text(text.replace('"order/', '"another/'), "utf-8")
        assert fails(test), f"the tests of {file} do not notice a wrong name"
    # It would also end by itself.
    output_of("redis-cli", "-s", str(LOCAL / "local.sock"), "SHUTDOWN", "NOSAVE")


main()
