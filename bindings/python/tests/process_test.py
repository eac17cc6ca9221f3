"""Fork, multiprocessing, and the end of the interpreter in any order."""

from __future__ import annotations

import os
import warnings

import mortise
from support import PATIENCE_S, Case, main, run_program


class ForkTest(Case):
    def test_a_child_opens_a_client_of_its_own(self) -> None:
        self.lock = self.client.lock(self.name)
        with self.lock as hold:
            hold.on_lost(print)
            with warnings.catch_warnings():
                # Python 3.12 and later warn of the threads, of which a client has one.
                warnings.simplefilter("ignore", DeprecationWarning)
                child = os.fork()
            if child == 0:
                os._exit(self.in_child())
            _, status = os.waitpid(child, 0)
            self.assertEqual(os.waitstatus_to_exitcode(status), 0)
            self.assertTrue(hold.is_held)
        with self.client.lock(self.name):
            pass

    def in_child(self) -> int:
        for call in (self.client.ping, lambda: self.client.lock(self.name), self.client.stats,
                     self.lock.acquire, lambda: self.client.watch_log(print)):
            try:
                call()
                return 2
            except mortise.Forked as error:
                if "fork" not in str(error):
                    return 3
        if self.lock.is_held:
            return 6
        self.lock.close()
        self.client.close()
        with mortise.Client(os.environ["MORTISE_TEST_URL"]) as client:
            if client.lock(self.name).try_acquire() is not None:
                return 4
            with client.lock("child" + self.name) as hold:
                return 0 if hold.is_held else 5

    def test_a_child_may_be_interrupted(self) -> None:
        run_program("""
            import os, signal, sys, threading, time, warnings
            warnings.simplefilter("ignore", DeprecationWarning)
            client = mortise.Client(URL)
            client.lock("first").acquire(timeout=0).release()  # the main thread has waited
            child = os.fork()
            if child == 0:
                with mortise.Client(URL) as client, mortise.Client(URL).lock("one"):
                    try:
                        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
                        client.lock("one").acquire()
                    except KeyboardInterrupt:
                        os._exit(0)
                os._exit(1)
            _, status = os.waitpid(child, 0)
            assert status == 0, status
        """)

    def test_workers_of_multiprocessing_open_their_own_clients(self) -> None:
        for method in ("fork", "spawn", "forkserver"):
            with self.subTest(method):
                self.in_workers(method)

    def in_workers(self, method: str) -> None:
        # Workers find functions in a file.
        path = f"{os.path.dirname(os.environ['MORTISE_TEST_URL'][len('unix://'):])}/work_{method}.py"
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"""
import multiprocessing
import pathlib
import mortise
client = None

def begin():
    global client
    client = mortise.Client({os.environ['MORTISE_TEST_URL']!r})

def add(path):
    with client.lock("workers {method}", timeout={PATIENCE_S}):
        count = int(path.read_text())
        path.write_text(str(count + 1))

if __name__ == "__main__":
    path = pathlib.Path({path + '.count'!r})
    path.write_text("0")
    pool = multiprocessing.get_context({method!r}).Pool(3, begin)
    pool.map(add, [path] * 30)
    pool.close()
    pool.join()
    print(path.read_text())
""")
        self.addCleanup(os.unlink, path)
        self.addCleanup(os.unlink, path + ".count")
        printed = run_program("import runpy, sys\nsys.argv = sys.argv[1:]\n"
                              "runpy.run_path(sys.argv[0], run_name='__main__')", path)
        self.assertEqual(printed.strip(), "30")


class InterpreterTest(Case):
    def test_other_interpreters_of_a_process_are_refused(self) -> None:
        printed = run_program("""
            import importlib, os, sys
            name = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
            interpreters = importlib.import_module(name)
            other = interpreters.create(**({"isolated": False} if name[1] == "x" else
                                           {"config": "legacy"}))
            interpreters.run_string(other, f\"\"\"if True:
                import sys
                sys.path[:] = {sys.path!r}
                try:
                    import mortise
                except ImportError as error:
                    print(error, flush=True)
            \"\"\")
            interpreters.destroy(other)
            with mortise.Client(URL) as client, client.lock("main") as hold:
                print(hold.is_held)
        """)
        self.assertIn("main interpreter", printed)
        self.assertIn("True", printed)


class ExitTest(Case):
    def test_the_end_of_a_program_frees_in_any_order(self) -> None:
        for last in ("", "del client", "del lock", "del hold", "del client, lock, hold",
                     "import sys; sys.exit()", "client.close()", "lock.close()",
                     "import os; os._exit(0)"):
            with self.subTest(last):
                run_program(f"""
                    client = mortise.Client(URL, lease=2)
                    lock = client.lock({self.name!r}, timeout={PATIENCE_S})
                    hold = lock.acquire()
                    hold.on_lost(print)
                    client.log_to()
                    cycle = [hold]
                    cycle.append(cycle)
                    {last}
                """)

    def test_daemon_threads_do_not_prevent_the_end(self) -> None:
        run_program(f"""
            import threading
            client = mortise.Client(URL)
            hold = client.lock({self.name!r}).acquire()
            waiter = mortise.Client(URL).lock({self.name!r})
            threading.Thread(target=waiter.acquire, daemon=True).start()
            while client.lock({self.name!r}).query().waiter_count < 1:
                pass
        """)
        self.assert_free()

    def test_an_exception_ends_a_program_with_its_holds(self) -> None:
        run_program(f"""
            client = mortise.Client(URL)
            with client.lock({self.name!r}):
                raise SystemExit(3)
        """, expect=3)
        self.assert_free()

    def test_a_loop_that_ends_with_waiters_frees_them(self) -> None:
        run_program(f"""
            import asyncio
            async def work():
                client = mortise.Client(URL)
                hold = await client.lock({self.name!r}).acquire_async()
                tasks = [asyncio.create_task(client.lock({self.name!r}).acquire_async())
                         for _ in range(3)]
                await asyncio.sleep(0)
            asyncio.run(work())
        """)
        self.assert_free()

    def test_the_option_releases_at_the_exit(self) -> None:
        run_program(f"""
            import ctypes
            client = mortise.Client(URL, release_at_exit=True, lease=600)
            hold = client.lock({self.name!r}).acquire()
            ctypes.CDLL(None).exit(0)  # frees no object of Python
        """)
        self.assert_free()


main()
