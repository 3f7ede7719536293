"""cpython_results.py - runs tests of CPython's own suite and says of each how it ended.

    cpython_results.py --list MODULE...     the classes of tests, one a line
    cpython_results.py RESULTS NAME...      runs them; lines "test<TAB>status" go to RESULTS
"""
import faulthandler
import importlib
import sys
import unittest

from test import support

# No network, no gigabytes.
support.use_resources = ["cpu", "subprocess", "walltime"]


class Results(unittest.TextTestResult):
    out = None

    def say(self, test, status):
        self.out.write(f"{test.id()}\t{status}\n")
        self.out.flush()

    def addSuccess(self, test):
        super().addSuccess(test)
        self.say(test, "ok")

    def addError(self, test, err):
        super().addError(test, err)
        self.say(test, "error")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.say(test, "failed")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.say(test, "failed")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.say(test, "skipped")

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.say(test, "expected failure")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.say(test, "unexpected success")


def classes_of(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from classes_of(test)
        else:
            yield test.id().rpartition(".")[0]


def main():
    load = unittest.defaultTestLoader.loadTestsFromName
    if sys.argv[1] == "--list":
        for module in sys.argv[2:]:
            importlib.import_module(module)
            print("\n".join(sorted(set(classes_of(load(module))))))
        return 0
    faulthandler.enable()
    with open(sys.argv[1], "w", encoding="utf-8") as Results.out:
        tests = unittest.TestSuite(load(name) for name in sys.argv[2:])
        return not unittest.TextTestRunner(verbosity=2, resultclass=Results).run(tests).wasSuccessful()


if __name__ == "__main__":
    sys.exit(main())
