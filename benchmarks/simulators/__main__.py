# SPDX-License-Identifier: Apache-2.0
"""What simulators say about impacts, beside the sets of outcomes that are possible: see docs/simulators.md.

    python -m simulators [--out DIR] [--simulators NAMES] [--boxes N]

DIR gets results.json, index.md and figures; runs.json has every single run.
"""
from __future__ import annotations

import argparse
import json
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from . import adapters, measures, page, scenes

# Of one simulator, in all.
TIMEOUT = 1200
# Of a simulator until it has been loaded.
LOAD_TIMEOUT = 120
# Friction and restitution that law `stronge` fits to the single corners of the measured cube (docs/measured.md).
MEASURED = {"friction": 0.164, "restitution": 0.284}


def run_simulator(name: str, jobs: list, timeout: float = TIMEOUT) -> tuple[dict | None, list[dict], str | None]:
    """All jobs of a simulator in processes of its own: about it, its answers, and why some are missing."""
    about, answers, start, deadline = None, [], 0, time.monotonic() + timeout
    while start < len(jobs):
        words = [sys.executable, "-m", "simulators.worker", name]
        try:
            left = max(deadline - time.monotonic(), 0.0)
            done = subprocess.run(words, input=pickle.dumps(jobs[start:]), capture_output=True, timeout=left)
            said, code, complaint = done.stdout, done.returncode, done.stderr.decode(errors="replace").strip().split("\n")[-1][:200]
        except subprocess.TimeoutExpired as error:
            said, code, complaint = error.stdout or b"", None, f"no end within {timeout:g} s"
        lines = [json.loads(line) for line in said.decode().splitlines() if line.endswith("}")]
        if lines:
            about = lines[0]
        for answer in lines[1:]:
            answer["job"] += start
        answers += lines[1:]
        if code == -signal.SIGINT:
            return about, answers, "interrupted"
        if code is None or not lines:
            return about, answers, complaint
        if code == 0:
            break
        # A crash is that of the last job without all its variants; the next process goes on after it.
        last = lines[-1] if len(lines) > 1 else {"job": start, "variants_left": 1}
        broken = last["job"] + (0 if last["variants_left"] else 1)
        if broken == len(jobs):
            break
        mechanism, label, _ = jobs[broken]
        variant = "" if not any(a["job"] == broken for a in answers) else "broken"
        answers.append({"job": broken, "scene": mechanism.name, "setting": label, "variant": variant, "error": f"the process ended ({code})"})
        start = broken + 1
    return about, answers, None


def list_jobs(adapter_settings: dict, impacts: dict) -> list:
    """(mechanism, setting, variants) of one simulator."""
    settings, boxes, elastic = adapter_settings["settings"], adapter_settings["boxes"], adapter_settings["elastic"]
    jobs = [(case.mechanism, label, ()) for case in impacts["known"] for label in (elastic if _bounces(case.mechanism) else settings)]
    for mechanism in impacts["scenes"]:
        for label in elastic if _bounces(mechanism) else settings:
            wanted = ("contacts", "bodies", "mirror", "again") if label == "default" else ("contacts", "bodies", "mirror")
            jobs.append((mechanism, label, wanted))
    jobs += [(mechanism, label, ("contacts", "mirror") if label == "default" else ()) for mechanism in impacts["boxes"] for label in boxes]
    jobs += [(mechanism, label, ()) for mechanism, _ in impacts["measured"] for label in boxes]
    jobs += [(mechanism, label, ()) for mechanism, _ in impacts["measured inelastic"] for label in boxes]
    return jobs


def _bounces(mechanism) -> bool:
    return any(contact.restitution for contact in mechanism.contacts)


def ask_settings(name: str) -> dict:
    """The labels of a simulator's settings, from a process of its own, or why it is left out."""
    program = (
        "import json, sys; from simulators import adapters; a = adapters.load(sys.argv[1]); v = a.version(); "
        "print('\\n' + json.dumps({'settings': list(a.SETTINGS), 'parameters': a.SETTINGS, 'boxes': list(a.BOXES), "
        "'elastic': list(getattr(a, 'ELASTIC', a.SETTINGS)), 'name': a.NAME, 'about': a.ABOUT, 'version': v}, default=str))"
    )
    try:
        done = subprocess.run([sys.executable, "-c", program, name], capture_output=True, text=True, timeout=LOAD_TIMEOUT)
    except subprocess.TimeoutExpired:
        return {"left_out": f"not loaded within {LOAD_TIMEOUT:g} s"}
    if done.returncode:
        return {"left_out": (done.stderr.strip().split("\n") or ["?"])[-1][:200]}
    return json.loads(done.stdout.strip().split("\n")[-1])


def measure_scene(mechanism, reference, answers: dict[str, list[dict]]) -> dict:
    """Everything about one scene: for each simulator its default run, and all settings together."""
    impact = reference.impact
    rows = mechanism.contact_rows()
    speed = reference.speed
    scene = {"set": "exact" if reference.exact else "walks and samples", "gap": reference.gap, "speed": speed, "contacts": len(mechanism.contacts)}
    scene["laws"] = {}
    if not _bounces(mechanism):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for law in page.LAWS:
                outcome = own_law(impact, law)
                if outcome is not None:
                    scene["laws"][law] = float(reference.distance(outcome)[0])
    scene["simulators"] = {}
    everything = []
    own = mechanism.impact()
    for name, given in answers.items():
        runs = [a for a in given if "velocity" in a]
        if all(a["variant"] for a in runs):
            why = sorted({a["error"] for a in given if "error" in a})
            scene["simulators"][name] = {"left_out": why[0] if why else "not run"}
            continue
        velocities = np.array([a["velocity"] for a in runs])
        contact = velocities @ rows.T
        distance, energy = reference.distance(contact), measures.energy_ratio(own, velocities)
        for a, d, e, u in zip(runs, distance, energy, contact):
            a["distance"], a["energy"], a["contact_velocity"] = float(d), float(e), u.tolist()
            if not a["variant"]:
                a["outside_cones"] = measures.outside_cones(own, np.array(a["velocity"]))
        by = {(a["setting"], a["variant"]): (a, u) for a, u in zip(runs, contact)}
        plain = {label: value for (label, variant), value in by.items() if not variant}

        def spread(variant, labels):
            lengths = [np.linalg.norm(by[label, variant][1] - plain[label][1]) / speed for label in labels if (label, variant) in by and label in plain]
            return max(lengths, default=None)

        def describe(labels):
            some = [plain[label][0] for label in labels if label in plain]
            if not some:
                return None
            return {
                "distance": [min(a["distance"] for a in some), max(a["distance"] for a in some)],
                "energy": [min(a["energy"] for a in some), max(a["energy"] for a in some)],
                "outside_cones": [min(a["outside_cones"] for a in some), max(a["outside_cones"] for a in some)],
                "contact_order": spread("contacts", labels),
                "body_order": spread("bodies", labels),
                "mirror": spread("mirror", labels),
                "ended": sum(a["ended"] for a in some),
                "runs": len(some),
            }

        steps = [label for label in plain if label.startswith("dt ")]
        default = plain.get("default")
        all_plain = np.array([u for _, u in plain.values()])
        everything += list(contact)
        scene["simulators"][name] = {
            "default": describe(["default"]),
            "all": describe(list(plain)),
            "nearest_setting": min(plain, key=lambda label: plain[label][0]["distance"]),
            "farthest_setting": max(plain, key=lambda label: plain[label][0]["distance"]),
            "time_step": max((float(np.linalg.norm(plain[s][1] - default[1])) / speed for s in steps), default=None) if default else None,
            "again": spread("again", ["default"]),
            "uncovered_by_default": reference.uncovered(default[1][None]) if default else None,
            "uncovered_by_all": reference.uncovered(contact),
            "shown_by_all": reference.shown(all_plain),
            "failed": failures(given),
        }
    if everything:
        scene["uncovered_by_all"] = reference.uncovered(np.array(everything))
        scene["shown_by_all"] = reference.shown(np.array(everything))
    return scene


def failures(answers: list[dict]) -> dict[str, str]:
    """Why settings have no outcome, and why variants of those that have one do not."""
    failed = {a["setting"]: a["error"] for a in answers if "error" in a and not a["variant"]}
    variants = {f"{a['setting']} / {a['variant']}": a["error"] for a in answers if "error" in a and a["variant"] and a["setting"] not in failed}
    return failed | variants


def own_law(impact, law: str):
    """The contact velocity of one outcome of a law of carom; None where it has none."""
    found = impact.resolve(law, cone_edges=16) if impact.tangent_dim == 2 else impact.resolve(law)
    return found.contact_velocity[:1] if len(found) else None


def quantiles(values) -> list[float]:
    """Least, quartiles, and largest."""
    return [float(x) for x in np.quantile(values, [0, 0.25, 0.5, 0.75, 1])]


def measure_boxes(boxes, references, answers) -> dict:
    """Random boxes: for each kind, simulator and setting quantiles of what scenes have one by one."""
    table: dict = {}
    columns = ("distance", "energy", "outside_cones", "contacts", "mirror", "ended", "within_gap")
    place = {box.name: (box, reference) for box, reference in zip(boxes, references)}
    for name, given in answers.items():
        found: dict = {}
        first = {}
        for a in given:
            box, reference = place[a["scene"]]
            one = found.setdefault((box.group, a["setting"]), {key: [] for key in columns})
            if "velocity" not in a:
                continue
            own, velocity = box.impact(), np.array(a["velocity"])
            contact = box.contact_rows() @ velocity
            if a["variant"]:
                if (a["scene"], a["setting"]) not in first:
                    continue
                one[a["variant"]].append(float(np.linalg.norm(contact - first[a["scene"], a["setting"]])) / reference.speed)
                continue
            first[a["scene"], a["setting"]] = contact
            a["distance"], a["group"] = float(reference.distance(contact[None])[0]), box.group
            one["distance"].append(a["distance"])
            one["within_gap"].append(a["distance"] <= reference.gap[1])
            one["energy"].append(float(measures.energy_ratio(own, [velocity])[0]))
            one["outside_cones"].append(measures.outside_cones(own, velocity))
            one["ended"].append(a["ended"])
        for (group, label), one in found.items():
            if one["distance"]:
                row = {key: quantiles(one[key]) if one[key] else None for key in ("distance", "energy", "outside_cones", "contacts", "mirror")}
                row |= {"runs": len(one["distance"]), "ended": sum(one["ended"]), "within_gap": sum(one["within_gap"])}
                table.setdefault(group, {}).setdefault(name, {})[label] = row
    gaps: dict = {}
    for box, reference in zip(boxes, references):
        gaps.setdefault(box.group, []).append(reference.gap)
    return {"gap": {group: np.median(np.array(g), axis=0).tolist() for group, g in gaps.items()}, "groups": table}


def measure_measured(measured, answers) -> dict:
    """Errors of the measured impacts in the kinetic metric, relative to |v-|: medians by kind; beside them laws, and the set's nearest."""
    errors: dict = {}

    def error(mechanism, outcome, velocity):
        metric = np.linalg.cholesky(mechanism.mass_matrix()).T
        return float(np.linalg.norm(metric @ (velocity - outcome)) / np.linalg.norm(metric @ mechanism.velocity))

    place = {mechanism.name: (mechanism, outcome) for mechanism, outcome in measured}
    for name, given in answers.items():
        for a in given:
            if "velocity" in a:
                mechanism, outcome = place[a["scene"]]
                errors.setdefault((name, a["setting"]), {}).setdefault(mechanism.group, []).append(error(mechanism, outcome, np.array(a["velocity"])))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for mechanism, outcome in measured:
            impact = mechanism.impact()
            laws = {"moreau": impact.resolve("moreau", cone_edges=32).velocity}
            if len(mechanism.contacts) == 1:
                laws["stronge"] = impact.resolve("stronge").velocity
            bounce = {"hypothesis": "stronge", "restitution": MEASURED["restitution"]}
            laws["the set, nearest of 200"] = impact.sample(200, seed=1, sampler="walk", **bounce).velocity
            for law, velocities in laws.items():
                least = min(error(mechanism, outcome, v) for v in velocities)
                errors.setdefault(("carom", law), {}).setdefault(mechanism.group, []).append(least)
    return {
        "given": MEASURED,
        "counts": {kind: sum(m.group == kind for m, _ in measured) for kind in dict.fromkeys(m.group for m, _ in measured)},
        "median_error": [
            {"by": by, "setting": setting, "kinds": {kind: float(np.median(e)) for kind, e in kinds.items()}} for (by, setting), kinds in errors.items()
        ],
    }


def ask_compare(command: pathlib.Path, references: dict) -> dict:
    """What `carom compare --simulator mujoco` says of the shipped scenes, with the version of MuJoCo that the command was built with."""
    said = subprocess.run([command, "--version", "--verbose"], capture_output=True, text=True, check=True).stdout.split("\n")
    found: dict = {"version": next((line.split()[-1] for line in said if line.startswith("MUJOCO")), None), "scenes": {}}
    for name in scenes.SHIPPED:
        words = ["--simulator", "mujoco", "--perturbations", "0", "--laws", "halm-posa,halm-posa-exact", "--samples", "4096", "--json"]
        done = subprocess.run([command, "compare", scenes.ROOT / "scenes" / f"{name}.yaml", *words], capture_output=True, text=True)
        said = json.loads(done.stdout)["simulator"] if done.returncode < 2 and done.stdout else None
        if said and name in references:
            keys = ("outside", "uncovered_by_default_run", "uncovered_by_all_runs")
            found["scenes"][name] = {key: said[key] and said[key] / references[name].speed for key in keys}
            found["scenes"][name] |= {key: said[key] for key in ("set", "runs", "ended", "inside")}
    return found


def read_options() -> tuple[argparse.Namespace, pathlib.Path, dict | None]:
    """The options, where the results go, and those of the last run; what cannot be run or written is refused here, not after the runs."""
    parser = argparse.ArgumentParser(prog="simulators", description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/simulators"), help="folder of results; default: %(default)s")
    parser.add_argument("--simulators", default=",".join(adapters.NAMES), help="names, separated by commas; default: %(default)s")
    parser.add_argument("--boxes", type=int, default=200, help="random boxes; default: %(default)s")
    parser.add_argument("--walks", type=int, default=2048, help="walks of each kind for a set that is not exact; default: %(default)s")
    parser.add_argument("--carom", type=pathlib.Path, help="the command, which is asked for what it says of MuJoCo; default: left out")
    options = parser.parse_args()
    for flag, number, least in (("--boxes", options.boxes, 0), ("--walks", options.walks, 64)):
        if number < least:
            parser.error(f"{flag}: {number} is less than {least}")
    for name in options.simulators.split(","):
        if name not in adapters.NAMES:
            parser.error(f"--simulators: there is no '{name}': choose among {', '.join(adapters.NAMES)}")
    if options.carom and not options.carom.is_file():
        parser.error(f"--carom: {options.carom} is no file")
    last = options.out / "results.json"
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=options.out).close()
        before = json.loads(last.read_text()) if last.exists() else None
    except OSError as error:
        parser.error(f"--out: {error}")
    except ValueError:
        parser.error(f"--out: {last} is not JSON; remove it, or name another folder")
    return options, last, before


def main() -> None:
    options, last, before = read_options()

    def say(text):
        print(text, file=sys.stderr, flush=True)

    impacts = {"known": scenes.known_cases(), "scenes": [scenes.chain(), scenes.stack()], "boxes": scenes.random_boxes(options.boxes)}
    impacts["measured"] = scenes.read_measured(**MEASURED)
    impacts["measured inelastic"] = [(scenes.inelastic(m), outcome) for m, outcome in impacts["measured"]]
    left_out = {}
    for name in scenes.SHIPPED:
        try:
            impacts["scenes"].append(scenes.read_scene(name))
        except (ImportError, ValueError) as error:
            left_out[name] = str(error)
            say(f"scene {name} is left out: {error}")

    found = {}
    for name in options.simulators.split(","):
        about = ask_settings(name)
        if "left_out" in about:
            left_out[name] = about["left_out"]
            say(f"simulator {name} is left out: {about['left_out']}")
        else:
            found[name] = about
            say(f"{about['name']} {about['version']}: {len(about['settings'])} settings")
    jobs = {name: list_jobs(about, impacts) for name, about in found.items()}
    with ThreadPoolExecutor(2) as pool:
        results = dict(zip(found, pool.map(lambda name: run_simulator(name, jobs[name]), found)))
    for name, (_, _, why) in results.items():
        if why:
            left_out[name] = why
            say(f"simulator {name} is left out in part: {why}")

    def answers_of(mechanisms):
        """By simulator the answers of jobs whose mechanism is one of these."""
        wanted = {id(m) for m in mechanisms}
        return {
            found[name]["name"]: [a for a in answers if id(jobs[name][a["job"]][0]) in wanted] for name, (_, answers, _) in results.items()
        }

    document: dict = {
        "schema": "carom.simulators/1",
        "simulators": {about["name"]: {k: about[k] for k in ("version", "about", "parameters")} for about in found.values()},
        "left_out": left_out,
    }
    # Known answers.
    known = {}
    for case in impacts["known"]:
        rows = case.mechanism.contact_rows()
        speed = np.abs(rows @ case.mechanism.velocity).max()
        for name, given in answers_of([case.mechanism]).items():
            known.setdefault(case.mechanism.name, {})[name] = {
                a["setting"]: float(np.abs(rows @ (np.array(a["velocity"]) - case.answer)).max() / speed) if "velocity" in a else a["error"] for a in given
            }
    document["known"] = known
    say("measuring scenes")
    document["scenes"] = {}
    references = {}
    for mechanism in impacts["scenes"]:
        impact = scenes.original_impact(mechanism)
        restitution = 1.0 if _bounces(mechanism) else None
        references[mechanism.name] = measures.Reference(impact, options.walks, options.walks // 16, samples=options.walks, restitution=restitution)
        document["scenes"][mechanism.name] = measure_scene(mechanism, references[mechanism.name], answers_of([mechanism]))
        say(f"  {mechanism.name}")
    if options.carom:
        document["compare"] = ask_compare(options.carom, references)
    say("measuring boxes")
    box_references = [measures.Reference(box.impact(), options.walks // 4, options.walks // 64) for box in impacts["boxes"]]
    document["boxes"] = measure_boxes(impacts["boxes"], box_references, answers_of(impacts["boxes"]))
    say("measuring measured impacts")
    document["measured"] = measure_measured(impacts["measured"], answers_of([m for m, _ in impacts["measured"]]))
    document["measured inelastic"] = measure_measured(impacts["measured inelastic"], answers_of([m for m, _ in impacts["measured inelastic"]]))

    text = json.dumps(page.rounded(document), indent=1, sort_keys=True) + "\n"
    if before is not None:
        differences = page.differences(before, json.loads(text))
        say("results differ from those of the last run:" if differences else "the same results as those of the last run, but for round-off")
        for line in differences:
            say("  " + line)
    last.write_text(text)
    runs = {found[name]["name"]: answers for name, (_, answers, _) in results.items()}
    (options.out / "runs.json").write_text(json.dumps(runs))
    page.write(options.out, json.loads(text), runs, references)
    say(f"{options.out / 'index.md'}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted: nothing is written")
