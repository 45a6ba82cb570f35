# SPDX-License-Identifier: Apache-2.0
"""The page of a run: tables and figures, all from its results (tables from results.json alone)."""
from __future__ import annotations

import math
import pathlib

import numpy as np

DIGITS = 6
# Laws of carom that stand beside the simulators: steps with an LCP, as most simulators take.
LAWS = ("moreau", "anitescu-potra")
# Differences of two runs below this share of the larger number, or below this number, are round-off.
SAME = 1e-5
TINY = 1e-6
# Of the distances that a figure shows.
FARTHEST = 0.6


def rounded(value):
    """Numbers with as many digits as mean something; NaN becomes null, which JSON has."""
    if isinstance(value, dict):
        return {str(k): rounded(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(v) for v in value]
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    if isinstance(value, np.integer):
        return int(value)
    return value


def differences(old, new, place="") -> list[str]:
    """Where two results differ, a line each."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [line for key in sorted(old.keys() | new.keys()) for line in differences(old.get(key), new.get(key), f"{place}/{key}")]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [line for k, (a, b) in enumerate(zip(old, new)) for line in differences(a, b, f"{place}/{k}")]
    numbers = isinstance(old, (int, float)) and isinstance(new, (int, float))
    if old == new or (numbers and abs(old - new) <= max(TINY, SAME * max(abs(old), abs(new)))):
        return []
    return [f"{place}: {old} before, {new} now"]


def _number(x) -> str:
    return "–" if x is None else f"{x:.3f}"


def _small(x) -> str:
    return "–" if x is None else f"{x:.0e}" if x < 5e-4 else f"{x:.3f}"


def _table(head, rows) -> str:
    columns = sum(1 + text.count(" | ") for text in head)
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * columns]
    return "\n".join(lines + ["| " + " | ".join(str(x) for x in row) + " |" for row in rows]) + "\n"


def table_simulators(results) -> str:
    rows = [[name, about["version"], about["about"], len(about["parameters"])] for name, about in results["simulators"].items()]
    return _table(["simulator", "version", "made for; contacts", "settings"], rows)


def table_known(results) -> str:
    """Error of the default run, and the least of all settings."""
    names = list(results["simulators"])
    rows = []
    for case, by in results["known"].items():
        row = [case]
        for name in names:
            errors = {label: e for label, e in by.get(name, {}).items() if isinstance(e, float)}
            if not errors:
                row.append("–")
                continue
            best = min(errors, key=errors.get)
            text = _small(errors.get("default"))
            row.append(text if best == "default" or errors.get("default", 1.0) < 1e-3 else f"{text}; {_small(errors[best])} ({best})")
        rows.append(row)
    return _table(["case", *names], rows)


def _by_scene(results, cell, last=None) -> str:
    names = list(results["simulators"])
    rows = []
    for scene, about in results["scenes"].items():
        cells = []
        for name in names:
            one = about["simulators"].get(name, {"left_out": ""})
            cells.append("–" if "left_out" in one else cell(one))
        rows.append([scene, *cells, *([] if last is None else [last[1](about)])])
    return _table(["scene", *names, *([] if last is None else [last[0]])], rows)


def table_distance(results) -> str:
    def gap(about):
        laws = " | ".join(_number(about["laws"].get(law)) for law in LAWS)
        return laws + " | " + ("exact" if about["set"] == "exact" else f"{_number(about['gap'][0])}, {_number(about['gap'][1])}")

    return _by_scene(results, lambda one: _number(one["default"] and one["default"]["distance"][0]), (" | ".join(f"law `{law}`" for law in LAWS) + " | gap of the set", gap))


def table_settings(results) -> str:
    def cell(one):
        low, high = one["all"]["distance"]
        running = one["all"]["runs"] - one["all"]["ended"]
        return f"{_number(low)} to {_number(high)}" + (f"; {running} of {one['all']['runs']} not ended" if running else "")

    return _by_scene(results, cell)


def table_energy(results) -> str:
    def cell(one):
        low, high = one["all"]["energy"]
        return f"{_number(one['default'] and one['default']['energy'][0])} ({_number(low)} to {_number(high)})"

    return _by_scene(results, cell)


def table_cones(results) -> str:
    def cell(one):
        return f"{_number(one['default'] and one['default']['outside_cones'][0])}; {_number(one['all']['outside_cones'][1])}"

    return _by_scene(results, cell)


def table_order(results) -> str:
    def cell(one):
        some = one["all"]
        return " / ".join(_small(some[key]) for key in ("contact_order", "body_order", "mirror"))

    return _by_scene(results, cell)


def table_step(results) -> str:
    return _by_scene(results, lambda one: _number(one["time_step"]))


def table_reach(results) -> str:
    def cell(one):
        return f"{_number(one['uncovered_by_default'])}; {_number(one['uncovered_by_all'])}"

    return _by_scene(results, cell, ("all together", lambda about: _number(about.get("uncovered_by_all"))))


def table_boxes(results) -> str:
    rows = []
    for group, by in results["boxes"]["groups"].items():
        for name, settings in by.items():
            for label, row in settings.items():
                median = [row[key][2] if row[key] else None for key in ("distance", "outside_cones", "energy")]
                rows.append(
                    [
                        group,
                        name,
                        label,
                        _number(median[0]),
                        _number(row["distance"][4]),
                        f"{row['within_gap']} of {row['runs']}",
                        _number(median[2]),
                        _number(median[1]),
                        _small(row["contacts"][4] if row["contacts"] else None),
                        _small(row["mirror"][4] if row["mirror"] else None),
                    ]
                )
    head = ["boxes", "simulator", "setting", "distance, median", "largest", "within the gap", "energy left, median", "outside the cones, median"]
    return _table([*head, "contact order, largest", "mirror, largest"], rows)


def table_measured(results) -> str:
    kinds = results["measured"]["counts"]
    rows = []
    for key, word in (("measured", "given"), ("measured inelastic", "0")):
        for one in results[key]["median_error"]:
            if one["by"] == "carom" and word == "0":
                continue
            rows.append([one["by"], one["setting"], word, *(_number(one["kinds"].get(kind)) for kind in kinds)])
    return _table(["by", "setting or law", "restitution", *(f"{kind} ({count})" for kind, count in kinds.items())], rows)


def table_compare(results) -> str:
    """MuJoCo as `carom compare` asks it."""
    rows = [
        [scene, f"{one['inside']} of {one['runs']}", *(_number(one[k]) for k in ("outside", "uncovered_by_default_run", "uncovered_by_all_runs"))]
        for scene, one in results.get("compare", {"scenes": {}})["scenes"].items()
    ]
    return _table(["scene", "inside", "outside", "uncovered by the default run", "by all runs"], rows)


TABLES = {
    "simulators": table_simulators,
    "known": table_known,
    "distance": table_distance,
    "settings": table_settings,
    "energy": table_energy,
    "cones": table_cones,
    "order": table_order,
    "step": table_step,
    "reach": table_reach,
    "compare": table_compare,
    "boxes": table_boxes,
    "measured": table_measured,
}

_SAYS = {
    "simulators": "What was there",
    "known": "Cases with one answer: largest error of a contact velocity at the defaults; where that exceeds 0.001, the least of all settings",
    "distance": "Distance from the set at the defaults",
    "settings": "Distance from the set over all settings; runs that had not ended (their last velocity counts)",
    "energy": "Energy left: at the defaults (over all settings)",
    "cones": "Velocity that no impulse within the friction cones brings about: at the defaults; largest of all settings",
    "order": "Largest change by order of contacts / order of bodies / mirror image, over all settings",
    "step": "Largest change by the time step alone",
    "reach": "Farthest point of the set from the default run; from all runs",
    "compare": "MuJoCo as `carom compare --simulator mujoco` asks it, with the version that carom was built with",
    "boxes": "Random boxes",
    "measured": "Measured impacts of a cube: median errors",
}

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#444444")
MARKS = ("o", "s", "^", "D", "v", "P", "X")


def write(folder: pathlib.Path, results: dict, runs: dict, references: dict) -> None:
    """index.md and its figures."""
    text = "# What simulators say about impacts\n\nMade by `make benchmarks-simulators`; docs/simulators.md explains every table.\n"
    for name, why in results["left_out"].items():
        text += f"\nLeft out: {name}: {why}\n"
    for scene, about in results["scenes"].items():
        for name, one in about["simulators"].items():
            missing = {"all settings": one["left_out"]} if "left_out" in one else one["failed"]
            text += "".join(f"\nLeft out on {scene}: {name}, {setting}: {why}\n" for setting, why in missing.items())
    for name, table in TABLES.items():
        text += f"\n## {_SAYS[name]}\n\n{table(results)}"
    figures = draw(folder, results, runs, references)
    text += "".join(f"\n![{title}]({file})\n" for file, title in figures)
    (folder / "index.md").write_text(text)


def draw(folder: pathlib.Path, results: dict, runs: dict, references: dict) -> list[tuple[str, str]]:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(results["simulators"])
    look = {name: {"color": c, "marker": m} for name, c, m in zip(names, COLOURS, MARKS)}
    made = []
    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})

    # Normal velocities of two contacts: the set, every setting, and the defaults.
    pictured = [scene for scene in ("block", "boxwall", "compass", "disks") if scene in references]
    if pictured:
        figure, panels = plt.subplots(2, 2, figsize=(7.2, 6.4), squeeze=False)
        for panel in panels.flat[len(pictured) :]:
            panel.axis("off")
        for panel, scene in zip(panels.flat, pictured):
            reference = references[scene]
            stride = 1 + reference.impact.tangent_dim
            # The two contacts whose normal velocities differ most within the set.
            i, j = sorted(np.argsort(-np.ptp(reference.points[:, ::stride], axis=0), kind="stable")[:2])
            points = reference.points[:, [stride * i, stride * j]] / reference.speed
            panel.plot(*points.T, ".", color="0.65", markersize=2.5, markeredgewidth=0, zorder=1, rasterized=True)
            panel.plot([], [], "s", color="0.65", markersize=6, linestyle="", label="the set")
            for name in names:
                mine = [a for a in runs.get(name, []) if a["scene"] == scene and not a["variant"] and "contact_velocity" in a]
                where = np.array([np.array(a["contact_velocity"])[[stride * i, stride * j]] for a in mine]).reshape(-1, 2) / reference.speed
                chosen = np.array([a["setting"] == "default" for a in mine], bool)
                panel.plot(*where[~chosen].T, linestyle="", markersize=4, markerfacecolor="none", zorder=2, alpha=0.8, **look[name])
                panel.plot(*where[chosen].T, linestyle="", markersize=7, zorder=3, markeredgecolor="black", markeredgewidth=0.6, label=name, **look[name])
            panel.set_title(scene, loc="left")
            panel.set_xlabel(f"normal velocity of {reference.impact.names[i]}")
            panel.set_ylabel(f"normal velocity of {reference.impact.names[j]}")
            panel.margins(0.06)
        handles, labels = panels.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="upper center", ncols=len(labels), frameon=False)
        figure.tight_layout(rect=(0, 0, 1, 0.95))
        figure.savefig(folder / "simulators-sets.png", dpi=150)
        plt.close(figure)
        made.append(("simulators-sets.png", "Normal velocities of both contacts over the sets; filled: defaults, open: other settings"))

    # Distance from the set, scene by scene: from the nearest to the farthest setting, and the default.
    scenes = list(results["scenes"])
    figure, panel = plt.subplots(figsize=(7.2, 0.45 * len(scenes) + 1.2))
    for row, scene in enumerate(scenes):
        gap = results["scenes"][scene]["gap"][1]
        panel.barh(row, gap, height=0.8, color="0.88", zorder=0, label="gap of the sampled set" if not row else None)
        for k, name in enumerate(names):
            one = results["scenes"][scene]["simulators"].get(name, {"left_out": ""})
            if "left_out" in one:
                continue
            height = row + 0.7 * ((k + 0.5) / len(names) - 0.5)
            panel.plot(one["all"]["distance"], [height] * 2, color=look[name]["color"], linewidth=1.6, zorder=1)
            if one["default"]:
                panel.plot(min(one["default"]["distance"][0], FARTHEST), [height], linestyle="", markersize=5, zorder=2, clip_on=False, **look[name])
            if one["all"]["distance"][1] > FARTHEST:
                panel.annotate(f"to {one['all']['distance'][1]:.2g}", (FARTHEST, height), xytext=(5, 0), textcoords="offset points", va="center", fontsize=7)
    for name in names:
        panel.plot([], [], linewidth=1.6, markersize=5, label=name, **look[name])
    panel.set_yticks(range(len(scenes)), scenes)
    panel.invert_yaxis()
    # Settings that fail altogether would leave no room for the others.
    panel.set_xlim(0, FARTHEST)
    panel.set_xlabel("distance from the set / largest contact velocity before the impact")
    figure.legend(loc="upper center", ncols=len(names) + 1, frameon=False, fontsize=8)
    figure.tight_layout(rect=(0, 0, 0.97, 0.96))
    figure.savefig(folder / "simulators-distance.png", dpi=150)
    plt.close(figure)
    made.append(("simulators-distance.png", "Distance from the set: marks at the defaults, lines over all settings"))

    # Random boxes: shares of impacts within a distance.
    groups = results["boxes"]["groups"]
    if groups:
        figure, panels = plt.subplots(1, len(groups), figsize=(7.2, 3.4), sharey=True, squeeze=False)
        for panel, (group, by) in zip(panels.flat, groups.items()):
            for k, name in enumerate(by):
                mine = sorted(a["distance"] for a in runs[name] if a.get("group") == group and a["setting"] == "default" and "distance" in a)
                panel.step(mine, (np.arange(len(mine)) + 1) / len(mine), color=look[name]["color"], label=name, where="post", linestyle="-" if k % 2 else "--")
            panel.axvspan(0, results["boxes"]["gap"][group][1], color="0.88", zorder=0, label="gap of the sets, median")
            panel.set_title(group, loc="left")
            panel.set_xlim(left=0)
            panel.set_xlabel("distance from the set")
        panels[0, 0].set_ylabel("share of the boxes")
        panels[0, -1].legend(frameon=False, loc="lower right")
        figure.tight_layout()
        figure.savefig(folder / "simulators-boxes.png", dpi=150)
        plt.close(figure)
        made.append(("simulators-boxes.png", "Random boxes: share of the impacts whose outcome is at most that far from the set, at the defaults"))
    return made
