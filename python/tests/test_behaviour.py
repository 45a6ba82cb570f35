# SPDX-License-Identifier: Apache-2.0
"""Lifetimes, copies, threads, processes and interruptions."""
import contextlib
import copy
import gc
import multiprocessing
import os
import pathlib
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time
import warnings

import _thread
import numpy as np
import pytest

import carom


def test_samples_that_do_not_terminate_are_counted_in_a_warning(block):
    impact = carom.Impact(**block)
    for options in ({"step": 0.01, "max_steps": 1}, {"max_steps": 2}, {"max_steps": 2, "keep": "extent"}):
        with pytest.warns(carom.Incomplete, match="of 20 samples did not terminate") as said:
            out = impact.sample(20, sampler="lcp", **options)
        missing = int(str(said[0].message).split()[1])
        assert missing == 20 - out.extent["outcomes"] == 20 - out.info["terminated"]
        assert said[0].filename == __file__ and out.info["verdict"] == "complete"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        impact.sample(20)


def test_columns_share_the_memory_of_the_table(block):
    out = carom.Impact(**block).sample(1000, seed=1)
    first, second = out.velocity, np.asarray(carom._carom.table_column(out._table._handle, "v_plus"))
    assert np.shares_memory(first, second) and first.__array_interface__["data"] == second.__array_interface__["data"]
    assert first.shape == (len(out), 3) and first.dtype == np.float64 and not first.flags.owndata and not first.flags.writeable
    assert out["Jn.A"].base is not None and np.shares_memory(out["Jn.A"], out.normal_velocity)


def test_arrays_outlive_what_made_them(block):
    impact = carom.Impact(**block)
    out = impact.sample(5000, seed=1)
    exact = impact.exact()
    arrays = [out.velocity, out.steps, impact.mass, impact.delassus, exact.pieces[0].velocity, out["Jn.B"]]
    copies = [array.copy() for array in arrays]
    word = out.word
    del impact, out, exact
    gc.collect()
    # Whatever was freed wrongly is likely to be written over.
    others = [carom.Impact(**block).sample(5000, seed=seed) for seed in range(5)]
    for array, expected in zip(arrays, copies):
        assert np.array_equal(array, expected)
    assert len(word) == len(arrays[0]) and len(others) == 5


def test_scenes_stay_as_long_as_their_impacts(scenes):
    impact = carom.load(scenes / "compass.yaml").impact
    gc.collect()
    assert impact.resolve("anitescu-potra").velocity.shape == (1, impact.nv)


def test_lifetimes_under_a_debug_allocator(tmp_path):
    """The same tests with freed memory overwritten, and every overrun of a block reported."""
    if "CAROM_DEBUG_ALLOCATOR" in os.environ:
        pytest.skip("this is the inner run")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "outlive or stay or copies or share", __file__],
        env={**os.environ, "PYTHONMALLOC": "debug", "MALLOC_PERTURB_": "165", "MALLOC_CHECK_": "3", "CAROM_DEBUG_ALLOCATOR": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_copies_are_equal(block, scenes):
    impact = carom.Impact(**block, names=["left", "right"], restitution=[0.5, 0.25])
    space = carom.Impact.from_delassus(impact.delassus, impact.contact_velocity(), impact.friction)
    for one in (impact, space):
        for other in (pickle.loads(pickle.dumps(one)), copy.copy(one), copy.deepcopy(one)):
            assert other.names == one.names and np.array_equal(other.delassus, one.delassus)
            assert np.array_equal(other.restitution, one.restitution)
            assert np.array_equal(other.sample(100, seed=2).velocity, one.sample(100, seed=2).velocity)
    for out in (impact.sample(1000, seed=1), impact.resolve("sequential"), impact.exact(), impact.sample(1000, keep="extent")):
        for other in (pickle.loads(pickle.dumps(out)), copy.copy(out), copy.deepcopy(out)):
            assert type(other) is type(out) and other.law == out.law and len(other) == len(out)
            assert other.info == out.info and other.options == out.options and repr(other) == repr(out)
            assert other.columns == out.columns and other.modes() == out.modes()
            for name in out.columns:
                assert repr(other[name]) == repr(out[name])
    scene = carom.load(scenes / "block.yaml")
    assert pickle.loads(pickle.dumps(scene)).hash == scene.hash
    with pytest.raises(Exception):
        carom._carom.table_unpack((("x", "real", 1, "", "", ()),), (1, 1, 1), (b"short",))


def use_in_a_child(impact, seed):
    return impact.sample(3000, seed=seed, threads=2)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes(block, method):
    impact = carom.Impact(**block)
    # Threads of this process are there before the fork.
    expected = [impact.sample(3000, seed=seed, threads=2).info["digest"] for seed in range(4)]
    with multiprocessing.get_context(method).Pool(2) as pool:
        outs = pool.starmap_async(use_in_a_child, [(impact, seed) for seed in range(4)]).get(60)
    assert [out.info["digest"] for out in outs] == expected


def test_threads_work_at_once(block):
    impact = carom.Impact(**block)
    expected = {seed: impact.sample(2000, seed=seed).info["digest"] for seed in range(4)}
    got = {}

    def work(seed):
        for _ in range(5):
            got[seed] = impact.sample(2000, seed=seed, threads=2).info["digest"]

    threads = [threading.Thread(target=work, args=(seed,)) for seed in expected]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == expected


def test_the_interpreter_runs_while_c_computes(block):
    impact = carom.Impact(**block)
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(None)
            time.sleep(0.005)

    thread = threading.Thread(target=tick)
    thread.start()
    impact.sample(200_000, seed=1, threads=1)
    done.set()
    thread.join()
    assert len(ticks) > 3


def count_threads():
    return len(os.listdir("/proc/self/task"))


def make_lcp(n):
    """A positive definite problem with about n/2 pivots."""
    random = np.random.default_rng(1)
    root = random.normal(size=(n, n))
    return root @ root.T / n + 0.01 * np.eye(n), random.normal(size=n)


SCENES = pathlib.Path(__file__).parents[2] / "scenes"
LONG = {
    "sample": lambda impact: impact.sample(10**9, keep="extent", threads=2),
    "routh, many": lambda impact: carom.sample_many([impact] * 10**6, threads=2),
    "exact": lambda impact: carom.load(SCENES / "disks.yaml").impact.exact(seconds=60),
    "lcp": lambda impact: carom.solve_lcp(*make_lcp(2000)),
    "all of an lcp": lambda impact: carom.enumerate_lcp(np.eye(22) * 0.1 + np.random.default_rng(1).normal(size=(22, 22)), -np.ones(22)),
}


@pytest.mark.parametrize("what", LONG)
@pytest.mark.parametrize("how", ["signal", "interrupt_main"])
def test_interruption(block, what, how):
    impact = carom.Impact(**block)
    impact.sample(1000)
    carom._carom.release_threads()
    # The BLAS of NumPy may have threads of its own, which it starts with its first large product and keeps.
    make_lcp(500)
    before = count_threads()

    def interrupt():
        if how == "signal":
            os.kill(os.getpid(), signal.SIGINT)
        else:
            _thread.interrupt_main()

    timer = threading.Timer(0.4, interrupt)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            LONG[what](impact)
    finally:
        timer.cancel()
        timer.join()
    # Threads that were told to end may take a moment.
    for _ in range(100):
        if count_threads() <= before:
            break
        time.sleep(0.01)
    assert count_threads() <= before


def interrupted_when(ready, call):
    """The call ends with KeyboardInterrupt, when another thread finds that it is ready and interrupts the main one."""
    over = threading.Event()

    def wait():
        while not over.is_set() and not ready():
            time.sleep(0.001)
        if not over.is_set():
            _thread.interrupt_main()

    thread = threading.Thread(target=wait)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
            over.set()
            thread.join()
    finally:
        over.set()
        thread.join()


@pytest.mark.parametrize("what", ["contains", "hull", "dumps", "loads"])
def test_long_questions_and_copies_are_interrupted(what, block, scenes):
    finished = []
    delay = 0.05
    if what == "contains":
        impact = carom.Impact(**block)
        velocities = np.random.default_rng(1).normal(size=(4_000_000, 3))
        out = impact.sample(2**14)
        call = lambda: finished.append(out.contains(velocities))  # noqa: E731
    elif what == "hull":
        out = carom.load(scenes / "disks.yaml").impact.sample(2**13)
        call = lambda: finished.append(out.hull(list(out.axes())[:6]))  # noqa: E731
    else:
        out = carom.Impact(**block).sample(2**19)
        packed = pickle.dumps(out)
        call = lambda: finished.append(pickle.dumps(out) if what == "dumps" else pickle.loads(packed))  # noqa: E731
        # Copies are quick: they are interrupted after a tenth of their time.
        start = time.monotonic()
        call()
        delay = (time.monotonic() - start) / 10
    # On a busy machine the thread that interrupts may wake when the call is over: it is then made again.
    for _ in range(20):
        finished.clear()
        start = time.monotonic()
        with contextlib.suppress(pytest.fail.Exception):
            interrupted_when(lambda: time.monotonic() > start + delay, call)
        if not finished:
            break
    assert not finished


def test_files_are_interrupted(block, tmp_path):
    """A file that is given up on is not there; and other threads run meanwhile, as the one that interrupts."""
    out = carom.Impact(**block).sample(2**19)
    interrupted_when(lambda: any(tmp_path.iterdir()), lambda: out.save(tmp_path / "set.h5"))
    assert not list(tmp_path.iterdir())
    out.save(tmp_path / "set.h5")
    finished = []
    start = time.monotonic()
    interrupted_when(lambda: time.monotonic() > start + 0.1, lambda: finished.append(carom.read(tmp_path / "set.h5")))
    assert not finished
    assert np.array_equal(carom.read(tmp_path / "set.h5").velocity, out.velocity)


def test_forks_while_another_thread_saves(block, tmp_path):
    """The child can save, too: it does not inherit the locks of a thread that it does not have, h5py's among them."""
    pytest.importorskip("h5py")
    out = carom.Impact(**block).sample(20_000)
    out.save(tmp_path / "parent.h5")
    done = threading.Event()

    def save():
        while not done.is_set():
            out.save(tmp_path / "parent.h5")

    thread = threading.Thread(target=save)
    thread.start()
    try:
        for _ in range(10):
            child = os.fork()
            if child == 0:
                try:
                    out.save(tmp_path / "child.h5")
                    os._exit(0)
                finally:
                    os._exit(1)
            deadline = time.monotonic() + 60
            ended, status = 0, None
            while not ended and time.monotonic() < deadline:
                ended, status = os.waitpid(child, os.WNOHANG)
                time.sleep(0.001)
            if not ended:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            assert ended and status == 0
    finally:
        done.set()
        thread.join()
    assert len(carom.read(tmp_path / "child.h5")) == len(out)


def test_progress_and_its_exceptions(block):
    impact = carom.Impact(**block)
    calls = []
    impact.sample(10_000, progress=lambda done, total: calls.append((done, total)))
    assert calls == sorted(calls) and calls[-1][0] == calls[-1][1] > 10

    def refuse(done, total):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        impact.sample(10_000, progress=refuse)
    assert len(impact.sample(1000, progress=True)) > 900


def test_incomplete_answers_are_warnings(block):
    with pytest.warns(carom.Incomplete, match="routh: the answer is budget-spent") as caught:
        out = carom.Impact(**block).resolve("routh", max_steps=1, step=1e-3)
    assert caught[0].filename == __file__
    assert out.info["verdict"] == "budget-spent" and not out.complete and len(out) == 1


def test_what_is_given_and_not_used_is_said(block, tmp_path):
    bouncing = carom.Impact(**{**block, "restitution": [0, 0.8]})
    sentence = 'restitution of contact {} is given, and halm-posa does not use it: hypothesis="poisson" makes it bounce'.format(
        bouncing.names[1]
    )
    with pytest.warns(carom.Caveat) as caught:
        out = bouncing.sample(64)
    assert [str(one.message) for one in caught] == [sentence] and caught[0].filename == __file__
    assert out.caveats == (sentence,) and sentence in repr(out)
    out.save(tmp_path / "set.h5")
    assert pickle.loads(pickle.dumps(out)).caveats == carom.read(tmp_path / "set.h5").caveats == out.caveats
    # One sentence for all laws of a comparison, and none where everything is used or nothing is given.
    with pytest.warns(carom.Caveat) as caught:
        both = carom.compare(bouncing, ["anitescu-potra", "moreau", "sequential"])
    assert len(caught) == 1 and both.caveats[0] in repr(both)
    assert "anitescu-potra and sequential do not use it" in both.caveats[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bouncing.sample(64, hypothesis="poisson").caveats == ()
        assert bouncing.resolve("moreau").caveats == ()
        assert carom.Impact(**block).resolve("anitescu-potra").caveats == ()
    with pytest.warns(carom.Caveat, match="restitution is given, and halm-posa does not use it"):
        carom.Impact(**block).sample(64, restitution=0.5)
    # Where many are asked, or the worst is searched for, it is said once.
    for ask in (
        lambda: carom.sample_many([carom.Impact(**block), bouncing]),
        lambda: carom.sample_many(**{**block, "restitution": [[0, 0], [0, 0.8]]}),
        lambda: carom.worst(bouncing, f"Jn.{bouncing.names[0]}", evaluations=16, law="routh"),
    ):
        with pytest.warns(carom.Caveat, match=f"restitution of contact {bouncing.names[1]} is given, and routh does not use it") as caught:
            ask()
        assert len(caught) == 1 and caught[0].filename == __file__
    apart = carom.Impact(**{**block, "velocity": -np.asarray(block["velocity"], dtype=float)})
    with pytest.warns(carom.Caveat, match="no contact approaches: nothing collides"):
        assert "nothing collides" in repr(apart.resolve("routh"))


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="AddressSanitizer keeps what is freed for a while")
def test_memory_does_not_grow(block):
    """100,000 calls: what each would leave, multiplied, would be seen."""
    impact = carom.Impact(**block)

    def calls(count):
        for _ in range(count):
            out = impact.resolve("anitescu-potra")
            out.velocity, out.info, out.normal_impulse
        for _ in range(count // 10):
            carom.Impact(**block).contact_velocity()
            try:
                impact.resolve("routh", sede=1)
            except carom.InputError:
                pass
        for _ in range(count // 100):
            pickle.loads(pickle.dumps(out))
            carom.solve_lcp([[1.0]], [-1.0])

    calls(2000)
    gc.collect()
    before = resident()
    calls(100_000)
    gc.collect()
    assert resident() - before < 4 << 20


def test_results_do_not_depend_on_threads(block):
    impact = carom.Impact(**block)
    digests = {impact.sample(5000, seed=4, threads=threads).info["digest"] for threads in (1, 2, 3)}
    assert len(digests) == 1
    rows = [carom.sample_many([impact] * 300, seed=4, threads=threads).velocity for threads in (1, 2, 3)]
    assert all(np.array_equal(row, rows[0]) for row in rows)
