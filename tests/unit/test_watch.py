"""The alarm: bets are fair, false alarms as rare as promised, changes are found, and it goes on where it was."""

import csv
import io
import json
import math
import threading
import time
from itertools import product

import numpy as np
import pytest
from scipy import integrate, stats

import imrc
from imrc.cli import main
from imrc.commands import watch
from imrc.plots.evolving import watch_chart
from imrc.watch import Alarm, MoreThanUsual, Watcher, arrival_sentences, bet, first_alarm, watch_story

ZEROS = np.zeros(10, dtype=np.int64)


def test_bets_are_fair():
    # Over t = -ln p the integrand is smooth.
    total, _ = integrate.quad(lambda t: bet(math.exp(-t)) * math.exp(-t), 0.0, 600.0, limit=500)
    assert total == pytest.approx(1.0, abs=2e-3)  # what is left beyond falls like 1 / t
    for p in (0.9, 0.3, 1e-3, 1e-9):
        log = math.log(p)
        assert bet(p) == pytest.approx((1 - p + p * log) / (p * log**2))
    assert bet(1.0) == 0.5
    assert bet(1.0 - 1e-7) == pytest.approx(0.5, abs=1e-6)
    assert np.isfinite(bet(0.0))


def p_values(seed: int, count: int, memory: int = 2000, permutations: int = 49) -> tuple[list[float], Alarm]:
    generator = np.random.default_rng([seed, 1])
    alarm = Alarm(permutations=permutations, memory=memory, seed=seed)
    found = [alarm.step(generator.exponential(size=(10, 2)), generator.integers(0, 2, 10)) for _ in range(count)]
    return found[1:], alarm


def test_the_capital_is_the_mixture_of_restarted_bets():
    p, alarm = p_values(0, 31)
    e = np.array([bet(value) for value in p])
    mixture = sum(np.prod(e[j:]) / ((j + 1) * (j + 2)) for j in range(len(p)))
    assert math.exp(alarm.log_evidence) == pytest.approx(mixture)


@pytest.mark.slow
@pytest.mark.parametrize("memory", [2000, 30])
def test_p_values_are_uniform_and_independent_on_identical_tasks(memory):
    p = np.array([p_values(seed, 21, memory)[0] for seed in range(150)])
    assert stats.kstest(p.ravel(), "uniform").pvalue > 0.01
    following = stats.spearmanr(p[:, :-1].ravel(), p[:, 1:].ravel())
    assert following.pvalue > 0.01


@pytest.mark.slow
def test_false_alarms_are_as_rare_as_promised():
    # 1,000 sequences of 100 tasks were run once: tests/benchmarks/README.md.
    hits = sum(p_values(seed, 40)[1].alarm is not None for seed in range(200))
    assert stats.binomtest(hits, 200, 0.05, alternative="greater").pvalue > 0.01


@pytest.mark.parametrize(("jump", "least", "within"), [(0.5, 0.8, 10), (1.0, 1.0, 4), (2.0, 1.0, 3)])
def test_jumps_are_found(jump, least, within):
    delays = []
    for seed in range(30):
        generator, alarm = np.random.default_rng(seed), Alarm(permutations=199, seed=seed)
        for j in range(45):
            shift = jump if j >= 20 else 0.0
            alarm.step(generator.standard_normal((10, 5)) + shift, ZEROS)
        delays.append(math.inf if alarm.alarm is None else alarm.alarm + 1 - 20)
    assert min(delays) > 0
    assert np.mean(np.isfinite(delays)) >= least
    assert np.median(delays) <= within


def test_a_change_of_class_shares_is_found():
    generator, alarm = np.random.default_rng(0), Alarm(permutations=199)
    for j in range(40):
        alarm.step(generator.standard_normal((20, 3)), (generator.random(20) < (0.2 if j < 20 else 0.8)).astype(int))
    assert (alarm.alarm or 0) > 19


def test_the_second_lamp_is_rare_on_walks_and_lit_by_a_jump():
    lit, jumps = [], []
    for seed in range(20):
        generator, usual = np.random.default_rng(seed), MoreThanUsual()
        mean = np.zeros(5)
        for j in range(60):
            mean = mean + math.sqrt(0.05) * generator.standard_normal(5) + (2.0 if j == 50 else 0.0)
            lamp = usual.step(np.column_stack([np.ones(10), mean + generator.standard_normal((10, 5))]), ZEROS, 1)
            (jumps if j == 50 else lit).append(lamp)
    assert np.mean(jumps) >= 0.95
    assert np.mean(lit) < 0.03


def test_memory_is_flat(tmp_path):
    watcher, generator = Watcher(permutations=9, memory=50), np.random.default_rng(0)
    sizes = []
    for step in range(800):
        watcher.arrive(generator.standard_normal((5, 2)), np.array([0, 1, 0, 1, 0]))
        if step in (100, 799):
            watcher.save(tmp_path / "state.npz")
            sizes.append((tmp_path / "state.npz").stat().st_size)
    assert abs(sizes[1] - sizes[0]) < 100


def test_it_goes_on_bit_for_bit_where_it_was(tmp_path):
    sequence = imrc.datasets.load("random_walk", tasks=14, samples=30)
    straight = Watcher(permutations=99, memory=100, seed=3)
    expected = list(straight.read(sequence))
    watcher, found = Watcher(permutations=99, memory=100, seed=3), []
    for tasks in (1, 2, 5, 5, 6, 14):
        found += watcher.read(sequence, tasks)
        watcher.save(tmp_path / "state.npz")
        watcher = Watcher.load(tmp_path / "state.npz")
    assert repr(found) == repr(expected)
    assert watcher.alarm.log_evidence == straight.alarm.log_evidence
    assert list(tmp_path.iterdir()) == [tmp_path / "state.npz"]


def test_classes_may_come_later():
    watcher, generator = Watcher(permutations=19), np.random.default_rng(0)
    for labels in ("aabb", "abab", "abcc", "cdcd"):
        arrival = watcher.arrive(generator.standard_normal((4, 2)), np.array(list(labels)))
    assert np.isfinite(arrival.p)


def test_other_tasks_are_refused(tmp_path):
    watcher = Watcher(permutations=19)
    list(watcher.read(imrc.datasets.load("identical", tasks=4)))
    for kind, tasks, said in (("random_walk", 6, "have changed"), ("identical", 3, "4 were seen before")):
        with pytest.raises(ValueError, match=said):
            list(watcher.read(imrc.datasets.load(kind, tasks=tasks)))
    (tmp_path / "state.npz").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="not a state"):
        Watcher.load(tmp_path / "state.npz")


def lines(tasks: range, jump_at: int = 99) -> str:
    x = np.random.default_rng(5).standard_normal((tasks.stop, 12, 3))
    x[jump_at:] += 4.0
    rows = product(tasks, range(12))
    return "".join("{:.4f},{:.4f},{:.4f},".format(*x[j, row]) + f"{'ab'[row % 2]},{j + 1}\n" for j, row in rows)


HEADER = "x,y,z,state,month\n"
CUT = ["--target", "state", "--by", "month"]


def test_the_command_rings_once_things_change(tmp_path, capsys):
    file = tmp_path / "calm.csv"
    file.write_text(HEADER + lines(range(12)))
    assert main(["watch", str(file), *CUT, "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["task"] for row in rows] == [str(task) for task in range(2, 13)]
    file.write_text(HEADER + lines(range(12), jump_at=8))
    assert main(["watch", str(file), *CUT, "--json"]) == watch.ALARM == 3
    printed = json.loads(capsys.readouterr().out)
    assert (printed["schema"], printed["version"]) == ("imrc.watch", 1)
    assert printed["alarm"] == next(one["task"] for one in printed["arrivals"] if one["alarm"]) > 8
    assert main(["watch", str(file), *CUT]) == 3
    assert f"ALARM since task {printed['alarm']} in 12 tasks" in capsys.readouterr().out


def test_a_state_file_lets_the_command_go_on(tmp_path, capsys):
    file, state = tmp_path / "growing.csv", ["--state", str(tmp_path / "state.npz")]
    file.write_text(HEADER + lines(range(12), jump_at=8))
    assert main(["watch", str(file), *CUT, "--json"]) == 3
    whole = json.loads(capsys.readouterr().out)["arrivals"]
    found = []
    for stop in (5, 9, 9, 12):
        file.write_text(HEADER + lines(range(stop), jump_at=8))
        status = main(["watch", str(file), *CUT, *state, "--json"])
        found += json.loads(capsys.readouterr().out)["arrivals"]
    # The last month may still be growing.
    assert found == whole[:-1]
    assert status == 3


def test_a_state_keeps_its_settings(tmp_path, capsys):
    command = ["watch", "identical", "-k", "4", "--state", str(tmp_path / "state.npz")]
    started = {"seed": "3", "features": "standardised", "alpha": "0.1"}
    assert main([*command, *(word for name, value in started.items() for word in (f"--{name}", value))]) == 0
    before = (tmp_path / "state.npz").read_bytes()
    capsys.readouterr()
    for (name, kept), asked in zip(started.items(), ("7", "automatic", "0.01"), strict=True):
        assert main([*command, f"--{name}", asked]) == 2
        said = capsys.readouterr().err
        assert f"started with {name} = {kept}, not {asked}" in said
        assert said.count("\n") == 1
        assert (tmp_path / "state.npz").read_bytes() == before
        assert main([*command, f"--{name}", kept]) == main(command) == 0
        before = (tmp_path / "state.npz").read_bytes()
        capsys.readouterr()


def test_rows_that_follow_each_other_are_said_before_it_starts(tmp_path, capsys):
    generator = np.random.default_rng(0)
    walk = np.zeros(200)
    for i in range(1, 200):
        walk[i] = 0.7 * walk[i - 1] + generator.standard_normal()
    for name, values, said in (("alike", walk, True), ("shuffled", generator.permutation(walk), False)):
        file = tmp_path / f"{name}.csv"
        file.write_text("x,state\n" + "".join(f"{x:.4f},{'ab'[i % 2]}\n" for i, x in enumerate(values)))
        main(["watch", str(file), "--target", "state", "--every", "20", "--csv"])
        captured = capsys.readouterr()
        assert ("Successive rows within a task are correlated" in captured.err) == said
        assert captured.out.startswith("task,")


@pytest.mark.parametrize("gone", ["", "inf"])
def test_a_column_that_has_gone_is_said_once(tmp_path, capsys, gone):
    file = tmp_path / "dead.csv"
    table = [line.split(",") for line in lines(range(9)).splitlines()]
    rows = ((x, gone if int(task) >= 6 else y, z, state, task) for x, y, z, state, task in table)
    file.write_text(HEADER + "".join(",".join(row) + "\n" for row in rows))
    main(["watch", str(file), *CUT])
    said = capsys.readouterr().err
    assert said.count("from here on, no numbers") == 1
    assert "task 6 (6): from here on, no numbers (empty or infinite) in y\n" in said


def test_it_follows_a_file_until_the_alarm(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(watch, "_EVERY_S", 0.05)
    file = tmp_path / "growing.csv"
    file.write_text(HEADER + lines(range(5), jump_at=8))

    def grow() -> None:
        for task in range(5, 13):
            time.sleep(0.1)
            with open(file, "a") as opened:
                opened.write(lines(range(task, task + 1), jump_at=8))

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        assert main(["watch", str(file), *CUT, "--follow"]) == 3
    finally:
        thread.join()
    assert "ALARM since task" in capsys.readouterr().out
    assert main(["watch", "identical", "--follow"]) == 2


class TestStory:
    def test_it_is_what_the_watcher_says_and_what_the_run_measured(self):
        sequence = imrc.datasets.load("rotated_digits", tasks=8)
        run = imrc.evaluate(sequence, n=10, repetitions=2)
        story = watch_story(sequence, run=run)
        arrivals = list(Watcher().read(sequence))
        assert story["evidence"].tolist() == [arrival.evidence for arrival in arrivals]
        alarms = [arrival.task for arrival in arrivals if arrival.alarm]
        assert first_alarm(story) == alarms[0]
        np.testing.assert_allclose(story["before"], run.before["imrc"].mean(axis=0)[1:])
        steps = np.arange(1, 8)
        np.testing.assert_allclose(story["after"], np.asarray(run.errors["forward"])[:, steps, steps].mean(axis=0))
        assert "Alarm since this task" in arrival_sentences(story, alarms[0])[0]
        assert arrival_sentences(story, alarms[0] - 1)[0].startswith(f"No alarm after {alarms[0] - 1} tasks")
        assert len(watch_chart(story).data[0].x) == 7

    def test_without_a_run_there_are_no_errors(self):
        story = watch_story(imrc.datasets.load("identical", tasks=4))
        assert story[["before", "after"]].isna().all().all()
        assert len(arrival_sentences(story, 3)) == 2
        watch_chart(story)
