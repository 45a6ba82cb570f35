# SPDX-License-Identifier: Apache-2.0
"""Figures: labels, colours and marks as the table says; comparisons of laws."""
import re

import numpy as np
import pytest

import carom
from carom import _carom

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import colors, pyplot  # noqa: E402

from carom.plotting import MARKERS, plot  # noqa: E402


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def comparison():
    from conftest import ROOT

    return carom.compare(carom.load(ROOT / "scenes" / "block.yaml"), samples=256)


def entries(ax):
    """The key of a figure: what each label stands beside."""
    handles, labels = ax.get_legend_handles_labels()
    return dict(zip(labels, handles))


def test_sampled_sets_are_called_inner_approximations_and_hulls_are_not_the_set(comparison):
    ax = comparison["halm-posa"].plot("Jn.A", "Jn.B")
    assert list(entries(ax)) == ["halm-posa (inner approximation, 256 samples)", "convex hull, not the set"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Jn.A  [m/s]", "Jn.B  [m/s]")
    dots = ax.collections[0].get_offsets()
    assert np.abs(np.asarray(dots) - comparison["halm-posa"].normal_velocity).max() <= 1e-8
    # The hull holds every dot, and is left out where nobody wants it.
    assert "convex hull, not the set" not in entries(comparison["halm-posa"].plot(hull=False))


def test_samples_that_may_lie_outside_the_set_are_counted(scenes, tmp_path):
    compass = carom.load(scenes / "compass-matrices.yaml")
    out = compass.sample(512)
    count = out.info["approximate"]
    assert f"halm-posa (512 samples, {count} may lie outside)" in entries(out.plot("Jn.A", "Jn.B"))
    corners = compass.sample(512, keep="hull")
    assert f"halm-posa ({len(corners)} of 512 samples, {count} may lie outside)" in entries(corners.plot("Jn.A", "Jn.B"))
    assert "halm-posa (inner approximation, 512 walks)" in entries(compass.sample(512, sampler="walk").plot("Jn.A", "Jn.B"))
    # Files of older versions do not say it.
    out.save(tmp_path / "set.h5")
    with pytest.importorskip("h5py").File(tmp_path / "set.h5", "a") as file:
        del file["halm-posa"].attrs["approximate"]
    assert "halm-posa (512 samples)" in entries(carom.read(tmp_path / "set.h5").plot("Jn.A", "Jn.B"))


def test_comparisons_refuse_what_a_law_refuses(block):
    impact = carom.Impact(**block)
    for options, words in [
        ({"samples": -5}, "samples: -5 is not between"),
        ({"step": "fast"}, "step: 'fast' is not a number"),
        ({"order": ["B", "Z"]}, "order: 'B,Z' names a contact"),
        ({"restitution": (0.2, 0.5, 0.6)}, r"restitution: \(0.2, 0.5, 0.6\) is not a number or a pair"),
        ({"threads": 0}, "threads: 0 is not"),
        ({"samples": 5, "paces": 3}, "paces: none of the laws"),
    ]:
        with pytest.raises(carom.InputError, match=words):
            carom.compare(impact, **options)
    with pytest.raises(carom.InputError, match="impact: a carom.Impact or a carom.Scene is needed, not NoneType"):
        carom.compare(None)
    assert list(carom.compare(impact, "routh")) == ["routh"]
    # Laws whose coefficient is one number say nothing of an interval.
    wide = carom.compare(impact, samples=10, restitution=(0.2, 0.5), hypothesis="poisson")
    assert wide.left_out["moreau"] == "it has no restitution 0.2:0.5" and "halm-posa" in wide
    with pytest.warns(carom.Incomplete, match="routh: the answer is budget-spent") as said:
        carom.compare(impact, ["routh", "halm-posa"], samples=10, max_steps=1, step=0.01)
    assert {warning.filename for warning in said} == {__file__}


def test_what_cannot_be_drawn_is_said(block):
    impact = carom.Impact(**block)
    with pytest.warns(carom.Incomplete):
        nothing = impact.sample(20, max_steps=1, step=0.01, sampler="lcp")
    for given, words in [
        ([], "nothing to draw: no outcomes are given"),
        (nothing, "nothing to draw: none of the 20 samples terminated"),
        (impact.sample(20, keep="extent"), "nothing to draw: no outcomes are kept"),
        ([impact.resolve("moreau"), 5], "outcomes: a carom.Outcomes is needed, not int"),
        (None, "outcomes: a carom.Outcomes is needed, not NoneType"),
    ]:
        with pytest.raises(carom.InputError, match=words):
            plot(given)
    assert "moreau" in entries(plot({"mine": impact.resolve("moreau")}))


def test_exact_sets_are_filled_polygons(comparison):
    if "halm-posa-exact" in comparison.left_out:
        comparison.impact.exact()  # says what the build lacks
    ax = comparison["halm-posa-exact"].plot("Jn.A", "Jn.B")
    assert list(entries(ax)) == ["halm-posa-exact (the set, 2 pieces)"]
    corners = {tuple(np.round(corner, 3)) for polygon in ax.patches for corner in polygon.get_xy()}
    assert len(ax.patches) == 2
    assert corners == {(0, 0), (0.093, 0), (0, 0.093)}


def test_every_law_has_its_colour_and_mark_in_every_figure(comparison):
    shown = entries(comparison.plot("Jn.A", "Jn.B"))
    table = dict(zip(carom.laws(), _carom.plot_looks(tuple(carom.laws()))))
    assert len({row[0] for row in table.values()}) == len({row[1] for row in table.values()}) == len(table)
    for law, out in comparison.items():
        (label,) = [label for label in shown if label == law or label.startswith(law + " ")]
        (alone,) = [handle for text, handle in entries(out.plot("Jn.A", "Jn.B")).items() if text == label]
        for handle in (shown[label], alone):
            assert colors.to_hex(handle.get_markeredgecolor()) == table[law][0]
            if law not in ("halm-posa", "halm-posa-exact"):
                assert handle.get_marker() == MARKERS[table[law][1]]


def test_each_shape_of_the_table_has_a_marker():
    shapes = [shape for _, shape, _ in _carom.plot_looks(tuple(f"law {i}" for i in range(32)))]
    assert set(shapes) == set(MARKERS)


def test_a_law_that_is_drawn_twice_takes_a_free_colour(comparison):
    out = comparison["anitescu-potra"]
    (first, _, _), (second, _, _) = _carom.plot_looks((out.law, out.law))
    assert first != second


def test_the_axes_that_show_most_are_those_of_the_command(comparison):
    ax = comparison.plot()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Jn.A  [m/s]", "Jn.B  [m/s]")
    assert ax.get_title() == "rocking block"
    # One contact: its normal velocity has no partner but its tangential one.
    one = carom.Impact(np.eye(2), [[0, 1]], [[1, 0]], 0.3, [0.2, -1], names=["foot"])
    ax = one.resolve("anitescu-potra").plot()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Jn.foot  [m/s]", "Jt.foot  [m/s]")


def test_any_number_of_an_outcome_is_an_axis(comparison):
    ax = pyplot.subplots()[1]
    assert comparison["sequential"].plot("Pn.A", "energy_ratio", ax=ax) is ax
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Pn.A  [N s]", "kinetic energy after / before")
    assert comparison["sequential"].plot("v.2", "Jt.B").get_xlabel() == "v.2, z  [m/s]"


def arrows(ax):
    """Starts and steps of all arrows of a figure."""
    found = [made for made in ax.collections if isinstance(made, matplotlib.quiver.Quiver)]
    return [(x, y, u, v) for made in found for x, y, u, v in zip(made.X, made.Y, made.U, made.V)]


def test_sequential_outcomes_are_followed_impact_by_impact(comparison):
    out = comparison["sequential"]
    ax = out.plot("Jn.A", "Jn.B", zoom="all")
    assert list(entries(ax)) == ["sequential (2 outcomes, impact by impact)", "before the impact"]
    steps = [path[k : k + 2, [0, 2]] for path in out["path"] for k in range(len(path) - 1)]
    expected = [(*ends[0], *(ends[1] - ends[0])) for ends in steps]
    assert np.allclose(arrows(ax), expected, rtol=0, atol=1e-8)
    assert np.allclose(np.ravel(entries(ax)["before the impact"].get_data()), [-0.4429447] * 2)
    # Paths have contact velocities only, and are left out where nobody wants them.
    assert not arrows(out.plot("Jn.A", "energy_ratio")) and not arrows(out.plot("Jn.A", "Jn.B", paths=False))
    assert list(entries(out.plot("Jn.A", "Pn.B"))) == ["sequential (2 outcomes)"]
    # Otherwise they run out of the figure, and an arrow at its edge points to where they begin.
    ax = out.plot("Jn.A", "Jn.B")
    assert len(arrows(ax)) == 4 and ax.get_xlim()[0] > -0.1
    start = entries(ax)["before the impact \u2192\u00a0(-0.443,\u00a0-0.443)"]
    assert ax.get_xlim()[0] < start.get_xdata()[0] < 0 and len([text for text in ax.texts if text.arrow_patch]) == 1


def test_marks_on_one_point_enclose_each_other(comparison):
    ax = comparison.plot("Jn.A", "Jn.B")
    at_rest = [line for line in ax.lines if len(line.get_xdata()) and np.allclose(line.get_data(), 0, atol=1e-9) and line.get_marker() != "None"]
    sizes = {line.get_markeredgecolor(): line.get_markersize() for line in at_rest}
    laws = ["anitescu-potra", "moreau", "routh", "lzb"]
    table = dict(zip(laws, _carom.plot_looks(tuple(laws))))
    growth = [sizes[colour] / (_carom.plot_sizes()[0] * size * 72 / 25.4) for colour, _, size in table.values()]
    assert np.allclose(sorted(growth), 1 + _carom.plot_sizes()[1] * np.arange(4))


def test_axes_are_those_of_the_command(comparison, command, tmp_path):
    comparison["halm-posa"].save(tmp_path / "set.h5")
    command("plot", tmp_path / "set.h5", "--axes", "Jn.A,Jn.B", "-o", tmp_path / "set.svg")
    ax = comparison["halm-posa"].plot("Jn.A", "Jn.B")
    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
    # Where the command draws a sample, the figure of Python does, too, as a share of the plot between its axes.
    svg = (tmp_path / "set.svg").read_text()
    places = re.findall(r"#gpPt6' transform='translate\(([\d.]+),([\d.]+)\) scale\([\d.]+\)' color='rgb\(  0, 114, 178\)", svg)
    drawn = np.array(places, dtype=float)[1:]  # the key has the first
    points = comparison["halm-posa"].normal_velocity
    assert len(drawn) == len(points)
    shares = (points - [x0, y0]) / [x1 - x0, y1 - y0]
    left, top, bottom, right = map(float, re.search(r"d='M([\d.]+),([\d.]+) L\1,([\d.]+) L([\d.]+),\3 M", svg).groups())
    assert np.allclose(left + shares[:, 0] * (right - left), drawn[:, 0], atol=0.02)
    assert np.allclose(bottom + shares[:, 1] * (top - bottom), drawn[:, 1], atol=0.02)


def test_a_focus_pales_all_other_laws(comparison):
    ax = comparison.plot("Jn.A", "Jn.B", focus="sequential")
    shown = entries(ax)
    assert shown["sequential (2 outcomes, impact by impact)"].get_alpha() == 1
    assert shown["moreau"].get_alpha() == shown["halm-posa (inner approximation, 256 samples)"].get_alpha() == 0.25
    for options, words in [({"focus": "stronge"}, "focus: no outcomes of 'stronge' are given"), ({"zoom": "most"}, "zoom: 'most' is not")]:
        with pytest.raises(carom.InputError, match=words):
            comparison.plot(**options)


def test_large_sets_are_shaded_by_their_density(scenes):
    out = carom.load(scenes / "block.yaml").sample(2**15)
    ax = out.plot("Jn.A", "Jn.B")
    (label, *_) = entries(ax)
    assert label.endswith("; darker: more in a dot")
    dots = np.asarray(ax.collections[0].get_offsets())
    assert 50 < len(dots) < 20000 and len(np.unique(ax.collections[0].get_facecolors(), axis=0)) > 3
    points = {tuple(point) for point in np.round(out.normal_velocity, 8)}
    assert all(tuple(point) in points for point in np.round(dots, 8))


def test_draws_of_an_uncertain_impact_have_no_arrows(scenes, tmp_path, command):
    command("compare", scenes / "block-uncertain.yaml", "--samples", "256", "-o", tmp_path / "page")
    ax = carom.read(tmp_path / "page/compare.h5", law="sequential").plot("Jn.A", "Jn.B")
    assert list(entries(ax))[0] == "sequential (uncertain impact: 128 outcomes)"
    assert list(entries(ax))[1].startswith("before the impact, in the first draw \u2192")
    assert not arrows(ax)


def test_paths_of_samples_are_thin_lines(scenes):
    out = carom.load(scenes / "cube-k4.yaml").sample(64, paths=5)
    shown = entries(out.plot("Jt.A.2", "Jn.B"))
    x, y = shown["5 of the samples, step by step"].get_data()
    first = out["path"][0]
    assert np.allclose(x[: len(first)], first[:, 2], atol=1e-8) and np.allclose(y[: len(first)], first[:, 3], atol=1e-8)
    assert np.isnan(x).sum() == 5
    # What walks is called so, as by the command.
    walks = carom.load(scenes / "block.yaml").sample(64, sampler="walk")
    assert "halm-posa (inner approximation, 64 walks)" in entries(walks.plot())


@pytest.mark.parametrize("axes", [("Jn.A",), ("Jn.A", "Jn.Z"), ("Jn.A", "word"), ("Jn.A", "v_plus"), ("Jn.A", "Jn.B", "Jt.A")])
def test_bad_axes_are_named(comparison, axes):
    with pytest.raises(carom.InputError, match="^axes: "):
        comparison["halm-posa"].plot(*axes)


def test_there_must_be_something_to_draw(scenes):
    out = carom.load(scenes / "block.yaml").sample(64, keep="extent")
    with pytest.raises(carom.InputError, match="nothing to draw"):
        out.plot()


def test_laws_of_different_contacts_do_not_share_a_figure(comparison, scenes):
    from carom.plotting import plot

    other = carom.load(scenes / "cradle.yaml").resolve("routh")
    with pytest.raises(carom.InputError, match="contacts are not those"):
        plot([comparison["routh"], other])


def test_rounding_does_not_become_an_extent(comparison):
    low, high = comparison["halm-posa"].plot("Jt.A", "Jn.A").get_xlim()
    assert high - low > 1e-6


# ----------------------------------------------------------------------------------------------------------- comparisons


def test_a_comparison_asks_every_law_that_applies(comparison):
    impact = comparison.impact
    asked = [law for law in map(carom.law, carom.laws()) if law.applies(impact) and not law.elastic]
    assert list(comparison) == [law.name for law in asked]
    # Elastic answers are for who asks, or where something bounces.
    assert "propagative" in comparison.left_out
    assert list(carom.compare(impact, laws=["propagative"])) == ["propagative"]
    assert "propagative" in carom.compare(impact, samples=16, restitution=0.5)
    assert set(comparison.left_out) == set(carom.laws()) - set(comparison)
    assert len(comparison["halm-posa"]) == 256
    assert repr(comparison).startswith("<carom.Comparison of ")
    assert "halm-posa 256" in repr(comparison) and "left out: propagative, stronge" in repr(comparison)
    # As the command asks them: all solutions of a law that finds one of them otherwise.
    assert comparison["anitescu-potra"].options["selection"] == "all"


def test_the_options_of_a_scene_come_before_those_of_comparisons(tmp_path, scenes):
    text = (scenes / "block.yaml").read_text().replace("law: halm-posa", "law: anitescu-potra, selection: any")
    text = text.replace("block.xml", str(scenes / "block.xml"))
    (tmp_path / "block.yaml").write_text(text)
    scene = carom.load(tmp_path / "block.yaml")
    laws = ["anitescu-potra"]
    assert carom.compare(scene, laws)["anitescu-potra"].options["selection"] == "any"
    assert carom.compare(scene, laws, selection="lemke")["anitescu-potra"].options["selection"] == "lemke"
    assert carom.compare(scene.impact, laws)["anitescu-potra"].options["selection"] == "all"


def test_a_comparison_says_what_it_cannot_do(block):
    impact = carom.Impact(**block)
    with pytest.raises(carom.InputError, match="no-such"):
        carom.compare(impact, ["no-such"])
    with pytest.raises(carom.InputError, match="sampels: none of the laws"):
        carom.compare(impact, sampels=3)
    asked = carom.compare(impact, ["routh", "stronge"])
    assert list(asked) == ["routh"] and "stronge" in asked.left_out
