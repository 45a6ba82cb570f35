# SPDX-License-Identifier: Apache-2.0
"""Impacts of models in memory of MuJoCo (3.x, 4.x), by the rules of C's models."""
from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._errors import InputError
from ..impact import Impact
from ._choose import Detection, read_patterns
from ._contacts import read_contacts
from ._freeze import Stop, System, freeze, largest
from ._mujoco_contacts import detect, locate, name_of
from ._names import ANGULAR, LINEAR, name_velocities

Array = NDArray[np.float64]

# Open loops and the like beyond this [m, rad] are worth a word.
_RESIDUAL = 1e-4


def from_mujoco(
    model: Any,
    data: Any,
    contacts: Sequence[int | Mapping[str, Any]] | None = None,
    *,
    margin: float | None = None,
    friction: float | None = None,
    restitution: float = 0.0,
    only: str | Sequence[str] | None = None,
    exclude: str | Sequence[str] | None = None,
    self: bool = True,
    merge: float = 0.0,
    stops: bool = True,
) -> Impact:
    """The impact of a MuJoCo model at the state `data.qpos`, `data.qvel`.

    Positions are computed anew from `data.qpos` in a copy, so that neither `model` nor `data` changes and no call must come before.
    Joints at their stops and tendons at their limits are contacts without friction, LIMIT:JOINT and TENDON:TENDON; active equality
    constraints hold. Forces, gravity among them, are left out: the impulse of a bounded force vanishes with the duration of an impact.

    Parameters
    ----------
    model : mujoco.MjModel
    data : mujoco.MjData
    contacts : sequence of int or of dict, optional
        Left out: those that MuJoCo finds. Whole numbers: these of `data.contact`, as they stand there. Dicts: contacts with the keys of
        scene files: `site`, `geom`, `body` with `point`, or `sites`, `geoms` for a pair; `normal`; `name`, `tangents`, `friction`,
        `restitution`.
    margin : float, optional
        Geoms closer than this touch [m], in place of all margins and gaps of the model; the command's default is 0.001. Left out: contacts
        on which MuJoCo would act, those closer than the model's margin less its gap.
    friction : float, optional
        Of every contact that MuJoCo found. Left out: the geoms', 0 for condim 1; torsional and rolling friction are left out.
    restitution : float, optional
        Of every contact that MuJoCo found, between 0 and 1.
    only, exclude : str or sequence of str, optional
        Names, or patterns of names with the shell's wildcards, of bodies, geoms and contacts, LIMIT:JOINT and TENDON:TENDON included. A
        contact that MuJoCo found, or a stop, stays if a pattern of `only` (when given) fits it and none of `exclude` does. Contacts keep
        the names that they have when all are taken.
    self : bool, optional
        False leaves out contacts between two bodies of one robot, which is all below one child of the world.
    merge : float, optional
        Of each flat patch of contacts that MuJoCo found, keeps the corners, and of corners closer than this [m] the outer one. 0: all.
    stops : bool, optional
        False leaves out joints at their stops and tendons at their limits.

    Returns
    -------
    Impact
        In MuJoCo's velocities: `impact.velocity` and every post-impact velocity are a `qvel`. Contacts that MuJoCo found are named after
        their geoms.

    Raises
    ------
    InputError
        For data of another model; when nothing touches or is left; for a pattern that fits no name of the model, deformable bodies,
        friction that differs along the two tangents, a velocity that breaks an equality constraint, or contacts that do not fit the model.

    Warns
    -----
    UserWarning
        For what is left out or merged.
    """
    import mujoco

    if not isinstance(model, mujoco.MjModel) or not isinstance(data, mujoco.MjData):
        raise InputError("from_mujoco: a mujoco.MjModel and a mujoco.MjData are needed")
    detection = Detection(
        margin, friction, restitution, read_patterns("only", only), read_patterns("exclude", exclude), not self, not stops, merge
    )
    detection.check()
    contacts = None if contacts is None else list(contacts)
    state = _copy_state(mujoco, model, data)
    searched = _prepare(mujoco, model, margin)
    mujoco.mj_fwdPosition(searched, state)

    names = _velocity_names(mujoco, model)
    system = System(
        _fill_mass(mujoco, model, state),
        np.array(state.qvel),
        names,
        _velocity_turns(mujoco, model),
        np.array(data.qpos),
        stops=_find_stops(mujoco, model, state),
        left_out=_find_forces(mujoco, model),
    )
    system.constraints = _find_constraints(mujoco, model, state, system.notes)
    described = [contact for contact in contacts or () if isinstance(contact, Mapping)]
    if contacts is not None and len(described) == len(contacts):
        if detection != Detection(drop_stops=not stops):
            raise InputError("contacts: of those that are listed, margin, friction, restitution, only, exclude, self and merge say nothing")
        system.stops = system.stops if stops else []
        listed, tangent_dim = read_contacts(described, ("site", "geom", "body"))
        touches = [locate(mujoco, model, state, contact) for contact in listed]
        if not touches and not any(stop.reached for stop in system.stops):
            raise InputError("contacts: the list is empty, and no joint is at its stop")
        impact = freeze(system, touches, tangent_dim=tangent_dim, listed=True)
    else:
        if contacts is not None and margin is not None:
            raise InputError("margin: it says which contacts are looked for, and says nothing of those that are chosen by their numbers")
        chosen = None if contacts is None else _choose(data, contacts)
        touches = detect(mujoco, model, state, chosen, detection, system)
        impact = freeze(system, touches, tangent_dim=2, listed=False)
    return impact


def _copy_state(mujoco: Any, model: Any, data: Any) -> Any:
    """New data of the model with the state of the given data: in a copy of data of another model, MuJoCo would write beyond its end."""
    state = mujoco.MjData(model)
    # What moves, and bodies and geoms, which tell models of equal coordinates apart.
    for name in ("qpos", "qvel", "xpos", "geom_xpos", "mocap_pos", "mocap_quat", "eq_active"):
        given, own = getattr(data, name), getattr(state, name)
        if given.shape != own.shape:
            raise InputError(f"data: it is of another model: its {name} has {len(given)} rows, and the model's has {len(own)}")
        if name in ("qpos", "qvel") and not np.isfinite(given).all():
            raise InputError(f"data.{name}: it is not finite")
        own[:] = given
    return state


def _prepare(mujoco: Any, model: Any, margin: float | None) -> Any:
    """The model in which contacts are looked for: another one where margins change, or where bodies may sleep."""
    sleep = getattr(mujoco.mjtEnableBit, "mjENBL_SLEEP", None)
    awake = model.opt.enableflags if sleep is None else model.opt.enableflags & ~int(sleep)
    if margin is None and awake == model.opt.enableflags:
        return model
    model = copy.copy(model)
    model.opt.enableflags = awake
    if margin is not None:
        # A pair of geoms has the larger of their margins, since 3.5 their sum; an override of them gives way, too.
        share = margin / 2 if mujoco.mj_version() >= 3005000 else margin
        model.opt.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_OVERRIDE)
        model.geom_margin[:] = share
        model.body_margin[:] = share
        model.pair_margin[:] = margin
        model.geom_gap[:] = 0
        model.pair_gap[:] = 0
    return model


def _choose(data: Any, numbers: Sequence[Any]) -> list[Any]:
    """Contacts of the data by their numbers."""
    if not all(isinstance(i, (int, np.integer)) and 0 <= i < data.ncon for i in numbers):
        raise InputError(f"contacts: numbers of data.contact are needed, of which there are {data.ncon} from 0 on, or dicts")
    return [data.contact[int(i)] for i in numbers]


def _fill_mass(mujoco: Any, model: Any, state: Any) -> Array:
    """M with the inertia of rotors."""
    mass = np.zeros((model.nv, model.nv))
    if mujoco.mj_version() >= 3010000:
        mujoco.mj_fullM(model, state, mass)
    else:
        mujoco.mj_fullM(model, mass, state.qM)
    return mass


# --------------------------------------------------------------------------------------------------------------- velocities


def _velocity_names(mujoco: Any, model: Any) -> list[str]:
    """NAME for a slide or a hinge, NAME.wx and so on for a ball joint, NAME.x to NAME.wz for a free one."""
    joints: list[tuple[str, Sequence[str]]] = []
    for joint in range(model.njnt):
        kind = int(model.jnt_type[joint])
        given = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, joint)
        if kind == mujoco.mjtJoint.mjJNT_FREE:
            body = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, model.jnt_bodyid[joint])
            joints.append((given or body or "base", LINEAR + ANGULAR))
        else:
            joints.append((given or f"joint{joint}", ANGULAR if kind == mujoco.mjtJoint.mjJNT_BALL else ("",)))
    return name_velocities(joints)


def _velocity_turns(mujoco: Any, model: Any) -> list[bool]:
    """Which velocities are angular ones: all but those of slides and the linear ones of free joints."""
    turns = np.ones(model.nv, dtype=bool)
    for kind, first in zip(model.jnt_type.tolist(), model.jnt_dofadr):
        if kind in (mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_FREE):
            turns[first : first + (3 if kind == mujoco.mjtJoint.mjJNT_FREE else 1)] = False
    return [bool(turn) for turn in turns]


# --------------------------------------------------------------------------------------------------------------- constraints


def _dense_row(nv: int, matrix: Any, row: int, pattern: tuple[Any, Any, Any] | None) -> Array:
    """A row of one of MuJoCo's matrices, which may be sparse: numbers of entries, starts and columns."""
    if pattern is None:
        return np.array(np.reshape(matrix, (-1, nv))[row])
    lengths, starts, columns = (np.ravel(array) for array in pattern)
    entries = slice(starts[row], starts[row] + lengths[row])
    dense = np.zeros(nv)
    dense[columns[entries]] = np.ravel(matrix)[entries]
    return dense


def _find_constraints(mujoco: Any, model: Any, state: Any, notes: list[str]) -> list[tuple[str, Array]]:
    """Names and rows of the active equality constraints."""
    if not model.neq:
        return []
    pattern = (state.efc_J_rownnz, state.efc_J_rowadr, state.efc_J_colind) if mujoco.mj_isSparse(model) else None
    indices = np.flatnonzero(np.asarray(state.efc_type) == mujoco.mjtConstraint.mjCNSTR_EQUALITY)
    found = []
    for number in dict.fromkeys(state.efc_id[indices].tolist()):
        own = [i for i in indices if state.efc_id[i] == number]
        name = name_of(mujoco, model, mujoco.mjtObj.mjOBJ_EQUALITY, number, "number ")
        residual = largest(np.asarray(state.efc_pos)[own])
        if residual > _RESIDUAL:
            notes.append(f"the position breaks equality constraint '{name}' by {residual:.3g} m or rad; it is taken to hold")
        found.append((name, np.array([_dense_row(model.nv, state.efc_J, int(i), pattern) for i in own])))
    return found


def _find_forces(mujoco: Any, model: Any) -> list[str]:
    """Kinds of bounded forces that the model has."""
    disabled = mujoco.mjtDisableBit
    rubs = not model.opt.disableflags & (disabled.mjDSBL_CONSTRAINT | disabled.mjDSBL_FRICTIONLOSS)
    kinds = {
        "frictionloss": rubs and any(np.any(array > 0) for array in (model.dof_frictionloss, model.tendon_frictionloss)),
        "damping": any(np.any(array > 0) for array in (model.dof_damping, model.tendon_damping)),
        "springs": any(np.any(array > 0) for array in (model.jnt_stiffness, model.tendon_stiffness)),
        "actuators": model.nu > 0 and not model.opt.disableflags & disabled.mjDSBL_ACTUATION,
    }
    return [kind for kind, exists in kinds.items() if exists]


def _find_stops(mujoco: Any, model: Any, state: Any) -> list[Stop]:
    """Joints and tendons with ranges."""
    disabled = mujoco.mjtDisableBit
    if model.opt.disableflags & (disabled.mjDSBL_CONSTRAINT | disabled.mjDSBL_LIMIT):
        return []
    limited = [j for j in range(model.njnt) if model.jnt_limited[j] and int(model.jnt_type[j]) != mujoco.mjtJoint.mjJNT_FREE]
    return [_joint_stop(mujoco, model, state, joint) for joint in limited] + [
        _tendon_stop(mujoco, model, state, tendon) for tendon in range(model.ntendon) if model.tendon_limited[tendon]
    ]


def _joint_stop(mujoco: Any, model: Any, state: Any, joint: int) -> Stop:
    """MuJoCo's limits act from their margin on. That of a ball joint is on its angle of rotation, the larger number of the range."""
    kind, first, place = int(model.jnt_type[joint]), model.jnt_dofadr[joint], model.jnt_qposadr[joint]
    (low, high), margin = model.jnt_range[joint], model.jnt_margin[joint]
    name = name_of(mujoco, model, mujoco.mjtObj.mjOBJ_JOINT, joint, "joint")
    row = np.zeros(model.nv)
    if kind == mujoco.mjtJoint.mjJNT_BALL:
        # The angle of rotation grows by the angular velocity along the axis of rotation.
        axis = np.zeros(3)
        mujoco.mju_quat2Vel(axis, state.qpos[place : place + 4], 1)
        angle = mujoco.mju_normalize3(axis)
        row[first : first + 3] = axis
        most = max(low, high)
        return Stop("ball joint", name, row, np.inf, most - margin - angle, most)
    row[first] = 1
    value = state.qpos[place]
    slides = kind == mujoco.mjtJoint.mjJNT_SLIDE
    return Stop(
        "slide" if slides else "hinge", name, row, value - low - margin, high - margin - value, high - low, unit="m" if slides else "rad"
    )


def _tendon_stop(mujoco: Any, model: Any, state: Any, tendon: int) -> Stop:
    """A tendon is measured by its coefficients, or by the Jacobians of the places on its path."""
    scale, jacobian = 0.0, np.zeros((3, model.nv))
    first = model.tendon_adr[tendon]
    for i in range(first, first + model.tendon_num[tendon]):
        kind, number = int(model.wrap_type[i]), model.wrap_objid[i]
        if kind == mujoco.mjtWrap.mjWRAP_JOINT:
            scale = max(scale, abs(model.wrap_prm[i]))
        elif kind != mujoco.mjtWrap.mjWRAP_PULLEY:
            site = kind == mujoco.mjtWrap.mjWRAP_SITE
            point, body = (state.site_xpos, model.site_bodyid) if site else (state.geom_xpos, model.geom_bodyid)
            mujoco.mj_jac(model, state, jacobian, None, point[number], body[number])
            scale = max(scale, largest(jacobian))
    # Since 3.6 these rows are always sparse, and the model knows their pattern.
    owner = model if hasattr(model, "ten_J_colind") else state
    sparse = owner is model or mujoco.mj_isSparse(model)
    row = _dense_row(model.nv, state.ten_J, tendon, (owner.ten_J_rownnz, owner.ten_J_rowadr, owner.ten_J_colind) if sparse else None)
    (low, high), margin, value = model.tendon_range[tendon], model.tendon_margin[tendon], state.ten_length[tendon]
    unit = "" if int(model.wrap_type[first]) == mujoco.mjtWrap.mjWRAP_JOINT else "m"
    name = name_of(mujoco, model, mujoco.mjtObj.mjOBJ_TENDON, tendon, "tendon")
    return Stop("tendon", name, row, value - low - margin, high - margin - value, high - low, scale, unit)
