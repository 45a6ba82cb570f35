# SPDX-License-Identifier: Apache-2.0
"""What a wheel must be able to do where none of carom's libraries is installed. Needs numpy alone."""
import pathlib
import tempfile

import numpy as np

import carom

impact = carom.Impact(
    mass=np.diag([1, 1, 1 / 6]),
    normal=[[0, 1, -0.5], [0, 1, 0.5]],
    tangent=[[1, 0, 0.5], [1, 0, 0.5]],
    friction=1,
    velocity=[0, -1, 0],
)
out = impact.sample(1000, seed=1)
assert out.info["verdict"] == "complete" and len(out) > 900 and np.isfinite(out.velocity).all()
assert len(impact.exact().pieces) > 0
for law in ("anitescu-potra", "moreau", "sequential", "propagative", "routh"):
    assert np.isfinite(impact.resolve(law).velocity).all()
assert carom.sample_many([impact] * 10).finished.all()
assert carom.solve_lcp([[2, 1], [1, 2]], [-1, -1], solver="siconos-lemke")[1]["verdict"] == "complete"

# Scenes with a MuJoCo model, and result files.
MODEL = """<mujoco><worldbody><body pos="0 0 1"><joint name="z" type="slide" axis="0 0 1"/><geom size="1"/><site name="foot" pos="0 0 -1"/>
</body></worldbody></mujoco>"""
SCENE = "model: ball.xml\nstate: {qpos: [0], qvel: [-1]}\ncontacts: [{name: F, site: foot, normal: [0, 0, 1], friction: 0.5}]\n"
with tempfile.TemporaryDirectory() as folder:
    place = pathlib.Path(folder)
    (place / "ball.xml").write_text(MODEL)
    (place / "ball.yaml").write_text(SCENE)
    assert carom.load(place / "ball.yaml").resolve("moreau", restitution=0.5).velocity[0, 0] > 0.49
    out.save(place / "set.h5")
    assert np.array_equal(carom.read(place / "set.h5").velocity, out.velocity)
print(f"carom {carom.__version__} works with numpy {np.__version__}")
